"""Our own tokeniser, `words`: running text becomes words, numbers and punctuation marks, by the rules of its language.

Tokenising what is tokenised already changes nothing, also after lowercasing and with digits as 0. That rests on three
habits: a token is recognised from its own characters, never from what stands before it; what follows is asked for its
first character only, whether there is a space between or not; and whatever keeps a token whole still holds in small
letters and with other digits.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from morphlm.text.abbreviations import abbreviations, compared
from morphlm.text.word_rules import APOSTROPHES, QUOTES, WordRules, rules_of

REVISION = 1  # part of signatures: grows when a text may be tokenised differently

_LONGEST_KEPT, _MOST_KEPT = 64, 1 << 17  # characters of a chunk, and chunks, whose tokens are remembered
_LONGEST_UNKNOWN = 5  # letters of an abbreviation that is in no list
_TOP_LEVEL = frozenset({"com", "org", "net", "edu", "gov", "info", "eu"})
_ROMAN = re.compile("[ivx]{2,}", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+(?=[^\W\d_]{3})")  # J.R.Tolkien
_GLUED_ORDINAL = re.compile(r"\d+\.(?=[^\W\d_]{2})")

# What follows a full stop, by the first character.
END, LOWER, UPPER, DIGIT, CLOSING, OTHER = "elud)o"
_CLOSING = frozenset("\"'»”’)]}›")


@functools.cache
def _attached() -> str:
    """Accents, vowel signs and joiners, which belong to the character before them, as part of a `[...]`.

    Python's regular expressions know letters and digits, but not these.
    """
    ranges: list[tuple[int, int]] = []
    for code in range(0x20000):
        if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me", "Cf"}:
            start = ranges.pop()[0] if ranges and ranges[-1][1] == code - 1 else code
            ranges.append((start, code))
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in [*ranges, (0xE0001, 0xE01EF)])


def _token_pattern(rules: WordRules) -> re.Pattern[str]:
    """What a token looks like, from its first character on. Every part is linear in the length of the text."""
    attached = _attached()
    word = rf"(?:[^\W_]|[{attached}\u05f3\u05f4])"  # one character of a word
    letter, symbol = r"[^\W\d_]", rf"[^\w\s{attached}]"
    unspaced = (
        "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7ff"  # Korean and the like: no apostrophes
    )
    spelled = rf"[^\W\d_{unspaced}]"
    clitic = rf"[{QUOTES}](?:{rules.clitics})(?!{word})" if rules.clitics else "(?!)"
    leading = "|".join(filter(None, (rules.clitics, rules.leading, r"\d\d")))
    joints = [
        rf"[-‐‑](?={word})",
        rf"\.(?={word})",
        rf"_+(?={word})",
        rf"(?<={letter})&(?={letter})",
        rf"(?<={spelled})(?!{clitic})[{APOSTROPHES}](?={spelled})",
        r"(?<=\d)(?!" + clitic + rf")[{QUOTES}](?={spelled})",
        r"(?<=\d)/(?=\d)",
        '(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])',
        rf"(?<={letter})[{attached}]*·(?={letter})" if rules.middle_dot else "",
        r"(?<=\d),(?=\d)" if rules.decimal_comma else "",
        r"(?<=\d):(?=\d)" if rules.time_colon else "",
        rf":(?={letter})" if rules.colon else "",
        rf"/(?={word})" if rules.slash else "",
        r"(?<=\d)–(?=\d)" if rules.range_dash else "",
    ]
    joint = "|".join(filter(None, joints))
    percent = r"|%(?=\d)" if rules.percent_first else ""
    host = rf"{word}{{1,63}}"
    parts = {
        "address": rf"(?:(?:https?|ftp)://|www\.)[^\s\"<>«»“”„]*(?:[^\W_]|/)"
        rf"|{word}(?:{word}|[._+-]){{0,63}}@{host}(?:[.-]{host}){{1,8}}(?!{word})",
        "tag": rf"[@#](?={letter})(?:{word}|_)+(?:-(?:{word}|_)+)*",
        "smiley": rf"[:;]-?(?:[)(]++|[DPdp])(?!{word})",
        "run": r"\.{2,}|[!?]+|'{2,}|’{2,}|`{2,}|,{2,}|-{2,}|([=*_~+|^$<>])\2+|\){3,}|\({3,}",
        "leading": rf"[{QUOTES}](?:{leading})(?!{word})",
        "elided": rf"(?:{rules.elided})[{QUOTES}]" if rules.elided else "(?!)",
        "word": rf"(?:[-.](?={word}){percent})?{word}+(?:(?:{joint}){word}+)*(?:-(?!-))?",
        "symbol": rf"(?:[\U0001f1e6-\U0001f1ff]{{2}}|{symbol}|[\s\S])[{attached}\U0001f3fb-\U0001f3ff]*"
        rf"(?:(?<=\u200d){symbol}[{attached}\U0001f3fb-\U0001f3ff]*)*",
    }
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()), re.IGNORECASE)


def following_class(following: str) -> str:
    """The class of what comes next, by its first character."""
    first = following[:1]
    if not first:
        return END
    if first.isupper() or first.istitle():
        return UPPER
    if first.islower():
        return LOWER
    return DIGIT if first.isdecimal() else CLOSING if first in _CLOSING else OTHER


class _Words:
    """The tokeniser of one language; it remembers what became of short chunks, since most come again."""

    def __init__(self, language: str | None) -> None:
        self.language = language
        self.rules = rules_of(language)
        self.abbreviations = abbreviations(language)
        self.match = _token_pattern(self.rules).match
        self.kept: dict[str, tuple[str, ...]] = {}

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text."""
        chunks, kept = text.split(), self.kept
        result: list[str] = []
        for place, chunk in enumerate(chunks):
            if chunk.isalpha():
                result.append(chunk)
                continue
            after = following_class(chunks[place + 1] if place + 1 < len(chunks) else "") if chunk[-1] == "." else OTHER
            known = kept.get(after + chunk)
            result += self._remember(chunk, after) if known is None else known
        return result

    def _remember(self, chunk: str, after: str) -> tuple[str, ...]:
        tokens = tuple(self._split(chunk, after))
        if len(chunk) <= _LONGEST_KEPT:
            if len(self.kept) >= _MOST_KEPT:
                self.kept.clear()
            self.kept[after + chunk] = tokens
        return tokens

    def _split(self, chunk: str, after: str) -> Iterator[str]:
        """The tokens of what stands between two spaces."""
        start = 0
        while start < len(chunk):
            found = self.match(chunk, start)
            assert found is not None  # the last alternative takes any character
            end = self._word_end(chunk, start, found.end(), after) if found.lastgroup == "word" else found.end()
            yield chunk[start:end]
            start = end

    def _word_end(self, chunk: str, start: int, end: int, after: str) -> int:
        """Where a word ends that the pattern found: a full stop more, or less than it took."""
        first, second = chunk[start], chunk[start + 1 : start + 2]
        if first in "-." and following_class(second) == UPPER:
            return start + 1  # a dash or full stop with no space behind it, not -foo or .com
        glued = _INITIALS.match(chunk, start, end)
        if glued and chunk[glued.end()].isupper() and chunk[glued.end() + 1].islower():
            return self._with_stop(chunk, start, glued.end() - 1, UPPER)
        glued = _GLUED_ORDINAL.match(chunk, start, end) if self.rules.glued_ordinals else None
        if glued:
            return self._with_stop(chunk, start, glued.end() - 1, following_class(chunk[glued.end() :]))
        if chunk[end : end + 1] != "." or chunk[end + 1 : end + 2] == ".":
            return end
        return self._with_stop(
            chunk, start, end, following_class(chunk[end + 1 : end + 2]) if end + 1 < len(chunk) else after
        )

    def _with_stop(self, chunk: str, start: int, end: int, after: str) -> int:
        return end + self._keeps_stop(chunk[start:end], after)

    def _keeps_stop(self, word: str, after: str) -> bool:
        """Whether the full stop behind a word belongs to it. What holds before a capital holds before a small letter."""
        if after == END or self.rules.stops_apart:
            return False
        if _NUMBER.fullmatch(word):
            return self._is_ordinal(word, after)
        if len(word) == 1 or (_ROMAN.fullmatch(word) and self.rules.ordinals):
            return after != CLOSING and (after != UPPER or word.isupper() or not word.islower())
        if "." in word:
            parts = word.split(".")
            if all(len(part) <= 4 for part in parts) and parts[-1].lower() not in _TOP_LEVEL:
                return any(part.isalpha() for part in parts)
        small = compared(word, self.language)
        if small in self.abbreviations.before_numbers:
            return after == DIGIT
        if word in self.abbreviations.exact or (after != UPPER and small in self.abbreviations.small):
            return True
        return after == LOWER and len(word) <= _LONGEST_UNKNOWN

    def _is_ordinal(self, number: str, after: str) -> bool:
        if self.rules.ordinals is None:
            return after == LOWER
        return self.rules.ordinals and after != CLOSING and (after != UPPER or len(number) < 4)


@functools.cache
def _words(language: str | None) -> _Words:
    return _Words(language)


def tokenise_words(text: str, language: str | None) -> list[str]:
    """The tokens of a text in a language by its ISO 639 code; None for one that is not known."""
    return _words(language).tokens(text)
