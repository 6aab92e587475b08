"""How messages name options and calls to whoever reads them: as the command line has them, or as Python does.

A message is worded when it is made: `option("--dev")` is `--dev` while the command `morphlm` runs, and `dev=` in any
other program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Options whose name in Python is another one.
PYTHON_NAMES = {"--allow-unk": "allow_unknown", "--vocab": "vocabulary", "--format": "file_format"}

_is_command = False


def is_command() -> bool:
    """Whether the command `morphlm` runs, so that whoever reads messages types options."""
    return _is_command


@contextmanager
def command_line(value: bool = True) -> Iterator[None]:
    """While the block runs, messages are for those who type commands."""
    global _is_command  # noqa: PLW0603  # threads of the command ask too, so this is no context variable
    before, _is_command = _is_command, value
    try:
        yield
    finally:
        _is_command = before


def option(flag: str, value: object = None, *, name: str = "") -> str:
    """An option in a message: `--language cs` on the command line, `language='cs'` in Python.

    True as the value is that of a switch. `name` is the argument in Python, where it follows from the flag in no way.
    """
    if _is_command:
        return flag if value is None or value is True else f"{flag} {value}"
    argument = name or PYTHON_NAMES.get(flag) or flag.removeprefix("--").replace("-", "_")
    return f"{argument}=" if value is None else f"{argument}={value!r}"


def either(command: str, python: str) -> str:
    """What to type: a command, or in a program the call that does the same."""
    return command if _is_command else python
