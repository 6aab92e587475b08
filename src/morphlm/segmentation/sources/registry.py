"""The sources of factors by name: one record each, that says what stands behind the colon of `NAME:ARGUMENT`.

To add a source, write a function that reads it and list its record: in `BUILT_IN` for a source of this package, as an
entry point of the group `morphlm.factor_sources` for one of another package, with `register_factor_source` for one of
a running program. A model directory only ever holds the name of a source and data; nothing in it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError

ENTRY_POINTS = "morphlm.factor_sources"
Loadable = str | Callable[..., Any]  # `module:attribute`, imported when it is used, or the function itself


@dataclass(frozen=True)
class FactorSource:
    """A source of factors that `--factors NAME:ARGUMENT` and `factors="NAME:ARGUMENT"` can name."""

    name: str
    argument: str  # how help shows what stands behind the colon: FILE, DIR, or an example
    description: str
    read: Loadable  # (argument) -> whatever `factors=` of `morphlm.train` takes
    takes_vocabulary: bool = False  # `read` is called with (argument, Vocabulary)
    restore: Loadable | None = None  # (settings that `to_json` gave) -> WordFactors; None: nothing is kept in models

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        if not self.name or ":" in self.name:
            raise ConfigError(f"{self.name!r} cannot name a source of factors; use a name without a colon")


def loaded(reference: Loadable) -> Callable[..., Any]:
    """The function that a field of a record names."""
    if not isinstance(reference, str):
        return reference
    function: Callable[..., Any] = resolve_name(reference)
    return function


_HERE = "morphlm.segmentation.sources"
_MORFESSOR = "lines of Morfessor or FlatCat: `count morph/CAT + morph/CAT`"
_SEGMENTER = "a segmenter that `morphlm segment --save` wrote"
_UNIGRAM, _BPE = (f"sentencepiece, {model}, with so many pieces" for model in ("unigram model", "byte pair encoding"))
BUILT_IN = (
    FactorSource("segmenter", "DIR", _SEGMENTER, "morphlm.segmentation.segmenter:MorphemeSegmenter.load"),
    FactorSource("morfessor", "FILE", _MORFESSOR, f"{_HERE}.morfessor:read_morfessor"),
    FactorSource("table", "FILE", "a table of your own: `word TAB factor factor ...`", f"{_HERE}.table:read_table"),
    FactorSource(
        "conllu", "FILE", "lemma, part of speech and features of a CoNLL-U file", f"{_HERE}.conllu:read_conllu"
    ),
    FactorSource("ngrams", "3-5", "character n-grams of these lengths", f"{_HERE}.ngrams:parse_ngram_lengths"),
    FactorSource("unigram", "8000", _UNIGRAM, f"{_HERE}.pieces:train_unigram_pieces", takes_vocabulary=True),
    FactorSource("bpe", "8000", _BPE, f"{_HERE}.pieces:train_bpe_pieces", takes_vocabulary=True),
)

_registered: dict[str, FactorSource] = {}


def register_factor_source(source: FactorSource) -> FactorSource:
    """Add a source for as long as the program runs."""
    if any(built_in.name == source.name for built_in in BUILT_IN):
        raise ConfigError(f"there is a source of factors {source.name!r} already; give yours another name")
    _registered[source.name] = source
    return source


def find_factor_source(name: str) -> FactorSource | None:
    """The record of a source: built in, registered, or of an installed package, which is asked last."""
    for source in (*BUILT_IN, *_registered.values()):
        if source.name == name:
            return source
    return next(_of_packages(name), None)


def known_factor_sources() -> list[FactorSource]:
    """All sources; those of other packages come last."""
    return [*BUILT_IN, *_registered.values(), *_of_packages()]


def _of_packages(name: str | None = None) -> Iterator[FactorSource]:
    """Sources of installed packages: an entry point has the name of the source and leads to its record."""
    for entry in entry_points(group=ENTRY_POINTS) if name is None else entry_points(group=ENTRY_POINTS, name=name):
        source = entry.load()
        if not isinstance(source, FactorSource) or source.name != entry.name:
            raise ConfigError(f"the entry point {entry.name!r} of {ENTRY_POINTS} leads to no source of that name")
        yield source
