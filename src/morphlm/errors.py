"""What can go wrong, in a few classes. Each message says what is wrong and how to mend it.

The command line prints the message as one line on stderr and exits with status 2; a Python caller catches the class.
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Collection, Iterator

LONGEST_MESSAGE, MESSAGE_END = 2000, 500  # characters; how to mend it stands at the end


SUGGESTED = 3  # names


def nearest_names(name: str, known: Collection[str]) -> list[str]:
    """The known names that somebody may have meant who wrote another, the likeliest first."""
    plain = {candidate.casefold(): candidate for candidate in known}
    return [plain[found] for found in difflib.get_close_matches(name.casefold(), plain, SUGGESTED, cutoff=0.6)]


def did_you_mean(name: str, known: Collection[str]) -> str:
    """`do you mean a or b?`; where nothing is near, the whole choice."""
    near = nearest_names(name, known)
    return f"do you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(known)}"


class MorphlmError(Exception):
    """The common base: everything that morphlm refuses on purpose."""

    def __str__(self) -> str:
        """The message, cut in the middle if it quotes a word or name of somebody's that is very long."""
        message = super().__str__()
        if len(message) <= LONGEST_MESSAGE:
            return message
        return f"{message[: LONGEST_MESSAGE - MESSAGE_END]} ... {message[-MESSAGE_END:]}"


class InputError(MorphlmError):
    """Text or a table that cannot be used: `file:line: what is wrong; how to mend it`."""

    def __init__(self, what: str, *, source: str | None = None, line: int | None = None) -> None:
        """Name the file and the line where they are known."""
        location = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        super().__init__(location + what)
        self.what, self.source, self.line = what, source, line


@contextlib.contextmanager
def located(source: str, line: int) -> Iterator[None]:
    """Add the file and the line to an InputError that is raised in the block."""
    try:
        yield
    except InputError as error:
        raise InputError(error.what, source=source, line=line) from error


class FetchError(InputError):
    """Data that cannot be had from here now: no network, no apt-get, a server that fails."""


class FormatError(MorphlmError):
    """A model or another file of a fixed format that is damaged, of the wrong kind, or of an unknown version."""


class ConfigError(MorphlmError):
    """Options or arguments that contradict each other or lie outside their range."""


class WordIdError(MorphlmError, IndexError):
    """What is no id of a word: outside of the vocabulary, or no whole number."""


class StateError(ConfigError, IndexError):
    """What is no state of the model that is asked.

    Earlier versions raised ConfigError (n-grams) or IndexError (log-bilinear models); both still catch it.
    """


class UnknownWordError(MorphlmError, KeyError):
    """A word that has no vector, where nothing can be composed; a KeyError, as in gensim."""

    def __str__(self) -> str:
        """The message itself; KeyError would quote it."""
        return str(self.args[0])


class TrainingError(MorphlmError):
    """Training that cannot go on, naming where and why."""
