"""How much one request may ask for, and how long it may take: checked before and while it is answered."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from morphlm.errors import InputError, MorphlmError


@dataclass(frozen=True)
class RequestLimits:
    """Limits of one request; the defaults suit one person at one machine."""

    body_bytes: int = 2_000_000  # of a request; more is refused before it is read
    word_characters: int = 100
    sentence_characters: int = 4_000
    sentence_tokens: int = 120  # each takes a distribution over all words from each model
    text_tokens: int = 200_000  # of a comparison
    text_sentences: int = 20_000  # the bootstrap draws all of them a thousand times
    line_characters: int = 20_000  # of a text; the tokeniser cannot be stopped within a line
    answers: int = 50  # k, of neighbours, predictions, ...
    seconds: float = 20.0  # for an answer
    header_seconds: float = 10.0  # for the header of a request, after which the connection ends
    concurrent: int = 2  # requests that are computed at a time
    patience: float = 3.0  # seconds that others wait for their turn


class TooSlowError(MorphlmError):
    """The operation exceeds its time limit."""


class TooBusyError(MorphlmError):
    """All threads are in use."""


@dataclass(frozen=True)
class Deadline:
    """When to give up. Long operations ask it between their steps, since a thread cannot be stopped from outside."""

    end: float  # by time.monotonic
    seconds: float  # that there were
    stopped: threading.Event  # set when the server ends

    @classmethod
    def after(cls, seconds: float, stopped: threading.Event | None = None) -> Deadline:
        return cls(time.monotonic() + seconds, seconds, stopped or threading.Event())

    def check(self) -> None:
        """Raise TooSlowError after the deadline."""
        if self.stopped.is_set() or time.monotonic() > self.end:
            raise TooSlowError(self.message)

    @property
    def message(self) -> str:
        return f"this takes more than {self.seconds:g} seconds; ask for less, or give a shorter text"


def check_text(text: str, limit: int, name: str) -> None:
    """Refuse text that is too long, or that holds NUL or half a surrogate pair."""
    if len(text) > limit:
        raise InputError(f"{name} of {len(text):,} characters; give at most {limit:,}")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{name} with a character that is none (NUL or half of a pair); remove it")


def check_count(k: int, limits: RequestLimits) -> None:
    """Refuse a number of results outside the limits."""
    if not 0 <= k <= limits.answers:
        raise InputError(f"{k} answers are asked for; ask for 0 to {limits.answers}")
