"""How a report writes numbers: everywhere alike."""

from __future__ import annotations

import math

from morphlm.tables import percent

NOTHING = "–"  # there is no such number


def whole(number: int | None) -> str:
    """An integer with thousands separators: 1,052,591."""
    return NOTHING if number is None else f"{number:,}"


def decimal(number: float | None, digits: int = 2) -> str:
    """A decimal number with thousands separators, a true minus sign, and ∞."""
    if number is None or math.isnan(number):
        return NOTHING
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    return f"{number:,.{digits}f}".replace("-", "−")


def probability(number: float) -> str:
    """A probability in per cent, with two digits that count: 24 %, 3.2 %, 0.032 %."""
    if number >= 0.0995:
        return percent(number, 0)
    return f"{100 * number:.2g} %" if number >= 0.0000995 else "< 0.01 %" if number > 0 else "0 %"


def share(part: int, total: int) -> str:
    """`part` of `total` in per cent."""
    return NOTHING if not total else percent(part / total)
