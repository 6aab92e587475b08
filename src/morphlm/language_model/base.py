"""The one interface of every model: a state, a word, a natural log-probability and the next state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.language_model.perplexity import Perplexity, ScoredText, perplexity_of, score_text
from morphlm.language_model.signature import Signature, in_thousands
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Source, check_tokens
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary


class LanguageModel(ABC):
    """What scoring, decoding and the analyses need of a model. Log-probabilities are natural."""

    kind: str  # "mkn", "clbl++", ...
    order: int  # n: a word depends on the n - 1 words before it
    vocabulary: Vocabulary
    training: dict[str, Any]  # how the model came about; stored in its manifest

    @abstractmethod
    def begin(self) -> Any:
        """The state at the start of a sentence. States can be hashed; equal ones have the same future."""

    @abstractmethod
    def score_id(self, state: Any, word: int) -> tuple[float, Any]:
        """ln p(word | state) and the state after it, for a word's id."""

    @abstractmethod
    def score_tokens(self, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
        """ln p of every token of encoded sentences, each ending with END."""

    @abstractmethod
    def distribution(self, state: Any) -> NDArray[np.float64]:
        """p of every word of the vocabulary after a state, by id; sums to 1."""

    @abstractmethod
    def save(self, directory: str | Path) -> None:
        """Write the model directory; one that is there is replaced in one step."""

    def score(self, state: Any, word: str) -> tuple[float, Any]:
        """ln p(word | state) and the state after it; words that are not known are scored as UNK."""
        return self.score_id(state, self.vocabulary.id_of(word))

    def sentence(self, tokens: Sequence[str]) -> list[float]:
        """ln p of every token and of the sentence's end."""
        check_tokens(tokens, allow_unknown=True, number=1)
        ids = np.append(self.vocabulary.encode(tokens), np.int32(END_ID))
        return [float(logprob) for logprob in self.score_tokens(ids)]

    def perplexity(self, source: Source, *, allow_unknown: bool = False) -> Perplexity:
        """Perplexity of a file, several files, or an iterable of token lists; `allow_unknown` admits <unk> in them."""
        return perplexity_of(self, source, allow_unknown=allow_unknown)

    def score_text(self, source: Source, *, allow_unknown: bool = False) -> ScoredText:
        """The log-probability of every token, with rows for sentences and tokens."""
        return score_text(self, source, allow_unknown=allow_unknown, keep_forms=True)

    @property
    def scores_unknown(self) -> bool:
        """Whether words that are not known have a probability."""
        return True

    @property
    def signature(self) -> Signature:
        """What defines the model; part of every number it gives."""
        preparation = self.training.get("preparation") or {}
        fields = {
            "model": self.kind,
            "n": str(self.order),
            "V": in_thousands(len(self.vocabulary)),
            "kappa": "given" if self.training.get("vocabulary") == "given" else _plain(self.training.get("kappa")),
            "unk": "scored" if self.scores_unknown else "none",
            "eos": "yes",
            "tok": preparation.get("tokeniser", "as-is"),
            "norm": preparation.get("normalisation", "as-is"),
            "seed": _plain(self.training.get("seed")),
            "v": ".".join(self.training.get("version", __version__).split(".")[:2]),
        }
        return Signature("ppl", tuple(fields.items()))


def _plain(number: float | None) -> str:
    return "-" if number is None else f"{number:g}"
