"""Progress and messages on stderr; a bar only where stderr is a terminal.

Words of a text or model that are shown there must not move the cursor or hide other text, so control characters are
written out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Self, TypeVar

Item = TypeVar("Item")

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


class SilentBar:
    """What a bar is where stderr is no terminal: the methods of tqdm's that we use, without importing that."""

    def __init__(self, total: int | None = None) -> None:
        self.total, self.n, self.initial, self.disable = total, 0, 0, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to take away."""

    def update(self, n: float = 1) -> None:
        """Work is under way, and nobody is told."""

    def set_postfix_str(self, text: str = "", refresh: bool = True) -> None:
        """The same."""

    set_description_str = set_postfix_str

    def close(self) -> None:
        """The same."""

    clear = close


def progress_bar(description: str, total: int | None = None, unit: str = "token") -> Any:
    """A tqdm bar on stderr with rate and estimate; it is silent when stderr is not a terminal."""
    if not sys.stderr.isatty():
        return SilentBar(total)
    from tqdm import tqdm  # noqa: PLC0415  # takes as long to import as a short command takes to run

    return tqdm(total=total, desc=escaped(description), unit=unit, unit_scale=True, leave=False)


def step_bar(description: str, done: int, total: int | None) -> Any:
    """The same for few long steps, of which some are done: their numbers, no rate."""
    if not sys.stderr.isatty():
        return SilentBar(total)
    from tqdm import tqdm  # noqa: PLC0415

    shown = "{desc} ..." if total is None else "{desc}: {n} of {total} |{bar}|"
    return tqdm(
        total=total, initial=done, desc=escaped(description), bar_format=shown, leave=False, mininterval=0, miniters=1
    )


def with_progress(
    items: Iterable[Item], description: str, total: int | None = None, unit: str = "token"
) -> Iterator[Item]:
    """The items, with a bar that counts them."""
    with progress_bar(description, total, unit) as bar:
        for item in items:
            yield item
            bar.update()


def notify(message: str) -> None:
    """Print a message to stderr, its control characters written out; stdout is for data."""
    with suppress(OSError):  # stderr is closed: no reason to give up the work
        print(escaped(message), file=sys.stderr, flush=True)
