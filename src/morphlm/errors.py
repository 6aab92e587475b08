"""What can go wrong, in a few classes. Each message says what is wrong and how to mend it.

The command line prints the message as one line on stderr and exits with status 2. A Python caller catches the class, or
the exception of Python's own that says the same: ValueError, TypeError, IndexError, FileNotFoundError, OSError.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
from collections.abc import Collection, Iterator

LONGEST_MESSAGE, MESSAGE_END = 2000, 500  # characters; how to mend it stands at the end
SHOWN_MESSAGE = 150  # characters of it in a repr


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
        message = Exception.__str__(self)  # that of OSError would put `[Errno 2]` before it
        if len(message) <= LONGEST_MESSAGE:
            return message
        return f"{message[: LONGEST_MESSAGE - MESSAGE_END]} ... {message[-MESSAGE_END:]}"

    def __repr__(self) -> str:
        """The class and the beginning of the message."""
        message = str(self)
        shown = message if len(message) <= SHOWN_MESSAGE else f"{message[:SHOWN_MESSAGE]}..."
        return f"{type(self).__name__}({shown!r})"


class InputError(MorphlmError, ValueError):
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
        raise type(error)(error.what, source=source, line=line) from error


class ArgumentTypeError(InputError, TypeError):
    """A value of another type than is asked for, such as None or a number in the place of a word."""


class FileAccessError(InputError, OSError):
    """A file or folder that cannot be read or written; `errno` says why, where the operating system does."""

    @classmethod
    def of(cls, what: str, source: str, cause: BaseException) -> FileAccessError:
        """With the number of the error that the operating system gave."""
        number = getattr(cause, "errno", None)
        kinds = {errno.ENOENT: MissingFileError, errno.EACCES: FilePermissionError, errno.EPERM: FilePermissionError}
        error = kinds.get(number or 0, cls)(what, source=source)
        error.errno, error.filename = number, source
        return error


class MissingFileError(FileAccessError, FileNotFoundError):
    """A file or folder that is not there."""


class FilePermissionError(FileAccessError, PermissionError):
    """A file or folder that this user may not read or write."""


class FetchError(InputError, OSError):
    """Data that cannot be had from here now: no network, no apt-get, a server that fails."""


class FormatError(MorphlmError, ValueError):
    """A model or another file of a fixed format that is damaged, of the wrong kind, or of an unknown version."""


class MissingModelError(FormatError, FileNotFoundError):
    """A model directory, or another directory that morphlm writes, that is not there."""


class ConfigError(MorphlmError, ValueError):
    """Options or arguments that contradict each other or lie outside their range."""


class WordIdError(MorphlmError, IndexError):
    """What is no id of a word: outside of the vocabulary, or no whole number."""


class StateError(ConfigError, IndexError):
    """What is no state of the model that is asked.

    Earlier versions raised ConfigError (n-grams) or IndexError (log-bilinear models); both still catch it.
    """


class UnknownWordError(MorphlmError, KeyError):
    """A word that has no vector, where nothing can be composed; a KeyError, as in gensim."""


class TrainingError(MorphlmError, RuntimeError):
    """Training that cannot go on, naming where and why."""
