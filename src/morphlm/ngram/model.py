"""The n-gram model as a language model: scoring by words and states, saving, loading, ARPA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.errors import FormatError
from morphlm.language_model.base import LanguageModel, check_unknown_contexts
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.lazy import cached_property
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.ngram.arpa import read_arpa, write_arpa
from morphlm.ngram.kernels import ROOT
from morphlm.ngram.trie import NgramTrie
from morphlm.vocabulary.vocabulary import UNK_ID, VOCABULARY_FILE, Vocabulary, parse_vocabulary

_ARRAYS = {"words": np.int32, "logprob": np.float32, "suffix": np.int32, "backoff": np.float32, "first_child": np.int64}
TRUST_BUCKETS = 16  # of contexts of one length, by how much mass they keep for themselves


class NgramModel(LanguageModel):
    """Interpolated modified Kneser-Ney, or any back-off model that was read from an ARPA file."""

    def __init__(self, trie: NgramTrie, vocabulary: Vocabulary, training: dict[str, Any]) -> None:
        """Take a compiled trie whose unigrams are the words of the vocabulary."""
        self.trie, self.vocabulary, self.training = trie, vocabulary, training
        self.order = trie.order
        self.kind = "arpa" if training.get("source") == "arpa" else "mkn"

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> int:
        """The trie node of <s>, or with `sentence=False` the root, whose context is empty."""
        check_unknown_contexts(self.kind, unknown_contexts)
        return self.trie.begin() if sentence else ROOT

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        return self.trie.score(state, word)

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        return self.trie.score_tokens(tokens)

    def distribution(self, state: int) -> Float64Array:
        return self.trie.distribution(state)

    @property
    def context_buckets(self) -> int:
        """Into how many buckets `bucket_of` sorts states."""
        return self.order * TRUST_BUCKETS

    def buckets_before(self, tokens: Int32Array) -> Int64Array:
        """The bucket of the state before every token of encoded sentences, each ending with END."""
        return self.bucket_of(self.trie.states_before(tokens))

    def bucket_of(self, states: Int64Array) -> Int64Array:
        """States by the length of the longest known context and by half powers of two of 1 - gamma, the mass it keeps.

        gamma(h), the weight of backing off, is about D N(h) / c(h) for a context that was seen c(h) times, followed by
        N(h) different words. So contexts are sorted by their mean count c(h) / N(h), as Chen & Goodman (1998) advise;
        the count alone tells less.
        """
        trie, nodes = self.trie, np.maximum(states, 0)
        if len(trie.backoff) == 0:
            return np.zeros(len(states), np.int64)
        kept = np.maximum(-np.expm1(trie.backoff[nodes].astype(np.float64)), 2.0**-TRUST_BUCKETS)
        trust = np.clip(np.floor(-2.0 * np.log2(kept)), 0, TRUST_BUCKETS - 1).astype(np.int64)
        length = 1 + np.searchsorted(np.cumsum(trie.sizes), nodes, side="right")
        return np.where(states < 0, 0, length * TRUST_BUCKETS + trust)

    def bucket_of_state(self, state: int) -> int:
        """The bucket of one state, looked up."""
        return int(self._bucket_of_node[state])

    @cached_property
    def _bucket_of_node(self) -> Int64Array:
        """Of every state; ROOT, which is -1, stands at the end."""
        nodes = np.arange(len(self.trie.backoff) + 1)
        nodes[-1] = -1
        return self.bucket_of(nodes)

    def describe_bucket(self, bucket: int) -> str:
        """What contexts a bucket holds, in words."""
        length, trust = divmod(bucket, TRUST_BUCKETS)
        words = "1 word" if length == 1 else f"{length} words"
        return f"{words}, keeps up to {2 ** (-trust / 2):.3f}" if length else "no words"

    @property
    def scores_unknown(self) -> bool:
        return bool(self.trie.logprob[UNK_ID] > -np.inf)

    @property
    def warnings(self) -> list[str]:
        """What was unusual in training."""
        return [entry["warning"] for entry in self.training.get("discounts", []) if entry["warning"]]

    def write_arpa(self, path: str | Path) -> None:
        """Write the model in ARPA format, compressed if the name says so."""
        write_arpa(path, self.trie, self.vocabulary)

    def save(self, directory: str | Path) -> None:
        files = ModelFiles(
            kind=self.kind,
            configuration={"order": self.order, "sizes": list(self.trie.sizes)},
            training=self.training,
            tensors={name: getattr(self.trie, name) for name in _ARRAYS},
            texts={VOCABULARY_FILE: self.vocabulary.to_tsv()},
            self_test=self.self_test(),
        )
        self.origin = Origin.of(self, directory, write_model(directory, files))


def ngram_from_files(directory: str | Path, files: ModelFiles) -> NgramModel:
    """The model that a checked directory holds; its self-test is run."""
    try:
        vocabulary = parse_vocabulary(files.texts[VOCABULARY_FILE], f"{directory}/{VOCABULARY_FILE}")
        trie = NgramTrie(sizes=tuple(files.configuration["sizes"]), **{name: files.tensors[name] for name in _ARRAYS})
    except KeyError as error:
        raise FormatError(f"{directory}: {error.args[0]} is missing; make the model again") from error
    _check_shapes(directory, trie, len(vocabulary))
    model = NgramModel(trie, vocabulary, files.training)
    check_self_test(directory, files.self_test, model.sentence)
    return model


def _check_shapes(directory: str | Path, trie: NgramTrie, vocabulary_size: int) -> None:
    """Arrays that do not belong together would be read beyond their ends by the kernels."""
    nodes, inner = sum(trie.sizes), sum(trie.sizes[:-1])
    expected = {"words": nodes, "logprob": nodes, "suffix": nodes, "backoff": inner, "first_child": inner + 1}
    for name, length in expected.items():
        if getattr(trie, name).shape != (length,):
            raise FormatError(f"{directory}: {name} does not fit the number of n-grams; make the model again")
    if any(getattr(trie, name).dtype != dtype for name, dtype in _ARRAYS.items()) or not _is_a_trie(trie):
        raise FormatError(f"{directory}: the arrays are no n-grams; make the model again")
    if trie.sizes[0] != vocabulary_size:
        raise FormatError(f"{directory}: the vocabulary and the unigrams differ; make the model again")


def _is_a_trie(trie: NgramTrie) -> bool:
    """Whether all numbers of words and nodes lie where they must."""
    nodes, children = len(trie.words), trie.first_child
    return bool(
        (trie.words >= 0).all()
        and (trie.words < trie.sizes[0]).all()
        and (trie.suffix >= -1).all()
        and (trie.suffix < np.arange(nodes)).all()  # the suffix is of a lower order
        and (children[:-1] <= children[1:]).all()
        and children[0] >= 0
        and children[-1] <= nodes
    )


def ngram_from_arpa(path: str | Path) -> NgramModel:
    """Read an ARPA file as a model."""
    trie, vocabulary = read_arpa(path)
    return NgramModel(trie, vocabulary, {"source": "arpa"})
