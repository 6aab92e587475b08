"""The n-gram model as a language model: scoring by words and states, saving, loading, ARPA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arguments import whole_number
from morphlm.arrays import BLOCK_ITEMS, Array, Float64Array, Int32Array, Int64Array
from morphlm.errors import ConfigError, FormatError
from morphlm.files import existing_folder
from morphlm.language_model.addition import EXTENDED, Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import Words, asked_words, state_list, states_and_words
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import UnknownContexts, composes
from morphlm.lazy import cached_property
from morphlm.modelfile import TENSORS, ModelFiles, check_self_test, write_model
from morphlm.ngram.arpa.reading import read_arpa
from morphlm.ngram.arpa.writing import write_arpa
from morphlm.ngram.bounded.storage import TemporaryFolder
from morphlm.ngram.extending import extend_trie
from morphlm.ngram.kernels import ROOT, score_word_at
from morphlm.ngram.quantised import in_memory, pack, unpack
from morphlm.ngram.trie import NgramTrie
from morphlm.schema import SchemaError
from morphlm.tables import counted
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, VOCABULARY_FILE, Vocabulary, parse_vocabulary

_ARRAYS = ("words", "logprob", "suffix", "backoff", "first_child")
CACHE_SOURCE = "cache"  # where a cache comes from that is fixed by a text
_KIND_OF_SOURCE = {"arpa": "arpa", CACHE_SOURCE: "frozen-cache"}  # other models are trained here
NGRAM_KINDS = ("mkn", *_KIND_OF_SOURCE.values())
TRUST_BUCKETS = 16  # of contexts of one length, by how much mass they keep for themselves


class NgramModel(LanguageModel, checks_itself=True):
    """Interpolated modified Kneser-Ney, or any back-off model that was read from an ARPA file."""

    _one_by_one = 30

    def __init__(self, trie: NgramTrie, vocabulary: Vocabulary, training: dict[str, Any]) -> None:
        """Take a compiled trie whose unigrams are the words of the vocabulary."""
        self.trie, self.vocabulary, self.training = trie, vocabulary, training
        self.order = trie.order
        self._id_of, self._contexts, self._address = vocabulary.ids.get, trie.contexts, trie.address
        self.kind = kind_of_source(training)

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> int:
        """The trie node of <s>, or with `sentence=False` the root, whose context is empty."""
        composes(unknown_contexts)  # which changes nothing: an unknown word is UNK in any context
        return self.trie.begin() if sentence else ROOT

    def is_state(self, state: int) -> bool:
        return self.trie.is_state(state)

    def score(self, state: int, word: str) -> tuple[float, int]:
        number = self._id_of(word) if type(word) is str else None
        if number is None or type(state) is not int or not ROOT <= state < self._contexts:
            return super().score(state, word)
        scored: tuple[float, int] = score_word_at(self._address, state, number)  # what score_id does, sooner
        return scored

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        return self.trie.score(state, word)

    def sentence(self, sentence: str | Sequence[str], *, bos: bool = True, eos: bool = True) -> list[float]:
        """Short lists of words of the vocabulary, the usual case, are scored as they are looked up."""
        if type(sentence) is not list or not 0 < len(sentence) < self._one_by_one or not bos:
            return super().sentence(sentence, bos=bos, eos=eos)
        logprobs, state, address, id_of = [], self.trie.begin(), self._address, self._id_of
        try:
            for token in sentence:
                number = id_of(token, UNK_ID)
                if number <= END_ID:  # no word of the vocabulary: it may be no word at all
                    return super().sentence(sentence, eos=eos)
                logprob, state = score_word_at(address, state, number)
                logprobs.append(logprob)
        except TypeError:  # it cannot be looked up
            return super().sentence(sentence, eos=eos)
        if eos:
            logprobs.append(score_word_at(address, state, END_ID)[0])
        return logprobs

    def _score_in_turn(self, words: Sequence[int], state: int) -> list[float]:
        logprobs, address = [], self._address
        for word in words:
            logprob, state = score_word_at(address, state, word)
            logprobs.append(logprob)
        return logprobs

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        return self.trie.score_tokens(tokens)

    def score_many(self, states: Sequence[int], words: Words) -> tuple[Float64Array, list[Any]]:
        listed, asked = states_and_words(states, words, self.vocabulary)
        logprobs, after = self.trie.score_pairs(listed, asked.ids)
        return logprobs, after.tolist()

    def score_grid(self, states: Sequence[int], words: Words) -> Float64Array:
        return self.trie.score_grid(state_list(states), asked_words(words, self.vocabulary).ids)

    def distribution(self, state: int) -> Float64Array:
        distribution: Float64Array = self.trie.distributions([state])[0]
        return distribution

    def distributions(self, states: Sequence[int]) -> Float64Array:
        return self.trie.distributions(state_list(states))

    @property
    def context_buckets(self) -> int:
        """Into how many buckets `bucket_of` sorts states; words alone have no contexts to sort."""
        return self.order * TRUST_BUCKETS if self.order > 1 else 1

    def buckets_before(self, tokens: Int32Array) -> Int64Array:
        """The bucket of the state before every token of encoded sentences, each ending with END."""
        return self.bucket_of(self.trie.states_before(tokens))

    def bucket_of(self, states: Int64Array) -> Int64Array:
        """States by the length of the longest known context and by half powers of two of 1 - gamma, the mass it keeps.

        gamma(h), the weight of backing off, is about D N(h) / c(h) for a context that was seen c(h) times, followed by
        N(h) different words. So contexts are sorted by their mean count c(h) / N(h), as Chen & Goodman (1998) advise;
        the count alone tells less.
        """
        states = self.trie.check_states(states)
        trie, nodes = self.trie, np.maximum(states, 0)
        if len(trie.backoff) == 0:
            return np.zeros(len(states), np.int64)
        kept = np.maximum(-np.expm1(trie.backoff[nodes].astype(np.float64)), 2.0**-TRUST_BUCKETS)
        trust = np.clip(np.floor(-2.0 * np.log2(kept)), 0, TRUST_BUCKETS - 1).astype(np.int64)
        length = 1 + np.searchsorted(np.cumsum(trie.sizes), nodes, side="right")
        return np.where(states < 0, 0, length * TRUST_BUCKETS + trust)

    def bucket_of_state(self, state: int) -> int:
        """The bucket of one state, looked up."""
        if type(state) is not int or not ROOT <= state < self.trie.contexts:
            state = self.trie.check_state(state)
        return int(self._bucket_of_node[state])

    def buckets_of_states(self, states: Sequence[int]) -> list[int]:
        """The buckets of several states."""
        return self._bucket_of_node[self.trie.check_states(states)].tolist()  # type: ignore[no-any-return]

    @cached_property
    def _bucket_of_node(self) -> Int64Array:
        """Of every state; ROOT, which is -1, stands at the end."""
        nodes = np.arange(len(self.trie.backoff) + 1)
        nodes[-1] = -1
        return self.bucket_of(nodes)

    def describe_bucket(self, bucket: int) -> str:
        """What contexts a bucket holds, in words."""
        bucket = whole_number("the number of a bucket", bucket)
        if bucket >= self.context_buckets:
            raise ConfigError(f"there are {self.context_buckets} buckets, so none has the number {bucket}")
        length, trust = divmod(bucket, TRUST_BUCKETS)
        words = counted(length, "word")
        return f"{words}, keeps up to {2 ** (-trust / 2):.3f}" if length else "no words"

    @property
    def scores_unknown(self) -> bool:
        return bool(self.trie.logprob[UNK_ID] > -np.inf)

    @property
    def warnings(self) -> list[str]:
        """What was unusual in training."""
        return [entry["warning"] for entry in self.training.get("discounts", []) if entry["warning"]]

    def _with_addition(self, addition: Addition) -> NgramModel:
        if not self.scores_unknown:
            raise ConfigError(
                "this n-gram model gives unknown words no probability, so there is nothing that new words could share; "
                "train one with an open vocabulary"
            )
        added = self.training.get(EXTENDED, 0) + len(addition.words)
        vocabulary = self.vocabulary.with_words(addition.words)
        return NgramModel(extend_trie(self.trie, addition), vocabulary, self.training | {EXTENDED: added})

    def write_arpa(self, path: str | Path) -> None:
        """Write the model in ARPA format, compressed if the name says so."""
        write_arpa(path, self.trie, self.vocabulary)

    @property
    def is_quantised(self) -> bool:
        """Whether its values are rounded to 256 an order, and its files compact.

        An extended model is written like others: the compact file does not know which words are members of UNK.
        """
        return bool(self.training.get("quantise")) and not self.training.get(EXTENDED)

    def _tensors(self, folder: TemporaryFolder) -> dict[str, Array]:
        """What is stored; large arrays that are made for it lie in a folder, as they may not fit into memory."""
        if not self.is_quantised:
            return {name: getattr(self.trie, name) for name in _ARRAYS}
        is_large = len(self.trie.words) > BLOCK_ITEMS
        return pack(self.trie, folder.collect if is_large else in_memory)

    def save(self, directory: str | Path) -> None:
        bits = {"bits": 8} if self.is_quantised else {}
        with TemporaryFolder(existing_folder(directory)) as folder:
            tensors = self._tensors(folder)
        files = ModelFiles(
            kind=self.kind,
            configuration={"order": self.order, "sizes": list(self.trie.sizes)} | bits,
            training=self.training,
            tensors=tensors,
            texts={VOCABULARY_FILE: self.vocabulary.to_tsv()},
            self_test=self.self_test(),
        )
        self.origin = Origin.of(self, directory, write_model(directory, files))


def kind_of_source(training: Mapping[str, Any]) -> str:
    """The kind of an n-gram model, by the record of where it comes from."""
    return _KIND_OF_SOURCE.get(training.get("source", ""), "mkn")


def ngram_from_files(directory: str | Path, files: ModelFiles) -> NgramModel:
    """The model that a checked directory holds; its self-test is run."""
    vocabulary = parse_vocabulary(files.texts[VOCABULARY_FILE], f"{directory}/{VOCABULARY_FILE}")
    sizes = tuple(files.configuration["sizes"])
    if "bits" in files.configuration:
        trie = _unpacked(directory, files, sizes)
    else:
        trie = NgramTrie(sizes=sizes, **{name: files.tensors[name] for name in _ARRAYS})
    model = NgramModel(trie, vocabulary, files.training)
    check_self_test(directory, files.self_test, model._score_for_test)
    return model


def _unpacked(directory: str | Path, files: ModelFiles, sizes: tuple[int, ...]) -> NgramTrie:
    try:
        return unpack(files.tensors, sizes)
    except SchemaError as problem:
        raise FormatError(f"{directory}/{TENSORS}: {problem}; copy or make the model again") from problem


def ngram_from_arpa(path: str | Path) -> NgramModel:
    """Read an ARPA file as a model."""
    trie, vocabulary = read_arpa(path)
    return NgramModel(trie, vocabulary, {"source": "arpa"})
