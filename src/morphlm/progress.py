"""Progress and messages on stderr; a bar only where stderr is a terminal."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from tqdm import tqdm


def progress_bar(description: str, total: int | None = None, unit: str = "token") -> Any:
    """A tqdm bar on stderr with rate and estimate; it is silent when stderr is not a terminal."""
    return tqdm(total=total, desc=description, unit=unit, unit_scale=True, disable=not sys.stderr.isatty(), leave=False)


def notify(message: str) -> None:
    """Print a message to stderr; stdout is for data."""
    with suppress(OSError):  # stderr is closed: no reason to give up the work
        print(message, file=sys.stderr, flush=True)
