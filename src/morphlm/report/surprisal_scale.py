"""The one scale of surprisal of the report and the explorer: where its colours change, and what its legend says.

The colours are --surprise-0 to --surprise-7 of style.css. Whoever shows a token asks for its level here, also the
explorer's page, which gets level and legend with each answer.
"""

from __future__ import annotations

STEP = 2.0  # bits: each level is a quarter as likely as the one before
LEVELS = 8
LEGEND: tuple[str, ...] = (
    *(f"{STEP * level:g}–{STEP * (level + 1):g}" for level in range(LEVELS - 1)),
    f"{STEP * (LEVELS - 1):g}+",
)


def level(bits: float | None) -> int:
    """The colour of a surprisal in bits; None, what cannot be, is the last."""
    return LEVELS - 1 if bits is None or not bits < STEP * (LEVELS - 1) else int(bits / STEP)
