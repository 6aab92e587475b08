"""One rule for pieces that others cut: a combining mark goes with the letter before it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import accumulate

from morphlm.segmentation.morphemes import Morpheme, letters


def keep_letters_whole(morphemes: Sequence[Morpheme]) -> tuple[Morpheme, ...]:
    """Move each combining mark to the morpheme of its letter; morphemes that become empty are dropped."""
    if "".join([morpheme.form for morpheme in morphemes]).isalnum():
        return tuple(morphemes)  # the common case: combining marks are not alphanumeric
    parts = list(accumulate(morpheme.form for morpheme in morphemes))  # what stands before each cut
    word = unicodedata.normalize("NFC", parts[-1])
    allowed = list(accumulate(map(len, letters(word))))
    moved: list[Morpheme] = []
    begin = 0
    for part, morpheme in zip(parts, morphemes, strict=True):
        cut = len(unicodedata.normalize("NFC", part))
        end = next(boundary for boundary in allowed if boundary >= cut)
        if end > begin:
            moved.append(Morpheme(word[begin:end], morpheme.label))
            begin = end
    return tuple(moved)
