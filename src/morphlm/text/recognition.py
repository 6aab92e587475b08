"""Which language a text is in, by votes over many pieces of it, so that two languages mixed are seen as such.

py3langid knows 139 languages (97 before its version 0.4). Pieces are asked about all of them first and then about those
alone that have a good share, since single lines are easily taken for a related language.
"""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from morphlm.tables import percent

PIECE = 200  # characters that are asked about together
SHORTEST = 40  # shorter lines are asked about with their neighbours
MOST_PIECES = 400
FEWEST_BYTES = 60  # of letters: with less text the language is unsure
CANDIDATE_SHARE = 0.04  # of the text, for a language that is more than a mistake
SURE_SHARE = 0.6  # of the text in the language
SURE_PROBABILITY = 0.5  # of the language of a piece, on average
_NO_LANGUAGE = "zxx"  # what py3langid calls numbers and program code


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
        return ", ".join(f"{(names or {}).get(code, code)} {percent(share, 0)}" for code, share in shares)


def recognise_language(sample: Sequence[str]) -> Recognised:
    """The language of some lines, sentences or paragraphs of raw text."""
    pieces = [(piece, *_recognise(piece)) for piece in _thinned(list(_pieces(sample)))]
    pieces = [piece for piece in pieces if piece[1] != _NO_LANGUAGE]
    total = sum(len(text) for text, _, _ in pieces)
    if not total:
        return Recognised(None, 0.0, is_sure=False)
    votes: Counter[str] = Counter()
    for text, code, _ in pieces:
        votes[code] += len(text)
    (code, vote), *others = _votes_again(pieces, votes)
    confidence = sum(probability * len(text) for text, _, probability in pieces) / total
    is_much = sum(_weight(text) for text, _, _ in pieces) >= FEWEST_BYTES
    is_sure = is_much and vote >= SURE_SHARE * total and confidence >= SURE_PROBABILITY
    shares = tuple((other, count / total) for other, count in others)
    return Recognised(code, vote / total, shares, is_sure)


def _votes_again(pieces: Sequence[tuple[str, str, float]], votes: Counter[str]) -> list[tuple[str, int]]:
    """The votes when only languages with a good share can be chosen, most votes first."""
    total = sum(votes.values())
    candidates = {code for code, vote in votes.items() if vote >= CANDIDATE_SHARE * total} or {
        max(votes, key=votes.__getitem__)
    }
    kept = Counter(dict.fromkeys(candidates, 0))
    for text, code, _ in pieces:
        kept[code if code in candidates else _recognise(text, candidates)[0]] += len(text)
    return sorted(((code, vote) for code, vote in kept.items() if vote), key=lambda item: (-item[1], item[0]))


def _weight(text: str) -> int:
    """The bytes of the letters: those of scripts with many letters tell more."""
    return sum(len(character.encode()) for character in text if unicodedata.category(character)[0] in "LM")


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


def _recognise(piece: str, candidates: Set[str] | None = None) -> tuple[str, float]:
    """The language of a piece among the candidates, by default all, and its probability among all."""
    if not _weight(piece):
        return _NO_LANGUAGE, 1.0
    ranked = _identifier().rank(piece)
    code, probability = next(item for item in ranked if candidates is None or item[0] in candidates)
    return code, probability


@functools.cache
def _identifier() -> Any:
    """The recogniser with its model, which takes half a second to load."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    if hasattr(LanguageIdentifier, "from_model_file"):
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return LanguageIdentifier.from_pickled_model(MODEL_FILE, norm_probs=True)  # before 0.4; pip takes it for NumPy 1.26
