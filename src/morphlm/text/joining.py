"""The way back: tokens become a sentence as a person writes it, for text that a model has generated.

Where a space stood cannot always be known (10 - 20 or 10-20); what is put together here is, when it is tokenised again,
the same tokens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from morphlm.text.word_rules import QUOTES, rules_of
from morphlm.text.words import chunk_tokens

_BEFORE = frozenset(",.;:!?…)]}%°²³‰›،؛؟۔।॥։՝·。，、；：！？）】」』")  # no space before these
_AFTER = frozenset("([{¿¡„‚‹``（【「『")  # no space behind these
_ALWAYS_OPEN, _ALWAYS_CLOSED = frozenset({"„", "‚", "``"}), frozenset({"''"})
_PAIRS = {"“": "„", "‘": "‚", "”": "„“”", "’": "‘‚", "»": "«»", "«": "»", '"': '"', "'": "'", "''": "``,,"}
_SPACE_BEFORE_PERCENT = frozenset({"cs", "sk", "fi", "sv", "no", "nb", "nn", "da", "de", "fr", "es", "ru", "be", "bg"})
_FRENCH_SPACES = frozenset(";:!?»")
_CURRENCIES = frozenset("$£€¥₴₺₽")
_ENDS_WITH_SPACE = frozenset({"el", "grc"})  # απ' όλα, unlike l'amico
_RUN = re.compile(r"\.{2,}|[!?]{2,}")
_NUMBER = re.compile(r"\d[\d.,]*")


class _Joiner:
    """Decides between two tokens; it knows which quotation marks are open."""

    def __init__(self, language: str | None) -> None:
        self.language = language
        self.rules = rules_of(language)
        self.open: list[str] = []

    def sides(self, token: str, before: str, after: str) -> tuple[bool, bool]:
        """Whether the token holds on to the one before it, and to the one behind it."""
        if token in _PAIRS or token in _ALWAYS_OPEN or (token == ",," and self.language == "nl"):
            return self._quote(token, before, after)
        if token in _BEFORE or _RUN.fullmatch(token):
            return self._mark(token, before, after)
        if token in _AFTER:
            return False, True
        if token in "-–/" or token in _CURRENCIES:
            return self._between(token, before, after)
        return self._particle(token, before)

    def _quote(self, token: str, before: str, after: str) -> tuple[bool, bool]:
        partners = _PAIRS.get(token, "")
        if token not in _ALWAYS_OPEN and self.open and self.open[-1] in partners:
            self.open.pop()
            return self._inside(token)
        apostrophe = token in QUOTES and before[-1:].isalnum() and token != "‘"
        if apostrophe and (token == "’" or before[-1] in "sxz" or before[-1].isdecimal()):
            return True, False  # of the people' or 43', not a quotation mark
        at_end = not after or after in _BEFORE
        if token not in _ALWAYS_OPEN and before and (at_end or token == "''"):
            return self._inside(token)  # its partner is in the sentence before, or lost
        self.open.append(token)
        return self._inside(token)[::-1]

    def _inside(self, token: str) -> tuple[bool, bool]:
        """A closing mark holds on to what is before it; French guillemets stand off."""
        return (self.language != "fr" or token not in "«»"), False

    def _mark(self, token: str, before: str, after: str) -> tuple[bool, bool]:
        if self.language == "fr" and token in _FRENCH_SPACES:
            return False, False
        if token == "%" and self.language in _SPACE_BEFORE_PERCENT:
            return False, False
        if token in ":," and token not in self.rules.number_joints and before[-1:].isdecimal():
            return True, after[:1].isdecimal()
        return bool(before), False

    def _between(self, token: str, before: str, after: str) -> tuple[bool, bool]:
        if token in _CURRENCIES:
            return False, after[:1].isdecimal()
        if token == "-" and self.rules.hyphen and "-" in self.rules.number_joints:
            return False, False
        if token == "–" or (token == "-" and self.rules.hyphen):
            numbers = bool(_NUMBER.fullmatch(before) and _NUMBER.fullmatch(after))
            return numbers, numbers
        words = before[-1:].isalnum() and after[:1].isalnum()
        return words, words

    def _particle(self, token: str, before: str) -> tuple[bool, bool]:
        word = before[-1:].isalnum()
        if token[0] in QUOTES and _is(self.rules.clitics, token[1:]):
            return word, False
        if token[0] == "-" and _is(self.rules.hyphen_clitics, token[1:]):
            return word, False
        if token[-1] in QUOTES and len(token) > 1:
            return False, self._elides(token)
        return False, token[-1] == "-" and len(token) > 1 and bool(self.rules.hyphen_prefixes)

    def _elides(self, token: str) -> bool:
        if not self.rules.elided or self.language in _ENDS_WITH_SPACE:
            return False
        return self.language != "mt" or len(token) == 2  # f'Malta, but ta' Malta


def _is(pattern: str, text: str) -> bool:
    return bool(pattern) and re.fullmatch(pattern, text, re.IGNORECASE) is not None


def join_words(tokens: Sequence[str], language: str | None) -> str:
    """Tokens of `tokenise_words` as a person would write them."""
    joiner = _Joiner(language)
    chunks: list[list[str]] = []
    holds = False
    for place, token in enumerate(tokens):
        before, after = tokens[place - 1] if place else "", tokens[place + 1] if place + 1 < len(tokens) else ""
        left, right = joiner.sides(token, before, after)
        if chunks and (holds or left):
            chunks[-1].append(token)
        else:
            chunks.append([token])
        holds = right
    return _written(chunks, language)


def _written(chunks: list[list[str]], language: str | None) -> str:
    """The chunks with spaces between them, and inside of those that would be tokenised differently."""
    following = ""
    written = []
    for chunk in reversed(chunks):
        text = "".join(chunk)
        # A full stop before a small letter may look like that of an abbreviation; people write it so nevertheless.
        asked = "" if chunk[-1] == "." else following
        if len(chunk) > 1 and chunk_tokens(text, language, asked) != tuple(chunk):
            text = " ".join(chunk)
        written.append(text)
        following = text
    return " ".join(reversed(written))
