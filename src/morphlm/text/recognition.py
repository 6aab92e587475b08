"""Which language a text is in, by votes over many pieces of it, so that two languages mixed are seen as such.

py3langid knows 139 languages. Pieces are asked about all of them first and then about those alone that have a good
share, since single lines are easily taken for a related language.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PIECE = 200  # characters that are asked about together
SHORTEST = 40  # shorter lines are asked about with their neighbours
MOST_PIECES = 400
FEWEST_LETTERS = 60  # with less text the language is unsure
CANDIDATE_SHARE = 0.04  # of the text, for a language that is more than a mistake
SURE_SHARE = 0.6


@dataclass(frozen=True)
class Recognised:
    """The language of a text."""

    code: str | None  # ISO 639; None if there are no words
    share: float  # of the text that is in it, 0 to 1
    others: tuple[tuple[str, float], ...] = ()  # other languages with their shares, the largest first
    is_sure: bool = True

    def format(self, names: Mapping[str, str] | None = None) -> str:
        """All languages with their shares, called by `names` where they are given: `Czech 62 %, English 38 %`."""
        if self.code is None:
            return "unknown"
        shares = [(self.code, self.share), *self.others]
        return ", ".join(f"{(names or {}).get(code, code)} {share:.0%}" for code, share in shares)


def recognise_language(sample: Sequence[str]) -> Recognised:
    """The language of some lines, sentences or paragraphs of raw text."""
    pieces = _thinned(list(_pieces(sample)))
    letters = sum(character.isalpha() for piece in pieces for character in piece)
    if not letters:
        return Recognised(None, 0.0, is_sure=False)
    votes, confidence = _votes(pieces, None)
    total = sum(votes.values())
    candidates = [code for code, vote in votes.items() if vote >= CANDIDATE_SHARE * total]
    votes, _ = _votes(pieces, tuple(sorted(candidates)) or None)
    (code, vote), *others = sorted(votes.items(), key=lambda item: (-item[1], item[0]))
    shares = tuple((other, count / total) for other, count in others if count >= CANDIDATE_SHARE * total)
    is_sure = letters >= FEWEST_LETTERS and vote >= SURE_SHARE * total and confidence >= 0.5
    return Recognised(code, vote / total, shares, is_sure)


def _pieces(sample: Sequence[str]) -> Iterator[str]:
    """The text in pieces of some words each: long lines cut, short ones together."""
    piece = ""
    for line in sample:
        for begin in range(0, len(line), PIECE):
            piece = f"{piece} {line[begin : begin + PIECE]}".strip()
            if len(piece) >= SHORTEST:
                yield piece
                piece = ""
    if piece:
        yield piece


def _thinned(pieces: list[str]) -> list[str]:
    """At most so many pieces that it takes no time, from all of the sample."""
    step = max(1, -(-len(pieces) // MOST_PIECES))
    return pieces[::step]


def _votes(pieces: Sequence[str], candidates: tuple[str, ...] | None) -> tuple[Counter[str], float]:
    """Characters that speak for each language, and the mean confidence."""
    identifier = _identifier()
    identifier.set_languages(candidates)
    votes: Counter[str] = Counter()
    confidence = 0.0
    for piece in pieces:
        code, probability = identifier.classify(piece)
        votes[code] += len(piece)
        confidence += probability * len(piece)
    return votes, confidence / max(1, sum(votes.values()))


@functools.cache
def _identifier() -> Any:
    """The recogniser with its model, which takes half a second to load."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
