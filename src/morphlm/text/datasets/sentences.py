"""Paragraphs cut into sentences, carefully: where in doubt, two sentences stay together.

A sentence ends with `.`, `!`, `?`, `…` or a danda before white space and a capital letter (in scripts without capitals:
any letter), unless the point belongs to an abbreviation, an initial or an ordinal number.
"""

from __future__ import annotations

import re
import unicodedata

_END = re.compile(r"""[.!?…।]["”“»’)\]]*\s+(?=["„“«‚(\[¿¡]*(\w))""")

# Written before a point in some of the languages, in lower case.
_ABBREVIATIONS = {
    *("approx", "cf", "dr", "etc", "fig", "max", "min", "mr", "mrs", "no", "resp", "vol", "vs"),  # in several languages
    *("apod", "atd", "mj", "např", "obr", "popř", "příp", "str", "tab", "tzn", "tzv"),  # Czech
    *("abb", "abs", "bzgl", "bzw", "ca", "evtl", "ggf", "inkl", "nr", "sog", "usw", "vgl", "zzgl"),  # German
    *("ej", "ex", "pág", "págs"),  # Spanish, French
    *("напр", "пр", "рис", "св", "см", "стр", "табл"),  # Russian
}


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph; joined by single spaces they give it back."""
    sentences, start = [], 0
    for end in _END.finditer(text):
        if not _is_capital(end[1]) or (end[0][0] == "." and _is_abbreviated(text[start : end.start()])):
            continue
        sentences.append(text[start : end.end()].rstrip())
        start = end.end()
    return [*sentences, text[start:]] if text[start:] else sentences


def _is_capital(letter: str) -> bool:
    """A capital, or a letter of a script that has none (Hangul, Devanagari)."""
    return letter.isupper() or (unicodedata.category(letter) == "Lo" and letter not in "ªº")


def _is_abbreviated(before: str) -> bool:
    """Is the point that follows part of the last word of `before`?"""
    word = before.rsplit(" ", maxsplit=1)[-1].lstrip('("„“«[').casefold()
    parts = word.split(".")
    return (
        word in _ABBREVIATIONS
        or word.isdigit()
        or (all(0 < len(part) <= 2 for part in parts) and len(parts) > 1)
        or (len(word) == 1 and word.isalpha())
    )
