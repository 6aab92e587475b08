"""The regular expression of the tokeniser `words`: what a token looks like from its first character on.

Nothing in it looks back beyond the token, and no part can be matched in two ways, so the time is linear in the text.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata

from morphlm.text.word_rules import APOSTROPHES, QUOTES, WordRules

_LETTER = r"[^\W\d_]"
_HEBREW = "[\u05d0-\u05ea]"
_NO_APOSTROPHES = "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff"  # Korean and its neighbours
_SPELLED = rf"[^\W\d_{_NO_APOSTROPHES}]"  # a letter that may have an apostrophe beside it
_WORD_MARKS = "\u05f3\u05f4\u055a-\u055c\u055e"  # Hebrew and Armenian marks that stand inside of words
_SUPERSCRIPTS = "\u00b2\u00b3\u00b9\u2070-\u2079"
_SKIN_COLOURS = "\U0001f3fb-\U0001f3ff"
_ATTACHED = frozenset({"Mn", "Mc", "Me", "Cf"})  # categories of Unicode
_NEVER = "(?!)"
_RUN = r"\.{2,}|'{2,}|’{2,}|`{2,}|,{2,}|-{2,}|(?P<same>[=*_~+|^$<>])(?P=same)+|\){3,}|\({3,}"


@functools.cache
def _attached() -> str:
    """Accents, vowel signs and joiners, which belong to the character before, as part of a `[...]`."""
    planes = itertools.chain(range(0x20000), range(0xE0000, 0xE01F0))
    codes = (code for code in planes if unicodedata.category(chr(code)) in _ATTACHED)
    ranges: list[tuple[int, int]] = []
    for code in codes:
        first = ranges.pop()[0] if ranges and ranges[-1][1] == code - 1 else code
        ranges.append((first, code))
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _word_character(rules: WordRules, repeated: str = "") -> str:
    """A character of a word: letters, numbers, their accents, vowel signs and joiners."""
    alphanumeric = rf"[^\W_{_SUPERSCRIPTS}]" if rules.superscripts_apart else r"[^\W_]"
    return f"(?:{alphanumeric}{repeated}|[{_attached()}{_WORD_MARKS}])"


@functools.cache
def token_pattern(rules: WordRules, *, addresses: bool = False) -> re.Pattern[str]:
    """A token of a language; the name of the group that matched says what kind it is.

    To look for addresses takes time, and there is an @, a :// or www. in each.
    """
    word = _word_character(rules)
    any_word = f"{_word_character(rules, repeated='++')}++"
    joint = "|".join(_joints(rules, word))
    edge = "-" if rules.hyphen else _NEVER
    minus = "" if "-" in rules.number_joints else r"(?!-\d)"
    signs = "|".join([rf"{minus}{edge}(?={word})", r"\.(?=\d)", *([r"%(?=\d)"] if rules.percent_first else [])])
    parts = {
        "address": _address(word) if addresses else _NEVER,
        "entity": r"(?i:&(?:#\d{1,6}|[a-z]{2,8});)+",
        "tag": rf"[@#](?={_LETTER})(?:{word}|_)++(?:-(?:{word}|_)++)*+",
        "smiley": rf"[:;]-?(?:[)(]++|[DPdp])(?!{word})",
        "run": _RUN if rules.single_marks else rf"{_RUN}|[!?]+",
        "particle": "|".join(_particles(rules, word)),
        "word": rf"(?:{signs})?{any_word}(?:(?:{joint}){any_word})*+(?:{edge}(?!-|{word}))?",
        "symbol": _symbol(),
    }
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()))


def _address(word: str) -> str:
    """Addresses of the web, up to the last letter or slash, and of e-mail, with the lengths that standards allow."""
    host = rf"(?:{word}){{1,63}}+"
    web = r"(?i:(?:https?|ftp)://|www\.)[^\s\"<>«»“”„()\[\]{}]*(?:[^\W_]|/)"
    return rf"{web}|{word}(?:{word}|[._+-]){{0,63}}@{host}(?:[.-]{host}){{1,8}}(?!{word})"


def _joints(rules: WordRules, word: str) -> list[str]:
    """What holds two parts of a word or number together."""
    clitic = rf"(?![{QUOTES}](?i:{rules.clitics})(?!{word}))" if rules.clitics else ""
    hyphen_clitic = rf"(?!-(?i:{rules.hyphen_clitics})(?!{word}))" if rules.hyphen_clitics else ""
    between_digits = rf"(?<=\d)[{re.escape(rules.number_joints)}](?=\d)"
    not_range = "" if "-" in rules.number_joints else r"(?!(?<=\d)-\d)"
    optional = {
        rf"{hyphen_clitic}{not_range}[-‐‑](?={word})": rules.hyphen,
        rf"\.-(?={word})|-/(?={_LETTER})": rules.hyphen,  # Kft.-nek, Ein-/Ausgang
        rf":(?={_LETTER})": rules.colon,
        rf"/(?={word})": rules.slash,
        r"(?<=\d)–(?=\d)": rules.range_dash,
        rf"(?<={_LETTER})·(?={_LETTER})": rules.middle_dot,
    }
    return [
        between_digits,
        rf"\.(?={word})",
        rf"_+(?={word})",
        rf"(?<={_LETTER})&(?={_LETTER})",
        rf"{clitic}(?:(?<={_SPELLED})[{APOSTROPHES}]|(?<=\d)[{QUOTES}])(?={_SPELLED})",
        rf'(?<={_HEBREW})"(?={_HEBREW})',
        *(pattern for pattern, used in optional.items() if used),
    ]


def _particles(rules: WordRules, word: str) -> list[str]:
    """Short words with an apostrophe or hyphen at their edge, which is a part of them."""
    leading = "|".join(filter(None, (rules.clitics, rules.leading, r"\d\d")))
    optional = {
        rf"(?i:{rules.elided})[{QUOTES}]": rules.elided,
        rf"(?i:{rules.shortened})[{QUOTES}](?!{word})": rules.shortened,
        rf"(?i:{rules.hyphen_prefixes})-(?={_LETTER})": rules.hyphen_prefixes,
        rf"-(?i:{rules.hyphen_clitics})(?!{word})": rules.hyphen_clitics,
    }
    always = [rf"[{QUOTES}](?i:{leading})(?!{word})", "(?i:n)°"]
    return always + [pattern for pattern, used in optional.items() if used]


def _symbol() -> str:
    """Any other character, with what is attached to it; an emoji of several and a flag of two are one."""
    attached = _attached() + _SKIN_COLOURS
    single = rf"[^\w\s{attached}]"
    return rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|[\s\S])[{attached}]*+(?:(?<=\u200d){single}[{attached}]*+)*"
