"""Corpus statistics like the paper's Table 1: tokens, types, singletons and what pruning leaves of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.tables import format_columns, percent
from morphlm.vocabulary.corpus import Source, WordCounts, count_words, describe
from morphlm.vocabulary.vocabulary import check_kappa


@dataclass(frozen=True)
class CorpusStatistics(Tabular):
    """One row of the table."""

    name: str
    sentences: int
    tokens: int  # running words, sentence ends not counted
    types: int  # different words
    singletons: int  # types that occur once
    vocabulary: int  # types that are left when a share kappa of the singletons has become UNK
    kappa: float

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        return [self.to_json()]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def corpus_statistics(name: str, words: WordCounts, kappa: float) -> CorpusStatistics:
    """The row of a text whose words were counted."""
    check_kappa(kappa)
    left = words.types - round(kappa * words.singletons)
    return CorpusStatistics(name, words.sentences, words.tokens, words.types, words.singletons, left, kappa)


def text_statistics(source: Source, *, kappa: float = 0.2, allow_unknown: bool = False) -> CorpusStatistics:
    """Count the words of a text: a file, several paths, raw lines, or lists of tokens; `allow_unknown` admits <unk>."""
    return corpus_statistics(describe(source), count_words(source, allow_unknown=allow_unknown), kappa)


def format_statistics(rows: list[CorpusStatistics]) -> str:
    """The rows as a readable table."""
    header = ["", "sentences", "tokens", "types", "singletons", "of types", f"|V| at kappa {rows[0].kappa:g}"]
    return format_columns(
        header,
        [
            [
                row.name,
                f"{row.sentences:,}",
                f"{row.tokens:,}",
                f"{row.types:,}",
                f"{row.singletons:,}",
                percent(row.singletons / max(row.types, 1)),
                f"{row.vocabulary:,}",
            ]
            for row in rows
        ],
    )
