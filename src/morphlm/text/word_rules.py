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
_LETTER = r"(?:[^\W\d_]|[\u0300-\u036f])"  # or an accent, which lowercasing may unite with its letter
_WORD = f"{_LETTER}+"


@dataclass(frozen=True)
class WordRules:
    """The rules of one language. Patterns are parts of regular expressions, compared without regard to case."""

    elided: str = ""  # X of X': a token with its apostrophe, whatever follows (l'amico -> l' amico)
    shortened: str = ""  # X of X': a token with its apostrophe where no letter follows (un po')
    clitics: str = ""  # Y of 'Y, cut off the word before it (don't -> don 't)
    leading: str = ""  # Y of 'Y that is a token at the beginning of a word ('n boek)
    hyphen_prefixes: str = ""  # X of X-, cut off the word behind it (s-a -> s- a)
    hyphen_clitics: str = ""  # Y of -Y, cut off the word before it (ont-ils -> ont -ils)
    hyphen: bool = True  # a hyphen between letters belongs to the word
    colon: bool = False  # EU:n is one word
    slash: bool = False  # ja/tai is one word
    range_dash: bool = False  # 3–0 is one token
    number_joints: str = ".,:/-"  # what is part of a number between two digits
    middle_dot: bool = False  # col·legi is one word
    percent_first: bool = False  # %70 is one token
    superscripts_apart: bool = False  # km² are two tokens
    ordinals: bool | None = None  # 3. is one token: yes, no, or (None) before a small letter only
    glued_ordinals: bool = False  # 3.gads are two words
    stops_apart: bool = False  # a full stop is always a token of its own, also that of an abbreviation
    single_marks: bool = False  # !! are two tokens
    longest_abbreviation: int = 4  # letters of an abbreviation, where there is no list of them


_DOT_APART = WordRules(stops_apart=True, ordinals=False)
_ORDINALS = WordRules(ordinals=True)
_NORDIC = WordRules(ordinals=True, colon=True)
_ITALIAN = WordRules(elided=f"{_LETTER}*[{_CONSONANTS}]", shortened="po|mo|be|e|cioe|perche|piu|puo|gia|cosi|citta")
_FRENCH = WordRules(
    elided="[ldjtmnsç]|c(?!['’]est-à-dire)|(?:jus|lors|puis|quoi)?qu|quelqu(?!['’]une?s?\\b)",
    hyphen_clitics="(?:t-)?(?:ils?|elles?|on|je|tu|ce)",
)
_ROMANIAN = WordRules(
    hyphen_prefixes=rf"{_WORD}(?=-(?:a|au|ar|am|ai|aș|ați|o|un|una|unul|unei)\b)|(?:d|pr)intr|într",
    hyphen_clitics="l|i|și|mi|ți|le|ne|vă|mă|te|se|ul|ului|lea|uri",
)

_RULES = {
    **dict.fromkeys(("cs", "sk", "pl"), replace(_DOT_APART, single_marks=True)),
    **dict.fromkeys(("lt", "id", "hsb", "dsb"), _DOT_APART),
    **dict.fromkeys(("hy", "hyw"), replace(_DOT_APART, hyphen=False, number_joints=".,:")),
    **dict.fromkeys(("hr", "bs", "sr", "cnr", "sh", "sl", "hu", "gsw", "lb", "nds"), _ORDINALS),
    **dict.fromkeys(("no", "nb", "nn", "da", "sv", "fo", "se", "smj", "sma", "smn", "sms", "fit", "fkv"), _NORDIC),
    **dict.fromkeys(("it", "lij", "vec", "lmo", "pms", "nap", "scn", "sc", "co", "fur", "lld", "rm"), _ITALIAN),
    **dict.fromkeys(("fr", "frm", "fro", "wa"), _FRENCH),
    **dict.fromkeys(("oc", "wo"), WordRules(elided="[ldjtmnsc]|qu")),
    "fi": replace(_NORDIC, slash=True, range_dash=True),
    "de": replace(_ORDINALS, single_marks=True, leading="s|n|ne|nen|nem|ner"),
    "et": replace(_ORDINALS, number_joints=".,/-"),
    "lv": replace(_ORDINALS, number_joints=".,/-", glued_ordinals=True),
    "is": replace(_ORDINALS, number_joints=".,/-"),
    "eu": replace(_ORDINALS, percent_first=True),
    "uk": replace(_DOT_APART, number_joints="."),
    "ro": _ROMANIAN,
    "sq": WordRules(elided="[st]"),
    "he": WordRules(hyphen=False),
    "la": WordRules(longest_abbreviation=10),
    "es": WordRules(leading="s", superscripts_apart=True),
    "ky": WordRules(number_joints=".,/-"),
    "ca": WordRules(elided="[ldsmnt]", middle_dot=True),
    "en": WordRules(clitics="s|t|m|d|ll|re|ve", leading="em|tis|twas|til|cause|bout|n"),
    "cy": WordRules(clitics="r|n|i|w|u|ch|m|th|na|ma"),
    "br": WordRules(elided="n|d|m", leading="n|r|ta|vit|zo|ni", hyphen_clitics="se|mañ|hont|me|hi"),
    "ga": WordRules(elided="d|b|m|mb|dh|n|t|a|o", leading="n|na|s"),
    "gd": WordRules(
        shortened="a|bh|th|dh|d|b|m|ars|r|g|mu|gu",
        leading="s|se|sa|san|sann|n|na|nam|nan|nuair|g|ga|gam|gad|gar|gan|gur|m|dol|ug|ur|ad|am|an",
    ),
    "mt": WordRules(elided=_WORD, hyphen_prefixes=_WORD),
    "nl": WordRules(leading="[tsnkmr]"),
    "af": WordRules(leading="n"),
    "el": WordRules(elided=f"{_LETTER}*[βγδζθκλμξπρτφχψ]|{_LETTER}|γι|μεσ"),
    "grc": WordRules(elided=f"{_LETTER}*[βγδζθκλμξπρτφχψ]|{_LETTER}"),
}


@functools.cache
def rules_of(language: str | None) -> WordRules:
    """The rules of a language by its code."""
    return _RULES.get(language or "", WordRules())
