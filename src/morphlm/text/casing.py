"""Small letters as each language writes them, a step of preparing text.

Unicode's general rules are not enough: they turn the Turkish `Işık` into `işik` and `İzmir` into an i with a second,
combining dot, a letter that no dictionary has.
"""

from __future__ import annotations

import re

DOTLESS_I = frozenset({"tr", "az", "crh", "gag", "kaa"})  # I is the capital of ı, İ that of i
# Mostly in Cyrillic, where a Latin word is a foreign one (`INTEL`); only a word with a letter of their own Latin
# alphabet has the dotless i.
_SOMETIMES_DOTLESS_I = frozenset({"tt", "kk", "ba"})
_TURKIC_LETTER = re.compile("[ığĞşŞəƏñÑŋŊüÜöÖçÇäÄúÚǵǴʻ]")

_DOT_ABOVE = "\u0307"
_DOTTED_CAPITAL = re.compile("İ|I\u0307")  # one character, or two in text that is not in normal form C
_WORD = re.compile(r"\S+")
# Whether a sigma is the last letter must not depend on what tokenising cuts away (Unicode looks past apostrophes and
# full stops): only on the letters next to it and their accents.
_ACCENTS = "\u0300-\u036f"
_FINAL_SIGMA = re.compile(rf"(?<=[^\W\d_])([{_ACCENTS}]*)Σ(?![{_ACCENTS}]*[^\W\d_])")


def lowercase(text: str, language: str | None) -> str:
    """The text in small letters; doing it again changes nothing.

    The Lithuanian rule of Unicode (a capital Í becomes i, a dot and an accent) is left out: it serves dictionaries that
    mark stress, and makes two words of what people write as í.
    """
    if "Σ" in text:
        text = _FINAL_SIGMA.sub(r"\1ς", text).replace("Σ", "σ")
    if "İ" in text or _DOT_ABOVE in text:
        text = _DOTTED_CAPITAL.sub("i", text)  # Python would leave the dot behind
    if "I" in text and language in DOTLESS_I:
        text = text.replace("I", "ı")
    if "I" in text and language in _SOMETIMES_DOTLESS_I:
        text = _WORD.sub(_dotless_if_turkic, text)
    return text.lower()


def _dotless_if_turkic(match: re.Match[str]) -> str:
    word = match[0]
    return word.replace("I", "ı") if _TURKIC_LETTER.search(word) else word
