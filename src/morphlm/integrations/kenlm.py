"""A drop-in for KenLM's Python module: `import morphlm.integrations.kenlm as kenlm`; KenLM itself is not needed.

`Model` takes a model directory of any kind, an ARPA file, or a model that is loaded. Scores are decimal logarithms, as
KenLM's are. Names are KenLM's, also where they are spelled otherwise than Python's usually are.
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
from morphlm.integrations.cached_scores import LEAST_LOG10, LN10, CachedScores
from morphlm.language_model.base import LanguageModel as MorphlmModel
from morphlm.language_model.guards import no_state
from morphlm.ngram.model import NgramModel
from morphlm.scoring.loading import load
from morphlm.scoring.mixture import MixtureModel
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

    def __init__(self, path: Text | os.PathLike[str] | MorphlmModel, config: Config | None = None) -> None:
        """Load a model directory or an ARPA file, or take a model that is loaded."""
        if isinstance(path, MorphlmModel):
            self.model = path
            self.path = b"" if path.origin is None else os.fsencode(path.origin.directory)
        else:
            self.path = os.path.abspath(os.fsencode(path))  # noqa: PTH100  # bytes, as KenLM's
            self.model = _load(Path(os.fsdecode(path)))
        self._prepare()

    def _prepare(self) -> None:
        self._id_of = self.model.vocabulary.ids.get
        self._scores = CachedScores(self.model)  # decoders ask for a word after equal states again and again

    @property
    def order(self) -> int:
        """n: a word depends on the n - 1 words before it."""
        return self.model.order

    def score(self, sentence: Text, bos: bool = True, eos: bool = True) -> float:
        """log10 p of the words of a sentence; with `bos` after its start, with `eos` including its end."""
        score_id, state, total = self.model.score_id, self._start(bos), 0.0
        for word in self._ids(sentence, eos):
            logprob, state = score_id(state, word)
            total += _log10(logprob)
        return total

    def full_scores(self, sentence: Text, bos: bool = True, eos: bool = True) -> Iterator[tuple[float, int, bool]]:
        """log10 p, n-gram length and whether it is unknown, for every word and, with `eos`, the end."""
        state = self._start(bos)
        for word in self._ids(sentence, eos):
            length = self._ngram_length(state, word)
            logprob, state = self.model.score_id(state, word)
            yield _log10(logprob), length, word == UNK_ID

    def perplexity(self, sentence: Text) -> float:
        """10 to the power of -log10 p / N, where N counts the words and the end of the sentence."""
        return float(10.0 ** (-self.score(sentence) / (len(_words(sentence)) + 1)))

    def BeginSentenceWrite(self, state: State) -> None:  # noqa: N802
        """Make it the state at the start of a sentence."""
        _check_state(state).value = self.model.begin()

    def NullContextWrite(self, state: State) -> None:  # noqa: N802
        """Make it the state that knows nothing of the words before."""
        _check_state(state).value = self.model.begin(sentence=False)

    def BaseScore(self, in_state: State, word: str, out_state: State) -> float:  # noqa: N802
        """log10 p(word | in_state); `out_state`, which may be the same object, becomes the state after it."""
        logprob, after = self._scores(_filled(in_state).value, self._word_id(word))
        _check_state(out_state).value = after
        return logprob / LN10

    def BaseFullScore(self, in_state: State, word: str, out_state: State) -> FullScoreReturn:  # noqa: N802
        """As `BaseScore`, with the length of the n-gram and whether the word is unknown."""
        number = self._word_id(word)
        length = self._ngram_length(_filled(in_state).value, number)
        return FullScoreReturn(self.BaseScore(in_state, word, out_state), length, number == UNK_ID)

    def __contains__(self, word: Text) -> bool:
        """Whether the word is known; the marks of a sentence's start and end are, <unk> is not."""
        return self._word_id(_decoded(word)) != UNK_ID

    def __repr__(self) -> str:
        name = Path(os.fsdecode(self.path)).name or self.model.kind
        return f"<Model from {name}>"

    def __getstate__(self) -> tuple[MorphlmModel, bytes]:
        return self.model, self.path

    def __setstate__(self, state: tuple[MorphlmModel, bytes]) -> None:
        self.model, self.path = state
        self._prepare()

    # ------------------------------------------------------------ within

    def _start(self, bos: bool) -> Any:
        return self.model.begin(sentence=bool(bos))

    def _ids(self, sentence: Text, eos: bool) -> list[int]:
        return [*map(self._word_id, _words(sentence)), *([END_ID] if eos else [])]

    def _word_id(self, word: str) -> int:
        if type(word) is not str:
            raise InputError(f"{shown(word)} is no word; give a str")
        return self._id_of(word, UNK_ID)

    def _ngram_length(self, state: Any, word: int) -> int:
        self.model.check_state(state)
        return _matched(self.model, state, word) or self.model.order


class LanguageModel(Model):
    """The former name of `Model`."""


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
