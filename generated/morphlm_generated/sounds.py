"""How the generated language sounds: the shapes of stems, and what happens where a suffix meets a word.

Suffixes are written with capital letters for the vowels that follow the stem's harmony (back palOm, front telöm),
with an opening vowel in brackets if it goes after another vowel, and with ' if they soften the consonant before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from morphlm_generated.config import Draw, pick

BACK_VOWELS, FRONT_VOWELS = "aoui", "eöüi"  # i is neutral
VOWELS = frozenset(BACK_VOWELS + FRONT_VOWELS)
BACK_HARMONY = str.maketrans("AOU", "aou")
FRONT_HARMONY = str.maketrans("AOU", "eöü")
SOFTENED = {"k": "č", "g": "ž", "h": "š", "t": "c", "d": "z"}


def _sounds(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ONSETS = _sounds("p t k b d g m n s z š č l r v j h f st pr tr kr br dr gr sl pl kl zv sv")
MIDDLES = _sounds("p t k b d g m n s z š č l r v h nt rk ld st mb rn lk sk")
CODAS = _sounds("p t k b d g m n s z š č l r v h")

GLOSS_ONSETS = _sounds("b c d f g h l m n p r s t w bl br cl cr dr fl fr gr pl pr sh sl sp st str th tr wh")
GLOSS_VOWELS = _sounds("a e i o u ai ea ee oa oo ou")
GLOSS_CODAS = _sounds("b ck d ft g ke ld ll lt m mp n nd ng nk nt p r rd rk rm rn rt sh sk ss st t te th ve x")
GLOSS_ENDS = _sounds("ant el en ent er et ic il in ion ish le on or ow ure y")


@lru_cache(maxsize=1 << 15)
def is_front(stem: str) -> bool:
    """Whether a stem takes suffixes with front vowels."""
    return any(letter in "eöü" for letter in stem)


def syllables_for(draw: Draw, rank: int) -> int:
    """Frequent stems are short: one or two syllables, later two or three."""
    return (1 if rank < 8 else 2) + (draw() < 0.35)


def stem_shape(draw: Draw, syllables: int) -> str:
    """A stem in vowel harmony; most end in a consonant."""
    vowels = FRONT_VOWELS if draw() < 0.45 else BACK_VOWELS
    shape = _any_of(ONSETS, draw) + _any_of(vowels, draw)
    for _ in range(syllables - 1):
        shape += _any_of(MIDDLES, draw) + _any_of(vowels, draw)
    return shape if syllables > 1 and draw() < 0.15 else shape + _any_of(CODAS, draw)


def gloss_shape(draw: Draw, syllables: int) -> str:
    """A word of the parallel, English-like side."""
    shape = _any_of(GLOSS_ONSETS, draw) + _any_of(GLOSS_VOWELS, draw)
    for _ in range(syllables - 2):
        shape += _any_of(CODAS[:9], draw) + _any_of(GLOSS_VOWELS[:5], draw)
    shape += _any_of(GLOSS_CODAS, draw)
    return shape if syllables == 1 else shape.removesuffix("e") + _any_of(GLOSS_ENDS, draw)


def _any_of(items: Sequence[str], draw: Draw) -> str:
    return items[pick(draw, len(items))]


def attach(before: str, suffix: str, front: bool) -> tuple[str, str]:
    """Join a suffix to the morph before it: both as they are written in the word."""
    surfaces = _surfaces(suffix)
    if suffix[0] == "'":
        before = before[:-1] + SOFTENED.get(before[-1], before[-1])
    return before, surfaces[2 * front + (before[-1] in VOWELS)]


@lru_cache(maxsize=1 << 10)
def _surfaces(suffix: str) -> tuple[str, ...]:
    """How a suffix is written: back after a consonant, back after a vowel, front after a consonant and a vowel."""
    suffix = suffix.removeprefix("'")
    if suffix[0] == "(":
        after_consonant, after_vowel = suffix[1] + suffix[3:], suffix[3:]
    else:
        after_consonant, after_vowel = suffix, "j" + suffix if suffix[0] in "AOUi" else suffix
    return tuple(
        variant.translate(harmony)
        for harmony in (BACK_HARMONY, FRONT_HARMONY)
        for variant in (after_consonant, after_vowel)
    )
