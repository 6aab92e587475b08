"""Models for flashlight's beam search with a lexicon, in speech recognition and OCR by CTC.

`build_lexicon_decoder` makes everything that a search needs. With a search of your own, `language_model` gives what
flashlight's decoders take as `lm`; scores are decimal logarithms, as those of flashlight's KenLM.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Array
from morphlm.errors import ConfigError, InputError
from morphlm.extras import import_package
from morphlm.integrations.cached_scores import LEAST_LOG10, LN10, adapted_model
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.scoring.spelled import SpelledModel
from morphlm.tables import counted
from morphlm.text.reading import RESERVED, UNKNOWN

__all__ = ["Hypothesis", "LexiconDecoder", "build_lexicon_decoder", "language_model"]

Lexicon = Mapping[str, Iterable[Sequence[str]]]  # the spellings of each word as tokens


@dataclass(frozen=True)
class Hypothesis:
    """A text that was found."""

    words: tuple[str, ...]
    score: float  # of the whole: emissions, language model and word scores
    emission_score: float
    lm_score: float  # log10, before the weight
    tokens: tuple[str, ...]  # one for each frame


class LexiconDecoder:
    """A beam search over the words of a lexicon; `build_lexicon_decoder` makes one. Not for several threads at once."""

    def __init__(self, decoder: Any, lm: Any, tokens: Any, words: Any) -> None:
        """Take flashlight's decoder, its language model, and its dictionaries of tokens and words."""
        self._decoder, self._tokens, self._words = decoder, tokens, words
        self._lm = lm  # the decoder does not keep its Python part alive

    def decode(self, emissions: Array) -> list[Hypothesis]:
        """The hypotheses for log-probabilities of tokens, (frames, tokens), the best first."""
        frames = np.ascontiguousarray(emissions, np.float32)
        if frames.ndim != 2 or frames.shape[1] != self._tokens.index_size():
            tokens = counted(self._tokens.index_size(), "token")
            raise InputError(f"emissions of shape {frames.shape} do not fit {tokens}; give (frames, tokens)")
        if np.isnan(frames).any():
            raise InputError("some emissions are not a number; give log-probabilities")
        return [self._hypothesis(found) for found in self._decoder.decode(frames.ctypes.data, *frames.shape)]

    def _hypothesis(self, found: Any) -> Hypothesis:
        words = tuple(self._words.get_entry(index) for index in found.words if index >= 0)
        tokens = tuple(self._tokens.get_entry(index) for index in found.tokens if index >= 0)
        return Hypothesis(words, found.score, found.emittingModelScore, found.lmScore, tokens)


def language_model(
    model: LanguageModel | str | os.PathLike[str],
    words: Any,
    *,
    unknown_contexts: UnknownContexts = "unk",
    open_vocabulary: bool = False,
) -> Any:
    """A model of any kind, or its directory, as flashlight's `LM`; `words` is its dictionary of the lexicon's words.

    Words that the model does not know are scored as UNK, unless `open_vocabulary` gives each its own share of P(UNK) by
    its spelling. Where `unknown_contexts` are "composed", the words after one see the sum of its known factors instead
    of UNK. Keep the object as long as a decoder uses it.
    """
    adapter = import_package("morphlm.integrations.flashlight_lm", "flashlight-text", "lexicon decoding needs")
    return adapter.FlashlightLM(adapted_model(model, open_vocabulary=open_vocabulary), words, unknown_contexts)


def build_lexicon_decoder(
    tokens: Sequence[str],
    model: LanguageModel | str | os.PathLike[str],
    lexicon: Lexicon | None = None,
    *,
    blank: str = "-",
    silence: str = "|",
    lm_weight: float = 2.0,
    word_score: float = 0.0,
    unk_score: float = -math.inf,
    sil_score: float = 0.0,
    beam_size: int = 100,
    beam_size_token: int | None = None,
    beam_threshold: float = 50.0,
    log_add: bool = False,
    unknown_contexts: UnknownContexts = "unk",
    open_vocabulary: bool = False,
) -> LexiconDecoder:
    """A CTC beam search of flashlight with a model of any kind, or its directory.

    `tokens` are those of the emissions' columns, with `blank` and `silence`, the separator of words, among them. The
    `lexicon` has the spellings of each word; by default every known word that the tokens can spell is spelled by its
    letters and a silence. `unk_score` above minus infinity admits words that are not in the lexicon. What
    `unknown_contexts` and `open_vocabulary` make of words of the lexicon that the model does not know,
    `language_model` tells. The other settings are flashlight's.
    """
    decoder = import_package("flashlight.lib.text.decoder", "flashlight-text", "lexicon decoding needs")
    dictionary = import_package("flashlight.lib.text.dictionary", "flashlight-text", "lexicon decoding needs")
    model = adapted_model(model, open_vocabulary=open_vocabulary)
    for mark in (blank, silence):
        if mark not in tokens:
            raise ConfigError(f"{mark!r} is not among the tokens; name the blank and the silence of the emissions")
    spellings = _spellings(model, tokens, silence) if lexicon is None else _checked(lexicon, tokens)
    token_dict, word_dict = _dictionary(dictionary, tokens), _dictionary(dictionary, [*spellings, UNKNOWN])
    lm = language_model(model, word_dict, unknown_contexts=unknown_contexts)
    options = decoder.LexiconDecoderOptions(
        beam_size=beam_size,
        beam_size_token=len(tokens) if beam_size_token is None else beam_size_token,
        beam_threshold=beam_threshold,
        lm_weight=lm_weight,
        word_score=word_score,
        unk_score=unk_score,
        sil_score=sil_score,
        log_add=log_add,
        criterion_type=decoder.CriterionType.CTC,
    )
    search = decoder.LexiconDecoder(
        options,
        _trie(decoder, model, spellings, token_dict, word_dict, silence),
        lm,
        token_dict.get_index(silence),
        token_dict.get_index(blank),
        word_dict.get_index(UNKNOWN),
        [],
        False,
    )
    return LexiconDecoder(search, lm, token_dict, word_dict)


def _dictionary(dictionary: Any, entries: Iterable[str]) -> Any:
    """flashlight's dictionary with these entries, numbered in their order."""
    made = dictionary.Dictionary()
    for entry in entries:
        made.add_entry(entry)
    return made


def _spellings(model: LanguageModel, tokens: Sequence[str], silence: str) -> dict[str, list[list[str]]]:
    """The known words by their letters, with a silence behind."""
    letters = set(tokens)
    words = [word for word in model.vocabulary.words[len(RESERVED) :] if letters.issuperset(word)]
    if not words:
        raise ConfigError("the tokens can spell no word of the model; are they in another case? give a lexicon")
    return {word: [[*word, silence]] for word in words}


def _checked(lexicon: Lexicon, tokens: Sequence[str]) -> dict[str, list[list[str]]]:
    """The lexicon, whose spellings have nothing but tokens in them, and some."""
    known, checked = set(tokens), {}
    for word, spellings in lexicon.items():
        checked[word] = [list(spelling) for spelling in spellings]
        for spelling in checked[word]:
            if not spelling or not known.issuperset(spelling):
                raise InputError(
                    f"the spelling {spelling} of {word!r} is empty or has more than the tokens; correct it"
                )
    return checked


def _trie(
    decoder: Any,
    model: LanguageModel,
    spellings: Mapping[str, list[list[str]]],
    token_dict: Any,
    word_dict: Any,
    silence: str,
) -> Any:
    """The lexicon as a trie; a node has the best score that a word below it has at the start of a sentence."""
    trie = decoder.Trie(token_dict.index_size(), token_dict.get_index(silence))
    words = list(spellings) if isinstance(model, SpelledModel) else model.vocabulary.encode(list(spellings))
    scores = np.maximum(model.score_grid([model.begin()], words)[0] / LN10, LEAST_LOG10).tolist()
    for (word, of_word), score in zip(spellings.items(), scores, strict=True):
        for spelling in of_word:
            trie.insert([token_dict.get_index(token) for token in spelling], word_dict.get_index(word), score)
    trie.smear(decoder.SmearingMode.MAX)
    return trie
