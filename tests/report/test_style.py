"""Colours that can be read and told apart, in light and in dark."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

ASSETS = Path(__file__).parents[2] / "src" / "morphlm" / "report" / "assets"
STEPS = 8


def colours(dark: bool) -> dict[str, str]:
    light, _, rest = (ASSETS / "style.css").read_text().partition("@media (prefers-color-scheme: dark)")
    found = re.compile(r"--([\w-]+):\s*(#[0-9a-f]{6})\b")
    return dict(found.findall(light)) | (dict(found.findall(rest)) if dark else {})


def luminance(colour: str) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    high, low = sorted([luminance(one), luminance(two)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_texts_can_be_read(dark: bool) -> None:
    found = colours(dark)
    for ground in ("background", "surface", "sunken"):
        for text in ("text", "muted", "accent"):
            assert contrast(found[text], found[ground]) >= 4.5, (text, ground)
    for step in range(STEPS):
        assert contrast(found[f"surprise-{step}"], found[f"on-surprise-{step}"]) >= 4.5, step
    assert contrast(found["accent"], found["accent-text"]) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_series_stand_out(dark: bool) -> None:
    found = colours(dark)
    for number in range(1, 7):
        assert contrast(found[f"series-{number}"], found["surface"]) >= 3.0


@pytest.mark.parametrize("dark", [False, True])
def test_surprisal_is_a_scale_of_lightness(dark: bool) -> None:
    found = [luminance(colours(dark)[f"surprise-{step}"]) for step in range(STEPS)]
    away = found if dark else found[::-1]  # from the background: brighter in the dark, darker in the light
    assert away == sorted(away)
    assert all(later > 1.15 * earlier for earlier, later in pairwise(away))
