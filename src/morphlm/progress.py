"""Progress bars and messages: on stderr for commands, in notebooks, to a callback, and as records of `logging`.

A bar is shown where stderr is a terminal or a notebook; `progress=` of the long calls says otherwise. Words of a text
or model that are shown must not move the cursor or hide other text, so control characters are written out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stderr, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from types import FrameType
from typing import Any, ParamSpec, Self, TextIO, TypeVar, cast

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.wording import is_command

Item = TypeVar("Item")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

# C0 but for tab and newline, DEL, C1, the marks that change the direction of text, and bytes of C1 that are no UTF-8.
CONTROLS = (
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x7F, 0xA0),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_ESCAPES = {
    **{code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in CONTROLS},
    **{0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0xA0)},
}


def escaped(text: str) -> str:
    """The text with its control characters written out: `\\x1b`; newlines and tabs stay."""
    return text if text.isprintable() else text.translate(_ESCAPES)


# ---------------------------------------------------------------- who is told, and how


@dataclass(frozen=True)
class ProgressUpdate:
    """How far a task is. Tasks can be parts of others: `learn` trains models, whose epochs are tasks."""

    task: str  # what is done
    done: float  # how much of it, in the unit
    total: float | None  # how much there is to do; None if that is not known
    unit: str  # "token", "word", "B" (bytes), "s" (seconds), ...

    __repr__ = dataclass_repr


# None: bars where somebody can see them; True: bars in any case; False: none; or a function to call with every update.
ProgressOption = bool | Callable[[ProgressUpdate], object] | None

_option: ContextVar[ProgressOption] = ContextVar("morphlm progress", default=None)
_diverted: ContextVar[TextIO | None] = ContextVar("morphlm messages", default=None)


@contextmanager
def reporting(progress: ProgressOption) -> Iterator[None]:
    """Inside the block progress is shown as `progress` says; None leaves it as it is."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise ConfigError(f"progress is {progress!r}; it must be True, False, None or a function of a ProgressUpdate")
    token = None if progress is None else _option.set(progress)
    try:
        yield
    finally:
        if token is not None:
            _option.reset(token)


def reports_progress(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function whose keyword argument `progress` says how its progress is shown."""

    @wraps(function)
    def reporting_function(*positional: Arguments.args, **named: Arguments.kwargs) -> Result:
        with reporting(cast(ProgressOption, named.get("progress"))):
            return function(*positional, **named)

    return reporting_function


@contextmanager
def messages_to(stream: TextIO) -> Iterator[None]:
    """Inside the block messages go to a stream and no bar is shown; functions that want updates get them."""
    with ExitStack() as stack:
        if is_command():  # whatever else is written there, by other libraries too
            stack.enter_context(redirect_stderr(stream))
        if not callable(_option.get()):
            stack.enter_context(reporting(False))
        token = _diverted.set(stream)
        try:
            yield
        finally:
            _diverted.reset(token)


def shows_bars() -> bool:
    """Whether a bar would be seen: on a terminal, or in a notebook."""
    option = _option.get()
    return bool(option) if option is not None else sys.stderr.isatty() or _is_notebook()


def _is_notebook() -> bool:
    """Whether the program is a notebook, of Jupyter or another one that uses its kernel."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return not is_command() and get_shell is not None and getattr(get_shell(), "kernel", None) is not None


# ---------------------------------------------------------------- bars


class SilentBar:
    """What a bar is where nobody sees it: the methods of tqdm's that we use, without importing that."""

    def __init__(self, total: float | None = None) -> None:
        self.total, self.n, self.initial, self.disable = total, 0.0, 0.0, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, n: float = 1) -> None:
        """Work is under way, and nobody is told."""

    def set_postfix_str(self, text: str = "", refresh: bool = True) -> None:
        """The same."""

    def set_description_str(self, text: str = "", refresh: bool = True) -> None:
        """The same."""

    def close(self) -> None:
        """The same."""

    clear = close


class CallbackBar(SilentBar):
    """Tells a function how far the task is, in the thread that works on it."""

    def __init__(
        self, callback: Callable[[ProgressUpdate], object], task: str, total: float | None, unit: str, done: float = 0
    ) -> None:
        super().__init__(total)
        self._callback, self._task, self._unit = callback, task, unit
        self.n = self.initial = done

    def __enter__(self) -> Self:
        self._report()
        return self

    def update(self, n: float = 1) -> None:
        self.n += n
        self._report()

    def set_description_str(self, text: str = "", refresh: bool = True) -> None:
        self._task = text
        self._report()

    def set_postfix_str(self, text: str = "", refresh: bool = True) -> None:
        if refresh:
            self._report()

    def _report(self) -> None:
        self._callback(ProgressUpdate(self._task, self.n, self.total, self._unit))


def progress_bar(description: str, total: int | None = None, unit: str = "token") -> Any:
    """A tqdm bar on stderr with rate and estimate; it is silent where nobody would see it."""
    return _bar(description, total, unit, unit_scale=True)


def step_bar(description: str, done: int, total: int | None) -> Any:
    """The same for few long steps, of which some are done: their numbers, no rate."""
    shown = "{desc} ..." if total is None else "{desc}: {n} of {total} |{bar}|"
    return _bar(description, total, "step", done, bar_format=shown, mininterval=0, miniters=1)


def seconds_bar(description: str, seconds: float, bar_format: str) -> Any:
    """The same for a run whose length is estimated in seconds."""
    return _bar(description, seconds, "s", bar_format=bar_format)


def _bar(description: str, total: float | None, unit: str, done: float = 0, **look: Any) -> Any:
    option = _option.get()
    if callable(option):
        return CallbackBar(option, description, total, unit, done)
    if not shows_bars():
        return SilentBar(total)
    from tqdm import tqdm  # noqa: PLC0415  # takes as long to import as a short command takes to run

    # Only a terminal can move the cursor up to a second bar; elsewhere they would write over each other.
    if getattr(tqdm, "_instances", ()) and not sys.stderr.isatty():
        return SilentBar(total)
    return tqdm(total=total, initial=done, desc=escaped(description), unit=unit, leave=False, **look)


def with_progress(
    items: Iterable[Item], description: str, total: int | None = None, unit: str = "token"
) -> Iterator[Item]:
    """The items, with a bar that counts them."""
    with progress_bar(description, total, unit) as bar:
        for item in items:
            yield item
            bar.update()


# ---------------------------------------------------------------- messages


def notify(message: str, *, important: bool = False) -> None:
    """Tell people something that is no result; control characters are written out.

    On the command line it is a line on stderr. In other programs it is a record of `logging`, by the name of the module
    that says it: a warning if it begins with `warning: ` or is important, else information, which programs that do
    not ask for it do not show.
    """
    stream = _diverted.get()
    if stream is None and not is_command():
        _log(message, important, _name_of(sys._getframe(1)))
    else:
        _print(message, stream or sys.stderr)


def notify_past_diversion(message: str, stream: TextIO) -> None:
    """The same for the one who has diverted the messages of others; `stream` is stderr as it was."""
    if is_command():
        _print(message, stream)
    else:
        _log(message, False, _name_of(sys._getframe(1)))


def _print(message: str, stream: TextIO) -> None:
    with suppress(OSError):  # it is closed: no reason to give up the work
        print(escaped(message), file=stream, flush=True)


def _name_of(frame: FrameType) -> str:
    """The logger of whoever says something: all are below `morphlm`."""
    name: str = frame.f_globals.get("__name__", "")
    return name if name.startswith("morphlm.") else "morphlm"


def _log(message: str, important: bool, name: str) -> None:
    import logging  # noqa: PLC0415  # commands do without it

    first, _, rest = message.partition(": ")
    is_warning = first.lower() == "warning"
    with _bars_taken_away():
        logging.getLogger(name).log(
            logging.WARNING if is_warning or important else logging.INFO,
            "%s",
            escaped(rest if is_warning else message),
            stacklevel=3,
        )


def _bars_taken_away() -> AbstractContextManager[None]:
    """While a line is written, so that it does not stand behind a bar."""
    tqdm = getattr(sys.modules.get("tqdm"), "tqdm", None)
    if tqdm is None or not getattr(tqdm, "_instances", ()):
        return nullcontext()
    taken_away: AbstractContextManager[None] = tqdm.external_write_mode(file=sys.stderr)
    return taken_away
