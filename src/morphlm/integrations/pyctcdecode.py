"""Models for the beam search of pyctcdecode, in speech recognition and OCR by CTC.

`build_ctcdecoder` takes the place of pyctcdecode's function of that name. What a word costs follows the same
conventions as with KenLM, so that weights which were tuned with it stay good.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Collection, Sequence
from typing import Any, NoReturn

from morphlm.arguments import check_word, finite_number
from morphlm.errors import ConfigError
from morphlm.extras import import_package
from morphlm.integrations.cached_scores import LN10, CachedScores, adapted_model
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import END_ID

__all__ = ["CTCLanguageModel", "build_ctcdecoder"]

USUAL_LENGTH = 6  # letters; the beginning of an unknown word costs more the longer it is, as in pyctcdecode


class CTCLanguageModel(PickledWithoutCaches):
    """A model of any kind as pyctcdecode asks for it; give it to `BeamSearchDecoderCTC(alphabet, language_model)`.

    A word scores `alpha` ln p + `beta`. Words that are not among the `unigrams` (by default those that the model knows)
    are scored as UNK, with `unk_score_offset` on top, which like KenLM's scores is a decimal logarithm. With
    `score_boundary` a text is a whole sentence; without, its start and end are unknown.

    Where `unknown_contexts` are "composed", words after an unknown one see the sum of its known factors instead of UNK.
    With `open_vocabulary` each unknown word has its own share of P(UNK), by its spelling; the unigrams may then be
    words that the model does not know. Both are off, as with KenLM.
    """

    def __init__(
        self,
        model: LanguageModel,
        unigrams: Collection[str] | None = None,
        *,
        alpha: float = 0.5,
        beta: float = 1.5,
        unk_score_offset: float = -10.0,
        score_boundary: bool = True,
        unknown_contexts: UnknownContexts = "unk",
        open_vocabulary: bool = False,
    ) -> None:
        """Take a loaded model; of the unigrams, those count that it knows, or with an open vocabulary all."""
        self.model = adapted_model(model, open_vocabulary=open_vocabulary)
        self.unknown_contexts = unknown_contexts
        known = model.vocabulary.words[len(RESERVED) :]
        admitted = set(known if unigrams is None else unigrams)
        self.unigrams = frozenset(admitted if open_vocabulary else admitted.intersection(known))
        if not self.unigrams:
            raise ConfigError("the model knows none of the unigrams; give words as they stand in its vocabulary")
        self.reset_params(alpha=alpha, beta=beta, unk_score_offset=unk_score_offset, score_boundary=score_boundary)

    def reset_params(
        self,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        unk_score_offset: float | None = None,
        score_boundary: bool | None = None,
    ) -> None:
        """Change settings; those that are not given stay."""
        if alpha is not None:
            self.alpha = finite_number("alpha", alpha)
        if beta is not None:
            self.beta = finite_number("beta", beta)
        if unk_score_offset is not None:
            self.unk_score_offset = finite_number("unk_score_offset", unk_score_offset)
        if score_boundary is not None:
            self.score_boundary = bool(score_boundary)

    @property
    def order(self) -> int:
        """n: texts that share their last n - 1 words have the same future."""
        return self.model.order

    def get_start_state(self) -> Any:
        """The state before the first word."""
        return self._scores.begin(sentence=self.score_boundary)

    def score(self, prev_state: Any, word: str, is_last_word: bool = False) -> tuple[float, Any]:
        """What a word after a state adds to the score of a text, and the state after it."""
        logprob, after = self._scores(prev_state, self._scores.word(word))
        if word not in self.unigrams:
            logprob += self.unk_score_offset * LN10
        if is_last_word and self.score_boundary:
            logprob += self._scores(after, END_ID)[0]
        return self.alpha * logprob + self.beta, after

    def score_partial_token(self, partial_token: str) -> float:
        """What the beginning of a word adds: nothing, unless no word begins so."""
        check_word(partial_token)
        following = bisect_left(self._sorted_unigrams, partial_token)
        if following < len(self._sorted_unigrams) and self._sorted_unigrams[following].startswith(partial_token):
            return 0.0
        return self.unk_score_offset * max(1.0, len(partial_token) / USUAL_LENGTH)

    @cached_property
    def _sorted_unigrams(self) -> list[str]:
        return sorted(self.unigrams)

    @cached_property
    def _scores(self) -> CachedScores:
        return CachedScores(self.model, self.unknown_contexts)

    def save_to_dir(self, filepath: str) -> NoReturn:
        """Refused: pyctcdecode reads nothing but KenLM's files."""
        raise ConfigError(
            f"{filepath}: pyctcdecode could not read a model of morphlm there; save the model by itself, with "
            "model.save, and build the decoder again"
        )


def build_ctcdecoder(
    labels: Sequence[str],
    model: LanguageModel | str | os.PathLike[str],
    unigrams: Collection[str] | None = None,
    *,
    alpha: float = 0.5,
    beta: float = 1.5,
    unk_score_offset: float = -10.0,
    lm_score_boundary: bool = True,
    unknown_contexts: UnknownContexts = "unk",
    open_vocabulary: bool = False,
) -> Any:
    """A `BeamSearchDecoderCTC` of pyctcdecode with a model of any kind, or its directory; the rest as there.

    The labels are those of the logits' columns. Known words are those of the model, unless `unigrams` are given. What
    unknown words are in contexts and by themselves, `CTCLanguageModel` tells.
    """
    package = import_package("pyctcdecode", "pyctcdecode", "CTC beam search needs")
    package.language_model.AbstractLanguageModel.register(CTCLanguageModel)
    language_model = CTCLanguageModel(
        adapted_model(model),
        unigrams,
        alpha=alpha,
        beta=beta,
        unk_score_offset=unk_score_offset,
        score_boundary=lm_score_boundary,
        unknown_contexts=unknown_contexts,
        open_vocabulary=open_vocabulary,
    )
    alphabet = package.Alphabet.build_alphabet(list(labels))
    package.alphabet.verify_alphabet_coverage(alphabet, language_model.unigrams)
    return package.BeamSearchDecoderCTC(alphabet, language_model)
