"""Where a capital letter may only mean that something begins: a word there does not show how it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

SENTENCE_ENDS = frozenset([".", "!", "?", "…", "..."])
# After these, text may begin with a capital: direct speech, headings, items of lists.
MAY_BEGIN_AFTER = SENTENCE_ENDS | frozenset(":;\"'“”„«»‚‘’‹›([{–—-•*|/") | {"``", "''", "--"}
_MOSTLY, _FEWEST_WORDS = 0.5, 2


def has_letters(token: str) -> bool:
    """Whether a token can be written in capitals."""
    return token.lower() != token.upper()


def unsure_positions(tokens: Sequence[str]) -> set[int]:
    """The tokens whose first letter may be a capital only because of where they stand."""
    return set(_beginnings(tokens, MAY_BEGIN_AFTER))


def capital_positions(tokens: Sequence[str]) -> set[int]:
    """The tokens that get a capital: the first word, and those after the end of a sentence."""
    return set(_beginnings(tokens, SENTENCE_ENDS))


def _beginnings(tokens: Sequence[str], marks: frozenset[str]) -> Iterator[int]:
    """The first token, and those after a mark; tokens of neither letters nor digits in between do not count."""
    begins = True
    for position, token in enumerate(tokens):
        if token in marks:
            begins = True
        elif any(character.isalnum() for character in token):
            if begins:
                yield position
            begins = False


def is_in_capitals(tokens: Sequence[str]) -> bool:
    """Whether a sentence is written in capitals, like a headline; then it shows nothing."""
    words = [token for token in tokens if has_letters(token) and len(token) > 1]
    capitals = sum(token == token.upper() for token in words)
    return len(words) >= _FEWEST_WORDS and capitals > _MOSTLY * len(words)
