"""A drop-in for KenLM's Python module: `import morphlm.integrations.kenlm as kenlm`; KenLM itself is not needed.

`Model` takes a model directory of any kind, an ARPA file, or a model that is loaded. Scores are decimal logarithms, as
KenLM's are. Names are KenLM's, also where they are spelled otherwise than Python's usually are. Unknown words are UNK,
as in KenLM, unless you ask for more.
"""

from __future__ import annotations

import enum
import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.arguments import shown
from morphlm.errors import FormatError, InputError, MorphlmError, StateError
from morphlm.integrations.cached_scores import LEAST_LOG10, LN10, CachedScores, Word, adapted_model
from morphlm.language_model.base import LanguageModel as MorphlmModel
from morphlm.language_model.guards import no_state
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.ngram.model import NgramModel
from morphlm.scoring.loading import load
from morphlm.scoring.mixture import MixtureModel
from morphlm.scoring.spelled import SpelledModel
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

__all__ = [
    "ARPALoadComplain",
    "Config",
    "FullScoreReturn",
    "LanguageModel",
    "LoadMethod",
    "Model",
    "ModelFileError",
    "State",
]

Text = str | bytes  # bytes are UTF-8


class ModelFileError(FormatError, OSError):
    """A model that cannot be read; an OSError, as KenLM's is."""


# ---------------------------------------------------------------- settings, which client code may pass


class LoadMethod(enum.IntEnum):
    """How KenLM reads its binary files; models of morphlm are always mapped into memory."""

    LAZY = 0
    POPULATE_OR_LAZY = 1
    POPULATE_OR_READ = 2
    READ = 3
    PARALLEL_READ = 4


class ARPALoadComplain(enum.IntEnum):
    """How much KenLM says about slow ARPA files; morphlm says nothing."""

    ALL = 0
    EXPENSIVE = 1
    NONE = 2


@dataclass
class Config:
    """Accepted, so that programs written for KenLM run unchanged; nothing in it changes a score."""

    load_method: LoadMethod = LoadMethod.POPULATE_OR_READ
    show_progress: bool = True
    arpa_complain: ARPALoadComplain = ARPALoadComplain.ALL


# ---------------------------------------------------------------- states


@functools.total_ordering
class State:
    """What a model remembers of the words before; `BeginSentenceWrite`, `NullContextWrite` and `BaseScore` fill it.

    It can be compared, hashed, copied and pickled. Equal states have the same future.
    """

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None  # the state of the model, None before it is filled

    def __eq__(self, other: object) -> bool:
        return self.value == other.value if isinstance(other, State) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return bool(self.value < other.value) if isinstance(other, State) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"State({shown(self.value)})"


@dataclass(frozen=True)
class FullScoreReturn:
    """A score with what it rests on."""

    log_prob: float  # log10
    ngram_length: int  # how many words the longest n-gram that was found has, the scored one included
    oov: bool  # whether the word is unknown


# ---------------------------------------------------------------- models


class Model:
    """A model behind the interface of `kenlm.Model`."""

    def __init__(
        self,
        path: Text | os.PathLike[str] | MorphlmModel,
        config: Config | None = None,
        *,
        unknown_contexts: UnknownContexts = "unk",
        open_vocabulary: bool = False,
    ) -> None:
        """Load a model directory or an ARPA file, or take a model that is loaded.

        KenLM has no such options: where `unknown_contexts` are "composed", words after an unknown one see the sum of
        its known factors instead of UNK; with `open_vocabulary` each unknown word has its own share of P(UNK), by its
        spelling, as with `with_spelling(model)`.
        """
        if isinstance(path, MorphlmModel):
            self.model = path
            self.path = b"" if path.origin is None else os.fsencode(path.origin.directory)
        else:
            self.path = os.path.abspath(os.fsencode(path))  # noqa: PTH100  # bytes, as KenLM's
            self.model = _load(Path(os.fsdecode(path)))
        self.model = adapted_model(self.model, open_vocabulary=open_vocabulary)
        self._prepare(unknown_contexts)

    def _prepare(self, unknown_contexts: UnknownContexts) -> None:
        self.unknown_contexts = unknown_contexts
        # Decoders ask for a word after equal states again and again.
        self._scores = CachedScores(self.model, unknown_contexts)

    @property
    def order(self) -> int:
        """n: a word depends on the n - 1 words before it."""
        return self.model.order

    def score(self, sentence: Text, bos: bool = True, eos: bool = True) -> float:
        """log10 p of the words of a sentence; with `bos` after its start, with `eos` including its end."""
        score, state, total = self._scores.score, self._start(bos), 0.0
        for word in self._ids(sentence, eos):
            logprob, state = score(state, word)
            total += _log10(logprob)
        return total

    def full_scores(self, sentence: Text, bos: bool = True, eos: bool = True) -> Iterator[tuple[float, int, bool]]:
        """log10 p, n-gram length and whether it is unknown, for every word and, with `eos`, the end."""
        state = self._start(bos)
        for word in self._ids(sentence, eos):
            length = self._ngram_length(state, word)
            logprob, state = self._scores.score(state, word)
            yield _log10(logprob), length, _is_unknown(word)

    def perplexity(self, sentence: Text) -> float:
        """10 to the power of -log10 p / N, where N counts the words and the end of the sentence."""
        return float(10.0 ** (-self.score(sentence) / (len(_words(sentence)) + 1)))

    def BeginSentenceWrite(self, state: State) -> None:  # noqa: N802
        """Make it the state at the start of a sentence."""
        _check_state(state).value = self._scores.begin(sentence=True)

    def NullContextWrite(self, state: State) -> None:  # noqa: N802
        """Make it the state that knows nothing of the words before."""
        _check_state(state).value = self._scores.begin(sentence=False)

    def BaseScore(self, in_state: State, word: str, out_state: State) -> float:  # noqa: N802
        """log10 p(word | in_state); `out_state`, which may be the same object, becomes the state after it."""
        logprob, after = self._scores(_filled(in_state).value, self._word_id(word))
        _check_state(out_state).value = after
        return logprob / LN10

    def BaseFullScore(self, in_state: State, word: str, out_state: State) -> FullScoreReturn:  # noqa: N802
        """As `BaseScore`, with the length of the n-gram and whether the word is unknown."""
        number = self._word_id(word)
        length = self._ngram_length(_filled(in_state).value, number)
        return FullScoreReturn(self.BaseScore(in_state, word, out_state), length, _is_unknown(number))

    def __contains__(self, word: Text) -> bool:
        """Whether the word is known; the marks of a sentence's start and end are, <unk> is not."""
        return not _is_unknown(self._word_id(_decoded(word)))

    def __repr__(self) -> str:
        name = Path(os.fsdecode(self.path)).name or self.model.kind
        return f"<Model from {name}>"

    def __getstate__(self) -> tuple[MorphlmModel, bytes, UnknownContexts]:
        return self.model, self.path, self.unknown_contexts

    def __setstate__(self, state: tuple[MorphlmModel, bytes, UnknownContexts]) -> None:
        self.model, self.path, unknown_contexts = state
        self._prepare(unknown_contexts)

    # ------------------------------------------------------------ within

    def _start(self, bos: bool) -> Any:
        return self._scores.begin(sentence=bool(bos))

    def _ids(self, sentence: Text, eos: bool) -> list[Word]:
        return [*map(self._word_id, _words(sentence)), *([END_ID] if eos else [])]

    def _word_id(self, word: str) -> Word:
        if type(word) is not str:
            raise InputError(f"{shown(word)} is no word; give a str")
        return self._scores.word(word)

    def _ngram_length(self, state: Any, word: Word) -> int:
        self.model.check_state(state)
        model = self.model.model if isinstance(self.model, SpelledModel) else self.model
        return _matched(model, state, word if isinstance(word, int) else UNK_ID) or self.model.order


class LanguageModel(Model):
    """The former name of `Model`."""


def _is_unknown(word: Word) -> bool:
    """Only what the vocabulary does not have keeps its form."""
    return word == UNK_ID or isinstance(word, str)


def _load(path: Path) -> MorphlmModel:
    try:
        return load(path)
    except MorphlmError as error:
        raise ModelFileError(str(error)) from error


def _matched(model: MorphlmModel, state: Any, word: int) -> int | None:
    """The length of the longest n-gram that the model, or its first part that has n-grams, finds; None without one."""
    if isinstance(model, NgramModel):
        return model.trie.match_length(state, word)
    if isinstance(model, MixtureModel):
        for component, own in zip(model.components, state[1:], strict=True):
            own_word = word if component.ids is None else int(component.ids[word])
            if (length := _matched(component.model, own, own_word)) is not None:
                return length
    return None


def _words(sentence: Text) -> list[str]:
    """The words between the white space of ASCII, which is what KenLM splits at."""
    encoded = sentence.encode("utf-8", "surrogateescape") if isinstance(sentence, str) else sentence
    if not isinstance(encoded, bytes):
        raise InputError(f"{shown(sentence)} is no sentence; give a str, its words between spaces")
    return [_decoded(word) for word in encoded.split()]


def _decoded(word: Text) -> str:
    """Bytes that are no UTF-8 stand for an unknown word, as in KenLM."""
    return word.decode("utf-8", "surrogateescape") if isinstance(word, bytes) else word


def _log10(logprob: float) -> float:
    """From a natural logarithm; what is impossible has the least that KenLM gives."""
    return max(logprob / LN10, LEAST_LOG10)


def _check_state(state: State) -> State:
    if not isinstance(state, State):
        raise no_state(state)
    return state


def _filled(state: State) -> State:
    if _check_state(state).value is None:
        raise StateError("the state is empty; fill it with BeginSentenceWrite or NullContextWrite first")
    return state
