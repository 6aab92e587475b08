"""Text as streams of ids: words of a given vocabulary, the characters of each, or pieces of BPE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import sentencepiece
import torch

from morphlm.vocabulary.vocabulary import load_vocabulary

PADDING, BEGIN, END = 0, 1, 2  # in the spelling of a word
LONGEST_WORD = 30


def lines_of(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            tokens = line.split()
            if tokens:
                yield tokens


@dataclass(frozen=True)
class WordStream:
    """Words of a text by falling frequency, as adaptive softmaxes need them; every line ends with </s>."""

    words: tuple[str, ...]  # the first is the most frequent

    @classmethod
    def from_vocabulary(cls, path: Path) -> WordStream:
        vocabulary = load_vocabulary(path)
        by_count = np.argsort(-np.asarray(vocabulary.counts), kind="stable")
        return cls(tuple(vocabulary.words[i] for i in by_count))

    @cached_property
    def ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def encode(self, path: Path) -> tuple[torch.Tensor, int]:
        """The ids of a text, and its tokens as perplexity counts them: words and ends of lines."""
        unknown, end = self.ids["<unk>"], self.ids["</s>"]
        stream = [i for tokens in lines_of(path) for i in (*(self.ids.get(word, unknown) for word in tokens), end)]
        return torch.tensor(stream), len(stream)

    def spellings(self) -> torch.Tensor:
        """The characters of each word, with marks of its begin and end.  # (V, LONGEST_WORD)"""
        letters = {letter: 3 + i for i, letter in enumerate(sorted({letter for word in self.words for letter in word}))}
        table = torch.full((len(self.words), LONGEST_WORD), PADDING)
        for row, word in zip(table, self.words, strict=True):
            spelled = [BEGIN, *(letters[letter] for letter in word[: LONGEST_WORD - 2]), END]
            row[: len(spelled)] = torch.tensor(spelled)
        return table


@dataclass(frozen=True)
class PieceStream:
    """Pieces of BPE, learned from the training text; unknown words are spelled, so that there is no UNK."""

    processor: sentencepiece.SentencePieceProcessor

    @classmethod
    def train(cls, text: Path, prefix: Path, pieces: int) -> PieceStream:
        model = prefix.with_name(prefix.name + ".model")
        if not model.exists():
            sentencepiece.SentencePieceTrainer.train(
                input=str(text),
                model_prefix=str(prefix),
                vocab_size=pieces,
                model_type="bpe",
                character_coverage=1.0,
                byte_fallback=True,
                num_threads=1,
                minloglevel=2,
            )
        return cls(sentencepiece.SentencePieceProcessor(model_file=str(model)))

    def encode(self, path: Path) -> tuple[torch.Tensor, int]:
        """The ids of a text, and the number of its words and ends of lines."""
        end, stream, tokens = self.processor.eos_id(), [], 0
        for words in lines_of(path):
            stream += [*self.processor.encode(" ".join(words)), end]
            tokens += len(words) + 1
        return torch.tensor(stream), tokens

    def __len__(self) -> int:
        return int(self.processor.get_piece_size())


def characters_of(path: Path) -> int:
    """As `morphlm ppl --open-vocabulary` counts them: those of the words, and one for what follows each token."""
    return sum(len(word) + 1 for words in lines_of(path) for word in (*words, ""))
