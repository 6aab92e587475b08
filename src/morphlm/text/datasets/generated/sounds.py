"""How the generated language sounds: the shapes of stems, and what happens where a suffix meets a word.

Suffixes are written with capital letters for the vowels that follow the stem's harmony (back palOm, front telöm),
with an opening vowel in brackets if it goes after another vowel, and with ' if they soften the consonant before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from morphlm.text.datasets.generated.config import Draw, pick

BACK_VOWELS, FRONT_VOWELS = "aoui", "eöüi"  # i is neutral
VOWELS = frozenset(BACK_VOWELS + FRONT_VOWELS)
BACK_HARMONY = str.maketrans("AOU", "aou")
FRONT_HARMONY = str.maketrans("AOU", "eöü")
SOFTENED = {"k": "č", "g": "ž", "h": "š", "t": "c", "d": "z"}

ONSETS = tuple("p t k b d g m n s z š č l r v j h f".split() + "st pr tr kr br dr gr sl pl kl zv sv".split())
MIDDLES = tuple("p t k b d g m n s z š č l r v h nt rk ld st mb rn lk sk".split())
CODAS = tuple("p t k b d g m n s z š č l r v h".split())

GLOSS_ONSETS = tuple("b c d f g h l m n p r s t w bl br cl cr dr fl fr gr pl pr sh sl sp st str th tr wh".split())
GLOSS_VOWELS = tuple("a e i o u ai ea ee oa oo ou".split())
GLOSS_CODAS = tuple("b ck d ft g ke ld ll lt m mp n nd ng nk nt p r rd rk rm rn rt sh sk ss st t te th ve x".split())
GLOSS_ENDS = tuple("ant el en ent er et ic il in ion ish le on or ow ure y".split())


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


@lru_cache(maxsize=1 << 16)
def attach(before: str, suffix: str, front: bool) -> tuple[str, str]:
    """Join a suffix to the morph before it: both as they are written in the word."""
    if suffix.startswith("'"):
        suffix = suffix[1:]
        before = before[:-1] + SOFTENED.get(before[-1], before[-1])
    after_vowel = before[-1] in VOWELS
    if suffix.startswith("("):
        suffix = suffix[3:] if after_vowel else suffix[1] + suffix[3:]
    elif after_vowel and suffix[:1] in tuple("AOUi"):
        suffix = "j" + suffix
    return before, suffix.translate(FRONT_HARMONY if front else BACK_HARMONY)
