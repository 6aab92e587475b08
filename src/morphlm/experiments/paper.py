"""The paper's numbers, to stand beside ours; they lie in paper.toml, with the table or figure that each is from."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from morphlm.tables import percent

NONE = "-"  # where the paper has no number


@cache
def paper() -> dict[str, Any]:
    """All numbers, by table or figure."""
    return tomllib.loads((resources.files("morphlm.experiments") / "paper.toml").read_text("utf-8"))


def corpus_cells(language: str, tokens: int | None) -> list[str]:
    """Table 1: tokens and |V|; of DATA-Main for all text, of DATA-1m for a million tokens."""
    numbers = paper()["table1"].get({None: "main", 1_000_000: "1m"}.get(tokens), {}).get(language)
    if numbers is None:
        return [NONE, NONE]
    thousands, words = numbers
    return [f"{thousands / 1000:g}m", f"{words}k"]


def table2_cells(kappa: float, language: str) -> list[str]:
    """Table 2: MKN, CLBL, Rel.1, CLBL++, Rel.2."""
    numbers = paper()["table2"].get(f"{kappa:g}", {}).get(language)
    if numbers is None:
        return [NONE] * 5
    mkn, clbl, first, additive, second = numbers
    return [str(mkn), str(clbl), in_percent(first), str(additive), in_percent(second)]


def similarity_cells(name: str) -> list[str]:
    """Tables 3 and 4: CLBL, CLBL++, -compose."""
    return [str(rho) for rho in paper()["similarity"].get(name, [NONE] * 3)]


def translation_cells(pair: str, system: int) -> list[str]:
    """Table 5: BLEU, and what it is more than that of the first system."""
    numbers = paper()["translation"].get(pair, [])
    if system >= len(numbers):
        return [NONE, NONE]
    return [f"{numbers[system]:.1f}", f"{numbers[system] - numbers[0]:+.1f}" if system else ""]


def in_percent(value: float) -> str:
    """A percentage as our tables write it."""
    return percent(value / 100, 2 if 0 < abs(value) < 0.1 else 1 if value != int(value) else 0)
