"""The factors of words never seen: what a source of mu leaves in a model, to say of any word what it said of others.

A segmenter leaves its paths, character n-grams their lengths, sentencepiece its model, an object of one's own what its
`to_json` gives. A table, a CoNLL-U file, a file of Morfessor and a dict know only the words that are written in them,
and a function cannot be saved, so they leave nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.progress import notify
from morphlm.schema import parse_json
from morphlm.segmentation.encoding import normalised
from morphlm.segmentation.kernels.paths import CATEGORIES
from morphlm.segmentation.morphemes import LABELS
from morphlm.segmentation.new_words import PathModel, parse_paths
from morphlm.segmentation.sources.factorisation import (
    KIND_FILE,
    Analyser,
    RestorableWordFactors,
    checked,
    kind_text,
)
from morphlm.segmentation.sources.ngrams import NgramAnalyser
from morphlm.segmentation.sources.pieces import MODEL, PieceAnalyser
from morphlm.segmentation.sources.registry import find_factor_source, loaded

Texts = Mapping[str, str]
Tensors = Mapping[str, Array]

MORPHS_FILE = "analyser.tsv"
PREFIX = "analyser."  # of the names of tensors


@dataclass(frozen=True, eq=False)
class MorphemeAnalyser:
    """The best path of a word through the categories, over the morphs of a segmenter and over new stems."""

    paths: PathModel
    labels: bool = True  # `in/PRE` and `in/STM`; without them both are `in`

    __repr__ = dataclass_repr

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        endings = [f"/{label}" for label in LABELS] if self.labels else [""] * CATEGORIES
        for forms, labels in self.paths.pieces(list(map(normalised, words))):
            yield [form + endings[label] for form, label in zip(forms, labels, strict=True)]

    def to_texts(self) -> dict[str, str]:
        return {MORPHS_FILE: self.paths.table()} | kind_text(kind="morphemes", labels=self.labels)

    def to_tensors(self) -> dict[str, Array]:
        return {PREFIX + name: tensor for name, tensor in self.paths.tensors().items()}


@dataclass(frozen=True, eq=False)
class RestorableAnalyser:
    """What an object of somebody else's gives for any word, kept as data under the name of its source."""

    word_factors: RestorableWordFactors

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        name = self.word_factors.source_name
        source = find_factor_source(name)
        if source is None or source.restore is None:
            raise ConfigError(
                f"no source of factors with a `restore` is registered as {name!r}, so a model could not be loaded "
                "again; call register_factor_source first"
            )

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        factors_of = checked(self.word_factors.factors_of, self.word_factors.source_name)
        return (list(map(str, factors_of(normalised(word)))) if word else [] for word in words)

    def to_texts(self) -> dict[str, str]:
        try:
            return kind_text(kind="source", name=self.word_factors.source_name, settings=self.word_factors.to_json())
        except (TypeError, ValueError) as error:
            name = self.word_factors.source_name
            raise ConfigError(f"what to_json of the factors {name!r} gives is no JSON ({error}); correct it") from error

    def to_tensors(self) -> dict[str, Array]:
        return {}


# ---------------------------------------------------------------- reading


def analyser_from_files(texts: Texts, tensors: Tensors) -> Analyser | None:
    """Read what `to_texts` and `to_tensors` gave; None if the model was saved without an analyser."""
    if KIND_FILE not in texts:
        return None
    try:
        options = parse_json(texts[KIND_FILE].encode(), KIND_FILE)
        return _READERS[options.pop("kind")](options, texts, tensors)
    except (FormatError, InputError):
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ConfigError) as error:
        raise FormatError(f"{KIND_FILE}: not an analyser of this version ({error}); make the model again") from error


def _read_morphemes(options: dict[str, Any], texts: Texts, tensors: Tensors) -> MorphemeAnalyser:
    costs = {name.removeprefix(PREFIX): array for name, array in tensors.items() if name.startswith(PREFIX)}
    return MorphemeAnalyser(parse_paths(texts[MORPHS_FILE], costs), **options)


def _read_source(options: dict[str, Any], texts: Texts, tensors: Tensors) -> RestorableAnalyser | None:
    """The object that a registered source restores; a model whose source is not installed can do without."""
    name, settings = options["name"], options["settings"]
    source = find_factor_source(name)
    if source is None or source.restore is None:
        notify(f"warning: the source of factors {name!r} is not installed, so words never seen have no factors")
        return None
    return RestorableAnalyser(loaded(source.restore)(settings))


_READERS: dict[str, Callable[[dict[str, Any], Texts, Tensors], Analyser | None]] = {
    "morphemes": _read_morphemes,
    "ngrams": lambda options, texts, tensors: NgramAnalyser(**options),
    "pieces": lambda options, texts, tensors: PieceAnalyser(tensors[MODEL].tobytes(), **options).checked(),
    "source": _read_source,
}
