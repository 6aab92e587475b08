"""How results are laid out: tables for the terminal and for Markdown, numbers with their nouns, and for JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells of text, and notes below them."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()  # a line each

    def format(self) -> str:
        """As plain text with aligned columns."""
        columns = format_columns(list(self.header), [list(row) for row in self.rows])
        return "\n".join([columns, *self.notes])

    def markdown(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        table = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
        return "\n\n".join([table, *self.notes])


def format_columns(header: list[str], rows: list[list[str]]) -> str:
    """Columns two spaces apart: the first to the left, the others to the right."""
    table = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(_format_row(row, widths) for row in table)


def _format_row(row: list[str], widths: list[int]) -> str:
    first, *others = (
        cell.ljust(width) if k == 0 else cell.rjust(width)
        for k, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 line`, `2,000 lines`; `plural` is for nouns that do not add an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def finite_or_none(number: float) -> float | None:
    """A number for JSON, which has no infinity: None stands for it."""
    return number if math.isfinite(number) else None


def whole_percent(share: float) -> str:
    """A share in whole per cent, 0 % and 100 % only where it is none or all."""
    return percent(share if share in (0.0, 1.0) else min(max(share, 0.01), 0.99), 0)


def percent(share: float, digits: int = 1) -> str:
    """A share or a relative change in per cent: −5.9 %."""
    return f"{100 * share:z.{digits}f} %".replace("-", "−")
