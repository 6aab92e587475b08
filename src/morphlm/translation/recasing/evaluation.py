"""How well capitals are restored on text that was not learned from, next to simpler ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import InputError, located
from morphlm.tables import Table
from morphlm.text.prepare import prepare_line
from morphlm.text.reading import read_blocks
from morphlm.translation.recasing.positions import capital_positions, has_letters
from morphlm.translation.recasing.recaser import Recaser, lowercase_by
from morphlm.translation.recasing.training import with_case


@dataclass(frozen=True)
class RecasingAccuracy:
    """Shares of the words that are written as in the text; words are tokens with letters."""

    words: int
    inner_words: int  # those that do not begin a sentence, where the capital is no question
    recaser: float
    most_frequent: float  # by the most frequent form of each word
    small_letters: float  # if all stays as it is
    inner_recaser: float
    inner_most_frequent: float
    inner_small_letters: float

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def to_table(self) -> Table:
        rows = [
            [name, f"{100 * everywhere:.2f}", f"{100 * inner:.2f}"]
            for name, everywhere, inner in (
                ("recaser", self.recaser, self.inner_recaser),
                ("most frequent form", self.most_frequent, self.inner_most_frequent),
                ("small letters", self.small_letters, self.inner_small_letters),
            )
        ]
        note = f"words written as in the text, in per cent, of {self.words:,} and of {self.inner_words:,}"
        return Table(["", "all words", "not at the beginning"], rows, (note,))


def evaluate_recaser(recaser: Recaser, text: str | Path | Iterable[Sequence[str]]) -> RecasingAccuracy:
    """Take the capitals of a `text` away, a raw file or lists of tokens, and let the `recaser` restore them."""
    lowercase = lowercase_by(recaser.options)
    right = {name: [0, 0] for name in ("recaser", "most_frequent", "small_letters")}
    totals = [0, 0]
    for tokens in _sentences(recaser, text) if isinstance(text, str | Path) else text:
        small = [lowercase(token) for token in tokens]
        results = {
            "recaser": recaser.recase(small),
            "most_frequent": recaser.most_frequent(small),
            "small_letters": small,
        }
        beginnings = capital_positions(tokens)
        for position, token in enumerate(tokens):
            if has_letters(token):
                kinds = (0,) if position in beginnings else (0, 1)
                for kind in kinds:
                    totals[kind] += 1
                    for name, result in results.items():
                        right[name][kind] += result[position] == token
    if not totals[0]:
        raise InputError("there is no word with letters in it; give other text", source=_name(text))
    shares = {
        prefix + name: counts[kind] / max(totals[kind], 1)
        for kind, prefix in enumerate(("", "inner_"))
        for name, counts in right.items()
    }
    return RecasingAccuracy(words=totals[0], inner_words=totals[1], **shares)


def _name(text: object) -> str:
    return str(text) if isinstance(text, str | Path) else "<sentences>"


def _sentences(recaser: Recaser, path: str | Path) -> Iterable[list[str]]:
    options = with_case(recaser.options)
    for block in read_blocks(path):
        for number, line in enumerate(block.lines(), block.first_line):
            with located(block.source, number):
                tokens = prepare_line(line, options)
            yield tokens
