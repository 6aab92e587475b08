"""Vectors of a model in spaCy: as a table of the known words, or with unseen words composed when they are asked for.

With `composed_vectors`, or with `@vectors = "morphlm.Vectors.v1"` and `model = PATH` in the section `[nlp.vectors]` of
a configuration, every word has a vector of which some morpheme is known.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from morphlm.extras import import_package
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.loading import load
from morphlm.vectors.forms import is_lowercased
from morphlm.vectors.vectors import WordVectors

__all__ = ["composed_vectors", "create_vectors", "vectors_table"]

NEEDS = "vectors for spaCy need"

VectorSource = WordVectors | LanguageModel | str | os.PathLike[str]


def vectors_table(source: VectorSource, extra_words: Sequence[str] = (), *, name: str = "morphlm") -> Any:
    """spaCy's `Vectors` with a row for each known word and for each of the extra words, which are composed.

    Set it as `nlp.vocab.vectors`. spaCy saves it with the pipeline. If the model's text is in lower case, tokens are
    looked up by their lower case.
    """
    package = import_package("spacy.vectors", "spacy", NEEDS)
    vectors = _vectors_of(source)
    extra = [word for word in dict.fromkeys(extra_words) if vectors.composable(word) and not vectors.known(word)]
    first = len(vectors.vocabulary.words) - len(vectors.words)
    rows = np.concatenate([vectors.matrix[first:], vectors.rows(extra)])
    attribute = "LOWER" if is_lowercased(vectors) else "ORTH"
    return package.Vectors(data=rows, keys=[*vectors.words, *extra], name=name, attr=attribute)


def composed_vectors(source: VectorSource, *, name: str = "morphlm") -> Any:
    """Vectors for `nlp.vocab.vectors` that compose unseen words of their morphemes, when somebody asks for them.

    Words are brought to the form that they have in the model's text. `has_vector` is false for words of which nothing
    is known. spaCy does not save them with the pipeline; `create_vectors` in its configuration loads them again.
    """
    adapter = import_package("morphlm.integrations.spacy_vectors", "spacy", NEEDS)
    return adapter.ComposedVectors(_vectors_of(source), name=name)


def create_vectors(
    model: str, side: str = "both", centre: bool = False, normalise: bool = False
) -> Callable[[Any], Any]:
    """What `@vectors = "morphlm.Vectors.v1"` in a pipeline's configuration calls, with the directory of a model."""

    def vectors_of_vocab(vocab: Any) -> Any:
        vectors = load(model).vectors.using(side=side, centre=centre, normalise=normalise)  # type: ignore[arg-type]
        return composed_vectors(vectors)

    return vectors_of_vocab


def _vectors_of(source: VectorSource) -> WordVectors:
    if isinstance(source, WordVectors):
        return source
    return (source if isinstance(source, LanguageModel) else load(os.fspath(source))).vectors
