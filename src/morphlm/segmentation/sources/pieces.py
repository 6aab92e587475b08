"""Pieces of words from sentencepiece (unigram or BPE), trained on the words of a vocabulary.

A piece at the beginning of a word carries sentencepiece's mark (`▁ne`), as a factor's name too, which tells it
from the same letters further inside. Nothing is normalised: the pieces of a word, joined, are the word.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, FormatError
from morphlm.extras import import_extra, is_installed
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.segmentation.encoding import normalised
from morphlm.segmentation.morphemes import Morpheme, Segmentation, keep_letters_whole
from morphlm.segmentation.sources.factorisation import Factorisation, kind_text
from morphlm.tables import counted
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary

PieceModel = Literal["unigram", "bpe"]
PieceCounts = Literal["types", "tokens"]

MARK = "▁"  # sentencepiece's sign for the beginning of a word
MODEL = "analyser.model"  # the tensor with the bytes that sentencepiece writes
THREADS = 4  # a fixed number, because the order in which unigram adds up its shares depends on it


@dataclass(frozen=True)
class PieceAnalyser(PickledWithoutCaches):
    """A trained sentencepiece model, which knows the pieces of any word.

    The package sentencepiece is needed from the first word on, not for loading.
    """

    model: bytes  # what sentencepiece writes to NAME.model
    source: str

    __repr__ = dataclass_repr

    @cached_property
    def _processor(self) -> Any:
        sentencepiece = _sentencepiece()
        try:
            processor = sentencepiece.SentencePieceProcessor(model_proto=self.model) if self.model else None
        except RuntimeError as error:
            raise _unreadable(error) from error
        if processor is None:  # which sentencepiece takes for a model without pieces
            raise _unreadable("it is empty")
        return processor

    def checked(self) -> PieceAnalyser:
        """The same, if sentencepiece can read the model or is not there to try it."""
        if is_installed("sentencepiece"):
            self._encoded("a")
        return self

    def _encoded(self, word: str) -> list[str]:
        try:
            return list(self._processor.encode(word, out_type=str))
        except RuntimeError as error:
            raise _unreadable(error) from error

    def pieces_of(self, word: str) -> list[str]:
        """The pieces of a word under the names that sentencepiece gives them."""
        forms = self._forms(word)
        return [MARK + forms[0], *forms[1:]]

    def segment(self, word: str) -> tuple[Morpheme, ...]:
        """The pieces of a word as morphemes without labels."""
        return tuple(map(Morpheme, self._forms(word)))

    def segmentation(self, words: Iterable[str]) -> Segmentation:
        """The pieces of some words, for instance to compare their boundaries with gold."""
        return Segmentation({word: self.segment(word) for word in words})

    def factorisation(self) -> Factorisation:
        """The pieces as factors, of seen words and of others."""
        return Factorisation(self.pieces_of, self.source, self)

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        return (self.pieces_of(normalised(word)) if word else () for word in words)

    def to_texts(self) -> dict[str, str]:
        return kind_text(kind="pieces", source=self.source)

    def to_tensors(self) -> dict[str, Array]:
        return {MODEL: np.frombuffer(self.model, np.uint8)}

    def _forms(self, word: str) -> list[str]:
        pieces = self._encoded(word)
        if "".join(pieces) != MARK + word:
            return [word]  # it has the mark at its end
        forms = [form for form in (pieces[0].removeprefix(MARK), *pieces[1:]) if form]
        return [morpheme.form for morpheme in keep_letters_whole([Morpheme(form) for form in forms])]


def train_pieces(
    words: Mapping[str, int], *, model: PieceModel = "unigram", size: int = 8000, counts: PieceCounts = "types"
) -> PieceAnalyser:
    """Train sentencepiece on words and their counts; `size` is the largest number of pieces.

    Each word counts once by default. With "tokens" it counts as often as it occurs, as in running text: then frequent
    words stay whole and rare ones fall into letters. The pieces do not depend on the number of processors.
    """
    if not words:
        raise ConfigError("there are no words to train sentencepiece on; give a vocabulary with words")
    trainer = _sentencepiece().SentencePieceTrainer
    written = io.BytesIO()
    try:
        trainer.train(
            **_input(words, counts),
            model_writer=written,
            model_type=model,
            vocab_size=size,
            hard_vocab_limit=False,  # few words give fewer pieces
            normalization_rule_name="identity",
            bos_id=-1,
            eos_id=-1,
            num_threads=THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        reason = str(error).rpartition("] ")[2].strip().rstrip(".")  # without the line of sentencepiece's source
        raise ConfigError(
            f"sentencepiece refuses {counted(size, 'piece')} ({reason}); ask for another number"
        ) from error
    return PieceAnalyser(written.getvalue(), f"sentencepiece {model} {size} {counts}")


def train_unigram_pieces(size: str, vocabulary: Vocabulary) -> Factorisation:
    """The pieces of a unigram model of `size` pieces, a number as text, trained on the words of a vocabulary."""
    return _train_on(vocabulary, "unigram", size)


def train_bpe_pieces(size: str, vocabulary: Vocabulary) -> Factorisation:
    """The pieces of byte pair encoding with `size` pieces, a number as text."""
    return _train_on(vocabulary, "bpe", size)


def _train_on(vocabulary: Vocabulary, model: PieceModel, size: str) -> Factorisation:
    if not (size.isascii() and size.isdecimal() and len(size) < 9):
        raise ConfigError(f"{model}:{size} is not a number of pieces; write it like {model}:8000")
    counts = zip(vocabulary.words[len(RESERVED) :], vocabulary.counts[len(RESERVED) :].tolist(), strict=True)
    return train_pieces(dict(counts), model=model, size=int(size)).factorisation()


def _input(words: Mapping[str, int], counts: PieceCounts) -> dict[str, Any]:
    # The unigram model takes words with a count, even a count of 1, less well than plain ones.
    if counts == "types":
        return {"sentence_iterator": iter(words), "input_format": "text"}
    return {"sentence_iterator": (f"{word}\t{count}" for word, count in words.items()), "input_format": "tsv"}


def _unreadable(reason: object) -> FormatError:
    cause = " ".join(str(reason).split())[:200]
    return FormatError(f"{MODEL}: sentencepiece cannot read it ({cause}); make the model again")


def _sentencepiece() -> Any:
    return import_extra("sentencepiece", "sentencepiece", "this source of pieces needs")
