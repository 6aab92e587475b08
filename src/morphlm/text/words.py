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
from collections.abc import Callable, Iterator

from morphlm.text.abbreviations import abbreviations, any_digits, compared
from morphlm.text.word_patterns import token_pattern
from morphlm.text.word_rules import rules_of

REVISION = 1  # part of signatures: grows when a text may be tokenised differently

_LONGEST_KEPT, _MOST_KEPT = 64, 1 << 16  # characters of a chunk, and chunks, whose tokens are remembered
_MOST_STOPS = 8  # in an abbreviation
_LONGEST_WITHOUT_VOWELS = 6  # letters of an abbreviation that is in no list
_VOWELS = frozenset("aeiouyıæøœəаеёиоуыэюяіїєәөүαεηιουω")
_TOP_LEVEL = frozenset({"com", "org", "net", "edu", "gov", "info", "eu"})
_PLAIN_MARKS = frozenset(",;:!?")  # cut off a word of letters in every language
_ADDRESS_SIGN = re.compile(r"@|://|www\.", re.IGNORECASE)
_ROMAN = re.compile("[ivx]{2,}", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+(?=[^\W\d_]{3})")  # J.R.Tolkien
_GLUED_ORDINAL = re.compile(r"\d+\.(?=[^\W\d_][\u0300-\u036f]*[^\W\d_])")

# What follows a full stop, by the first character.
END, LOWER, UPPER, DIGIT, QUOTE, OTHER = 'elud"o'
_CLOSING_QUOTES = frozenset("\"'»”’›")


def following_class(following: str) -> str:
    """The class of what comes next, by its first character."""
    first = following[:1]
    if not first:
        return END
    if first.isupper() or first.istitle():
        return UPPER
    if first.islower() and not "\u10d0" <= first <= "\u10ff":  # Georgian sentences begin with small letters too
        return LOWER
    return DIGIT if first.isdecimal() else QUOTE if first in _CLOSING_QUOTES else OTHER


class _Words:
    """The tokeniser of one language; it remembers what became of short chunks, since most come again."""

    def __init__(self, language: str | None) -> None:
        self.language = language
        self.rules = rules_of(language)
        self.abbreviations = abbreviations(language)
        self.match = token_pattern(self.rules).match
        self.kept: dict[str, tuple[str, ...]] = {}

    def _match_address(self) -> Callable[[str, int], re.Match[str] | None]:
        return token_pattern(self.rules, addresses=True).match

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text."""
        chunks, kept = text.split(), self.kept
        result: list[str] = []
        for place, chunk in enumerate(chunks):
            if chunk.isalpha():
                result.append(chunk)
            elif chunk[-1] in _PLAIN_MARKS and chunk[:-1].isalpha():
                result += (chunk[:-1], chunk[-1])
            else:
                stop = chunk[-1] == "."
                after = following_class(chunks[place + 1] if place + 1 < len(chunks) else "") if stop else OTHER
                known = kept.get(after + chunk)
                result += self.chunk_tokens(chunk, after) if known is None else known
        return result

    def chunk_tokens(self, chunk: str, after: str) -> tuple[str, ...]:
        """The tokens of what stands between two spaces, remembered for the next time."""
        tokens = tuple(self._split(chunk, after))
        if len(chunk) <= _LONGEST_KEPT:
            if len(self.kept) >= _MOST_KEPT:
                self.kept.clear()
            self.kept[after + chunk] = tokens
        return tokens

    def _split(self, chunk: str, after: str) -> Iterator[str]:
        """The tokens of what stands between two spaces."""
        match = self._match_address() if _ADDRESS_SIGN.search(chunk) else self.match
        start = 0
        while start < len(chunk):
            found = match(chunk, start)
            assert found is not None  # the last alternative takes any character
            end = self._word_end(chunk, start, found.end(), after) if found.lastgroup == "word" else found.end()
            yield chunk[start:end]
            start = end

    def _word_end(self, chunk: str, start: int, end: int, after: str) -> int:
        """Where a word ends that the pattern found: a full stop more, or less than it took."""
        if chunk[start] == "-" and self._begins_sentence(chunk, start + 1):
            return start + 1
        initials = _INITIALS.match(chunk, start, end)
        if initials and self._begins_sentence(chunk, initials.end()):
            return self._with_stop(chunk, start, initials.end() - 1, UPPER)
        glued = _GLUED_ORDINAL.match(chunk, start, end) if self.rules.glued_ordinals else None
        if glued:
            return self._with_stop(chunk, start, glued.end() - 1, following_class(chunk[glued.end()]))
        if chunk[end : end + 1] != "." or chunk[end + 1 : end + 2] == ".":
            return end
        following = chunk[end + 1 : end + 2]
        return self._with_stop(chunk, start, end, following_class(following) if following else after)

    def _begins_sentence(self, chunk: str, place: int) -> bool:
        """Whether a capital and a small letter stand here, or one capital where no suffix can follow a hyphen."""
        second = chunk[place + 1 : place + 2]
        return chunk[place].isupper() and (second.islower() or not (second.isalnum() or self.rules.hyphen_clitics))

    def _with_stop(self, chunk: str, start: int, end: int, after: str) -> int:
        return end + self._keeps_stop(chunk[start:end], after)

    def _keeps_stop(self, word: str, after: str) -> bool:
        """Whether the full stop behind a word is its own. What holds before a capital holds before a small letter."""
        if after == END or self.rules.stops_apart:
            return False
        if _NUMBER.fullmatch(word):
            return self._is_ordinal(word, after)
        letters = sum(character.isalnum() for character in word)
        if letters == 1 or (self.rules.ordinals and _ROMAN.fullmatch(word)):
            return after != QUOTE and (after != UPPER or not word.islower() or word in self.abbreviations.exact)
        return _has_stops(word) or self._is_abbreviation(word, after, letters)

    def _is_ordinal(self, number: str, after: str) -> bool:
        if self.rules.ordinals is None:
            return after == LOWER
        return self.rules.ordinals and after != QUOTE and (after != UPPER or len(number) < 4)

    def _is_abbreviation(self, word: str, after: str, letters: int) -> bool:
        """Whether a word is in the list, or looks like an abbreviation before a small letter.

        Lists are strict before a capital. In text without capitals every sentence begins with a small letter, so where
        there is a list, only what has no vowels is taken for one that is missing.
        """
        known, word = self.abbreviations, any_digits(word)
        small = compared(word, self.language)
        if small in known.before_numbers:
            return after == DIGIT
        if word in known.exact or (after != UPPER and small in known.small):
            return True
        with_vowels = 0 if known.listed else self.rules.longest_abbreviation
        return after == LOWER and letters <= (with_vowels if _has_vowel(small) else _LONGEST_WITHOUT_VOWELS)


def _has_vowel(small: str) -> bool:
    return any(character in _VOWELS for character in unicodedata.normalize("NFD", small))


def _has_stops(word: str) -> bool:
    """Whether a word is an abbreviation by the full stops inside it (e.g), and not the name of a website."""
    parts = word.split(".", _MOST_STOPS)
    return (
        1 < len(parts) < _MOST_STOPS
        and any(character.isalpha() for character in word)
        and all(sum(character.isalnum() for character in part) <= 4 for part in parts)
        and parts[-1].lower() not in _TOP_LEVEL
    )


@functools.cache
def _words(language: str | None) -> _Words:
    return _Words(language)


def chunk_tokens(chunk: str, language: str | None, following: str) -> tuple[str, ...]:
    """The tokens of what stands between two spaces, if `following` comes next."""
    return _words(language).chunk_tokens(chunk, following_class(following))


def tokenise_words(text: str, language: str | None) -> list[str]:
    """The tokens of a text in a language by its ISO 639 code; None for one that is not known."""
    return _words(language).tokens(text)
