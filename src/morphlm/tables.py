"""How results are laid out: plain tables for the terminal, and numbers that JSON can hold."""

from __future__ import annotations

import math


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


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no infinity."""
    return number if math.isfinite(number) else None
