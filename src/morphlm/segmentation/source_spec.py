"""mu in whatever form it is given: `NAME:ARGUMENT`, a dict, a function, an object of one's own, a segmenter.

Everything becomes a Factorisation here, checked word by word, from which `build_factors` makes the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from morphlm.errors import ConfigError, MorphlmError
from morphlm.progress import notify
from morphlm.segmentation.analyser import MorphemeAnalyser, RestorableAnalyser
from morphlm.segmentation.morphemes import Segmentation
from morphlm.segmentation.segmenter import MorphemeSegmenter
from morphlm.segmentation.sources.factorisation import (
    Factor,
    Factorisation,
    RestorableWordFactors,
    WordFactors,
    checked,
    from_segmentation,
)
from morphlm.segmentation.sources.registry import find_factor_source, known_factor_sources, loaded
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary

FactorInput = (
    str  # NAME:ARGUMENT
    | Mapping[str, Sequence[Factor]]
    | Callable[[str], Sequence[Factor]]
    | WordFactors
    | Factorisation
    | Segmentation
    | MorphemeSegmenter
)


def choose_source(spec: str, vocabulary: Vocabulary, *, labels: bool = True) -> Factorisation:
    """The source that a `spec`, NAME:ARGUMENT, names. Without `labels`, `in/PRE` and `in/STM` are one factor."""
    name, _, argument = spec.partition(":")
    source = find_factor_source(name) if argument else None
    if source is None:
        known = ", ".join(f"{source.name}:{source.argument}" for source in known_factor_sources())
        raise ConfigError(f"{spec!r} names no source of factors; give one of {known}")
    read = loaded(source.read)
    try:
        factors = read(argument, vocabulary) if source.takes_vocabulary else read(argument)
    except MorphlmError:
        raise
    except ValueError as error:
        raise ConfigError(f"{spec}: {error}; write it like {source.name}:{source.argument}") from error
    if isinstance(factors, str):
        raise ConfigError(
            f"the source {name!r} gives the string {factors!r}; it must give a dict, a function or an object"
        )
    return as_factorisation(factors, vocabulary, source=f"{name} {argument}", labels=labels)


def as_factorisation(
    factors: FactorInput, vocabulary: Vocabulary, *, source: str = "", labels: bool = True
) -> Factorisation:
    """The factors in any form that users may give them; `source` names them in records, if they have no name.

    Without `labels`, `in/PRE` and `in/STM` are one factor.
    """
    if isinstance(factors, str):
        return choose_source(factors, vocabulary, labels=labels)
    if isinstance(factors, Factorisation):
        return factors
    if isinstance(factors, MorphemeSegmenter):
        source = source or f"segmenter, corpus weight {factors.config.corpus_weight:g}"
        return segmenter_source(factors, vocabulary, source, labels=labels)
    if isinstance(factors, Segmentation):
        return from_segmentation(factors, labels=labels, source=source or "segmentation")
    if isinstance(factors, Mapping):
        return _from_dict(factors, source or "dict")
    factors_of = getattr(factors, "factors_of", factors)
    if isinstance(factors, type) or not callable(factors_of):
        raise ConfigError(
            f"factors cannot come from {factors!r}; give NAME:ARGUMENT, a dict (word to factors), a function of a "
            "word, or an object with a method factors_of(word)"
        )
    return _from_function(factors, factors_of, source or getattr(factors, "__name__", type(factors).__name__))


def segmenter_source(
    segmenter: MorphemeSegmenter, vocabulary: Vocabulary, source: str, *, labels: bool = True
) -> Factorisation:
    """The morphemes of a vocabulary by a segmenter, which stays with them for other words."""
    segmentation = segmenter.segment_all(vocabulary.words[len(RESERVED) :])
    analyser = MorphemeAnalyser(segmenter.paths, labels=labels and segmenter.config.categories)
    return from_segmentation(segmentation, labels=labels, source=source, analyser=analyser)


def _from_dict(factors: Mapping[Any, Any], source: str) -> Factorisation:
    strange = next((word for word in factors if not isinstance(word, str)), "")
    if strange != "":
        raise ConfigError(f"the factors of {strange!r} are given; the keys of the dict must be words, as strings")
    return Factorisation(checked(lambda word: factors.get(word, ()), source), source)


def _from_function(factors: Any, factors_of: Callable[[str], Any], source: str) -> Factorisation:
    """With an analyser for words never seen, if the model can keep what gives their factors."""
    factors_of = checked(factors_of, source)
    if isinstance(factors, RestorableWordFactors):
        return Factorisation(factors_of, source, RestorableAnalyser(factors))
    notify(
        f"factors: {source} cannot be saved with a model, so words outside the vocabulary have no factors; "
        "register it as a source to keep it (docs/extending.md)"
    )
    return Factorisation(factors_of, source)
