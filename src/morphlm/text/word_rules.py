"""What each language does inside its words: apostrophes, colons, hyphens and full stops, as a table.

A language that is not here gets `WordRules()`: an apostrophe, a hyphen or a full stop between letters belongs to the
word. The conventions are those of the language's treebanks in Universal Dependencies.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

APOSTROPHES = "'’ʼ‘`´"  # of any language, between two letters
QUOTES = "'’‘"  # what stands for an apostrophe at the edge of a word

_CONSONANTS = "bcdfghjklmnpqrstvwxyz"
_FRENCH = "[ldjtmnscç]|qu|jusqu|lorsqu|puisqu|quoiqu|parce qu|quelqu(?=['’](?!un))"


@dataclass(frozen=True)
class WordRules:
    """The rules of one language. Patterns are parts of regular expressions, compared without regard to case."""

    elided: str = ""  # X of X': a token with its apostrophe, whatever follows (l'amico -> l' amico)
    clitics: str = ""  # Y of 'Y, cut off the word before it (don't -> don 't)
    leading: str = ""  # Y of 'Y that is a token at the beginning of a word ('n boek)
    colon: bool = False  # EU:n is one word
    slash: bool = False  # ja/tai is one word
    range_dash: bool = False  # 3–0 is one token
    time_colon: bool = True  # 10:30 and 2:1 are one token
    decimal_comma: bool = True  # 3,5 is one token
    middle_dot: bool = False  # col·legi is one word
    percent_first: bool = False  # %70 is one token
    ordinals: bool | None = None  # 3. is one token: yes, no, or (None) before a small letter only
    glued_ordinals: bool = False  # 3.gads are two words
    stops_apart: bool = False  # a full stop is always a token of its own, also that of an abbreviation


_DOT_APART = WordRules(stops_apart=True, ordinals=False)
_ORDINALS = WordRules(ordinals=True)
_NORDIC = WordRules(ordinals=True, colon=True)
_ELISION = WordRules(elided=f"[^\\W\\d_]*[{_CONSONANTS}]|po|mo|be|e|cioe|perche|piu|puo|gia|cosi|citta")
_GALLIC = WordRules(elided=_FRENCH)

_RULES = {
    **dict.fromkeys(("cs", "sk", "pl", "lt", "hy", "hyw", "id"), _DOT_APART),
    **dict.fromkeys(("hr", "bs", "sr", "cnr", "sh", "sl", "hu", "gsw", "lb", "nds"), _ORDINALS),
    **dict.fromkeys(("no", "nb", "nn", "da", "sv", "fo", "se", "smj", "sma", "smn", "sms", "fit", "fkv"), _NORDIC),
    **dict.fromkeys(("it", "lij", "vec", "lmo", "pms", "nap", "scn", "sc", "co", "fur", "lld", "rm"), _ELISION),
    **dict.fromkeys(("fr", "frm", "fro", "wa", "oc", "wo"), _GALLIC),
    "fi": replace(_NORDIC, slash=True, range_dash=True),
    "de": replace(_ORDINALS, leading="s|n|ne|nen|nem|ner"),
    "et": replace(_ORDINALS, time_colon=False),
    "lv": replace(_ORDINALS, time_colon=False, glued_ordinals=True),
    "is": replace(_ORDINALS, time_colon=False),
    "eu": replace(_ORDINALS, percent_first=True),
    "uk": replace(_DOT_APART, time_colon=False, decimal_comma=False),
    "ca": WordRules(elided="[ldsmnt]", clitics="[lnsmt]|ls|ns|ho|hi|n", middle_dot=True),
    "en": WordRules(clitics="s|t|m|d|ll|re|ve", leading="em|tis|twas|til|cause|bout|n"),
    "cy": WordRules(clitics="r|n|i|w|u|ch|m|th|na|ma|ny|run|rhain"),
    "ga": WordRules(elided="d|b|m|mb|dh|th|bh|t|a|o|s", leading="n|na|s|sé|se|sa|un"),
    "gd": WordRules(
        elided="a|bh|th|dh|d|b|m|ars|mu|gu|t|s|do|fo|bho|ri|chuir",
        leading="s|se|sa|san|n|na|nam|nan|ga|gam|gad|gar|gan|gur|m|dol|ug|ur|ad|am|an|ad|sann",
    ),
    "mt": WordRules(elided=r"[^\W\d_]+"),
    "nl": WordRules(leading="[tsnkmr]"),
    "af": WordRules(leading="n"),
    "el": WordRules(elided=r"[^\W\d_]|[^\W\d_]*[βγδζθκλμξπρτφχψ]|γι|μεσ"),
    "grc": WordRules(elided=r"[^\W\d_]|[^\W\d_]*[βγδζθκλμξπρτφχψ]"),
}


@functools.cache
def rules_of(language: str | None) -> WordRules:
    """The rules of a language by its code."""
    return _RULES.get(language or "", WordRules())
