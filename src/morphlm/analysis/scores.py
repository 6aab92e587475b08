"""The log-probability of each sentence of a text under a model: all that comparisons of whole texts need.

A model is loaded, scores the text and is freed, so that any number of large models can be compared; the sums are
small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.analysis.bootstrap import RESAMPLES, PerplexityChange, paired_changes
from morphlm.analysis.schema import SENTENCE_SCORES
from morphlm.arrays import Float64Array
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text
from morphlm.language_model.perplexity import score_text, text_signature
from morphlm.modelfile import MANIFEST
from morphlm.progress import progress_bar
from morphlm.schema import SchemaError
from morphlm.scoring.loading import load
from morphlm.scoring.streaming import sentence_sums
from morphlm.tables import finite_or_none
from morphlm.text.reading import END
from morphlm.vocabulary.corpus import Source, as_paths, describe, token_batches
from morphlm.wording import either


@dataclass(frozen=True, eq=False)
class SentenceScores(Tabular):
    """The log-probability of each sentence of a text under one model, and what analyses ask about the model."""

    text: str
    logprobs: Float64Array  # (S,): ln p of each sentence, its end included
    tokens: Float64Array  # (S,): how many tokens each has, its end included
    signature: str
    vocabulary: int  # words of the model
    training_tokens: int | None = None  # None: the model does not say
    kappa: float | None = None

    __repr__ = dataclass_repr

    @property
    def perplexity(self) -> float:
        """exp(-1/N sum ln p)."""
        return float(np.exp(-self.logprobs.sum() / self.tokens.sum()))

    def frame_rows(self) -> list[Row]:
        columns = zip(self.logprobs.tolist(), self.tokens.astype(int).tolist(), strict=True)
        return [
            {"sentence": number, "logprob": logprob, "tokens": tokens}
            for number, (logprob, tokens) in enumerate(columns, 1)
        ]

    def to_json(self) -> dict[str, Any]:
        """All fields; `scores_from_json` is the inverse."""
        return {
            "text": self.text,
            "logprobs": [finite_or_none(logprob) for logprob in self.logprobs.tolist()],
            "tokens": self.tokens.astype(int).tolist(),
            "signature": self.signature,
            "vocabulary": self.vocabulary,
            "training_tokens": self.training_tokens,
            "kappa": self.kappa,
        }


def scores_from_json(content: Mapping[str, Any]) -> SentenceScores:
    """The inverse of `SentenceScores.to_json`; anything else is a FormatError."""
    try:
        SENTENCE_SCORES.check(content, "scores")
    except SchemaError as problem:
        raise FormatError(f"these are no scores of sentences ({problem}); score the text again") from problem
    logprobs = [-np.inf if logprob is None else logprob for logprob in content["logprobs"]]
    arrays = {"logprobs": np.array(logprobs, np.float64), "tokens": np.array(content["tokens"], np.float64)}
    return SentenceScores(**{**content, **arrays})


def score_sentences(model: LanguageModel, source: Source, *, allow_unknown: bool = False) -> SentenceScores:
    """Score a text and sum up the tokens of each sentence."""
    scored = score_text(model, source, allow_unknown=allow_unknown)
    logprobs, tokens, _ = sentence_sums(scored)
    return SentenceScores(
        describe(source),
        np.array(logprobs, np.float64),
        np.array(tokens, np.float64),
        str(text_signature(model, source)),
        len(model.vocabulary),
        model.training.get("tokens"),
        model.training.get("kappa"),
    )


def score_models(
    models: Mapping[str, Callable[[], LanguageModel]],
    source: Source,
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
) -> dict[str, SentenceScores]:
    """Score a text under several models; each is made, or loaded, by a call, and let go before the next.

    A text that can be read only once is prepared as that of the first model.
    """
    scores: dict[str, SentenceScores] = {}
    with progress_bar(describe(source), len(models), "model") as bar:
        for name, make in models.items():
            model = make()
            text = fit_text(model, source, prepared=prepared, encoding=encoding, quiet=bool(scores))
            if not scores and (sentences := read_once(text, allow_unknown=allow_unknown)) is not text:
                text = source = sentences
                allow_unknown = True
            scores[name] = score_sentences(model, text, allow_unknown=allow_unknown)
            bar.update()
    return scores


def score_folder(
    folder: str | Path,
    kinds: Sequence[str],
    source: Source,
    *,
    need_all: bool = False,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
) -> dict[str, SentenceScores]:
    """Score a text under the models `folder`/KIND of some `kinds`, as `train_kinds` writes them.

    Models that are not there are left out, unless `need_all`.
    """
    directories = {kind: Path(folder) / kind for kind in kinds}
    missing = [kind for kind, directory in directories.items() if not directory.is_dir()]
    if len(missing) == len(kinds) or (missing and need_all):
        trainer = either("`morphlm train --all`", "`train_kinds`")
        message = f"there is no model {', '.join(missing)} in it; name a folder that {trainer} has written"
        raise ConfigError(f"{folder}: {message}")
    loaders = {
        kind: lambda directory=directory: load(directory)
        for kind, directory in directories.items()
        if kind not in missing
    }
    return score_models(loaders, source, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding)


def check_named_once(languages: Sequence[str]) -> None:
    """Refuse a language that is named twice, as a table would show only one of the two."""
    for language in languages:
        if languages.count(language) > 1:
            raise ConfigError(f"the language {language} is named twice; give each its own name")


def read_for(
    folder: str | Path,
    source: Source,
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
) -> Source:
    """A text for several folders of models: if it can be read only once, prepared as that of the first model."""
    if all(str(path) != "-" for path in as_paths(source) or []):
        return source
    first = next((path for path in sorted(Path(folder).iterdir()) if (path / MANIFEST).is_file()), None)
    text = source if first is None else fit_text(load(first), source, prepared=prepared, encoding=encoding)
    return read_once(text, allow_unknown=allow_unknown)


def read_once(source: Source, *, allow_unknown: bool = False) -> Source:
    """The source itself if it can be read again; else its sentences."""
    paths = as_paths(source)
    if paths is not None and all(str(path) != "-" and Path(path).is_file() for path in paths):
        return source
    if paths is None and isinstance(source, Sequence):
        return source  # lists of tokens
    sentences = list(sentences_of(source, allow_unknown=allow_unknown))
    if not sentences:
        raise InputError("there are no sentences; give at least one", source=describe(source))
    return sentences


def sentences_of(source: Source, *, allow_unknown: bool = False) -> Iterator[list[str]]:
    """The words of each sentence."""
    sentence: list[str] = []
    for token in chain.from_iterable(token_batches(source, allow_unknown=allow_unknown)):
        if token != END.encode():
            sentence.append(token.decode())
        else:
            yield sentence
            sentence = []


def shared_signature(signatures: Sequence[str]) -> str:
    """One signature for many, with a star for what differs: `ppl|model:*|n:4|...`."""
    parsed = [dict(part.partition(":")[::2] for part in signature.split("|")) for signature in signatures]
    names = list(dict.fromkeys(name for fields in [max(parsed, key=len), *parsed] for name in fields))
    values = {name: {fields.get(name) for fields in parsed} for name in names}
    return "|".join(
        name + ("" if distinct == {""} else f":{distinct.pop()}" if len(distinct) == 1 else ":*")
        for name, distinct in values.items()
    )


# ------------------------------------------------------------ relative changes


def change_between(
    baseline: SentenceScores, other: SentenceScores, *, seed: int = 1, resamples: int = RESAMPLES
) -> PerplexityChange:
    """The change of perplexity from one model to another on the same text, with its interval."""
    if not np.array_equal(baseline.tokens, other.tokens):
        raise ConfigError(f"{baseline.text} and {other.text} are not the same text; compare models on one text")
    with np.errstate(invalid="ignore"):  # minus infinity under both: a change that is not a number
        gains = (other.logprobs - baseline.logprobs)[:, None]
    return paired_changes(gains, baseline.tokens[:, None], seed=seed, resamples=resamples)[0]


def plain_change(baseline: float, other: float) -> PerplexityChange:
    """The relative change between two perplexities, without an interval."""
    return PerplexityChange(other / baseline - 1, float("nan"), float("nan"))


def format_perplexity(perplexity: float) -> str:
    """A table cell: two decimals, or a dash."""
    return "-" if np.isnan(perplexity) else f"{perplexity:.2f}"
