"""Progress and messages on stderr; a bar only where stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from tqdm import tqdm

from morphlm.terminal import escaped

Item = TypeVar("Item")


def progress_bar(description: str, total: int | None = None, unit: str = "token") -> Any:
    """A tqdm bar on stderr with rate and estimate; it is silent when stderr is not a terminal."""
    return tqdm(
        total=total,
        desc=escaped(description),
        unit=unit,
        unit_scale=True,
        disable=not sys.stderr.isatty(),
        leave=False,
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
