"""The n-gram model as a language model: scoring by words and states, saving, loading, ARPA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.errors import FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.ngram.arpa import read_arpa, write_arpa
from morphlm.ngram.trie import Trie
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import UNK_ID, Vocabulary, parse_vocabulary

VOCABULARY_FILE = "vocabulary.tsv"
_ARRAYS = ("words", "logprob", "suffix", "backoff", "first_child")


class NgramModel(LanguageModel):
    """Interpolated modified Kneser-Ney, or any back-off model that was read from an ARPA file."""

    def __init__(self, trie: Trie, vocabulary: Vocabulary, training: dict[str, Any]) -> None:
        """Take a compiled trie whose unigrams are the words of the vocabulary."""
        self.trie, self.vocabulary, self.training = trie, vocabulary, training
        self.order = trie.order
        self.kind = "arpa" if training.get("source") == "arpa" else "mkn"

    def begin(self) -> int:
        """The state at the start of a sentence."""
        return self.trie.begin()

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        """ln p(word | state) and the state after it."""
        return self.trie.score(state, word)

    def score_tokens(self, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
        """ln p of every token of encoded sentences, each ending with END."""
        return self.trie.score_tokens(tokens)

    def distribution(self, state: int) -> NDArray[np.float64]:
        """p of every word after a state, by id."""
        return self.trie.distribution(state)

    @property
    def scores_unknown(self) -> bool:
        """Whether words that are not known have a probability."""
        return bool(self.trie.logprob[UNK_ID] > -np.inf)

    @property
    def warnings(self) -> list[str]:
        """What was unusual in training."""
        return [entry["warning"] for entry in self.training.get("discounts", []) if entry["warning"]]

    def write_arpa(self, path: str | Path) -> None:
        """Write the model in ARPA format, compressed if the name says so."""
        write_arpa(path, self.trie, self.vocabulary)

    def save(self, directory: str | Path) -> None:
        """Write the model directory; one that is there is replaced in one step."""
        files = ModelFiles(
            kind=self.kind,
            configuration={"order": self.order, "sizes": list(self.trie.sizes)},
            training=self.training,
            tensors={name: getattr(self.trie, name) for name in _ARRAYS},
            texts={VOCABULARY_FILE: self.vocabulary.to_tsv()},
            self_test=[self._self_test_case(tokens) for tokens in self._self_test_sentences()],
        )
        write_model(directory, files)

    def _self_test_sentences(self) -> list[list[str]]:
        """Some likely words, some rare ones, and one that cannot be known if the model has a place for it."""
        words = self.vocabulary.words[len(RESERVED) :]
        unknown = [["\N{SNOWMAN}\N{SNOWMAN}"]] if self.scores_unknown else []
        return [[], list(words[:5]), list(words[-5:]), *unknown]

    def _self_test_case(self, tokens: list[str]) -> dict[str, Any]:
        return {"tokens": tokens, "logprobs": [round(logprob, 6) for logprob in self.sentence(tokens)]}


def ngram_from_files(directory: str | Path, files: ModelFiles) -> NgramModel:
    """The model that a checked directory holds; its self-test is run."""
    try:
        vocabulary = parse_vocabulary(files.texts[VOCABULARY_FILE], f"{directory}/{VOCABULARY_FILE}")
        trie = Trie(sizes=tuple(files.configuration["sizes"]), **{name: files.tensors[name] for name in _ARRAYS})
    except KeyError as error:
        raise FormatError(f"{directory}: {error.args[0]} is missing; make the model again") from error
    _check_shapes(directory, trie, len(vocabulary))
    model = NgramModel(trie, vocabulary, files.training)
    check_self_test(directory, files.self_test, model.sentence)
    return model


def _check_shapes(directory: str | Path, trie: Trie, vocabulary_size: int) -> None:
    """Arrays that do not belong together would be read beyond their ends by the kernels."""
    nodes, inner = sum(trie.sizes), sum(trie.sizes[:-1])
    expected = {"words": nodes, "logprob": nodes, "suffix": nodes, "backoff": inner, "first_child": inner + 1}
    for name, length in expected.items():
        if getattr(trie, name).shape != (length,):
            raise FormatError(f"{directory}: {name} does not fit the number of n-grams; make the model again")
    if trie.sizes[0] != vocabulary_size:
        raise FormatError(f"{directory}: the vocabulary and the unigrams differ; make the model again")


def ngram_from_arpa(path: str | Path) -> NgramModel:
    """Read an ARPA file as a model."""
    trie, vocabulary = read_arpa(path)
    return NgramModel(trie, vocabulary, {"source": "arpa"})
