"""A small valid artefact of every sort that is a directory, and how each is used: what a forged one must not break."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import morphlm
from morphlm.cache.model import CacheModel
from morphlm.classes.frequency import frequency_bins
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import filled_like, initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.segmentation.segmenter import MorphemeSegmenter
from morphlm.training.checkpoint import Progress, has_begun, read_checkpoint, write_checkpoint
from morphlm.translation.alignment.links import alignments_of
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.grammar.bitext import build_bitext, load_bitext
from morphlm.translation.grammar.extraction import GrammarExtractor
from tests.cache.small import small_cache, small_neural_cache
from tests.segmentation.small import factors_of, segmenter, vocabulary
from tests.training.small import sentences

TEXT = [["škola", "domou", "neznámé"], [], ["řeku", "\N{SNOWMAN}", "domu", "polem"]]
ADDED = ["domách", "polepole", "\N{SNOWMAN}"]
WORDS = ["škola", "domou", "nepolem", "x", "řekřekou", "\N{SNOWMAN}" * 3]


def _logbilinear(
    kind: str, source: str = "segmenter", *, order: int = 3, diagonal: bool = True, wide: int = 0
) -> LogBilinearModel:
    """With random parameters."""
    config = replace(variant(kind, order=order, width=4, diagonal=diagonal), wide=wide)
    structure = build_structure(config, vocabulary(), frequency_bins(vocabulary(), 3), factors_of(source))
    return LogBilinearModel(config, structure, initial_parameters(config, structure, 1, 0.5), {"seed": 1, "kappa": 0.2})


def _ngram(order: int, **options: Any) -> LanguageModel:
    return train_ngram(sentences(40, 1), order=order, vocabulary=vocabulary(), **options)


def _write_checkpoint(directory: Path) -> None:
    parameters = _logbilinear("clbl++").parameters
    log = [{"epoch": 1, "minibatch": 0, "tokens": 9, "seconds": 0.1, "objective": 2.5, "development_perplexity": 9.5}]
    entry = log[0] | {"step": 0.1, "best": True}
    write_checkpoint(directory, "identity", Progress(1, log=[entry]), parameters, filled_like(parameters, 1.0))


def _write_bitext(directory: Path) -> None:
    source = [["a", "b", "c"], ["b", "a"], ["c", "c", "d", "a"]]
    target = [["x", "y", "z"], ["y", "x"], ["z", "z", "x"]]
    links = alignments_of([[(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1)], [(0, 0), (1, 1), (3, 2)]])
    build_bitext(read_parallel(source, target), links).save(directory)


def _write_arpa_model(directory: Path) -> None:
    arpa = directory.with_name("text.arpa")
    train_ngram(sentences(40, 1), order=2).write_arpa(arpa)
    load(arpa).save(directory)


def _mixture() -> LanguageModel:
    return morphlm.mix([_ngram(3), _logbilinear("clbl++")], sentences(20, 2), weights_by="context")


WRITERS: dict[str, Callable[[Path], None]] = {
    "mkn": lambda place: _ngram(3).save(place),
    "mkn of order 1": lambda place: _ngram(1).save(place),
    "quantised mkn": lambda place: _ngram(3, quantise=True).save(place),
    "arpa": _write_arpa_model,
    "lbl": lambda place: _logbilinear("lbl").save(place),
    "lbl++ of n-grams, full": lambda place: _logbilinear("lbl++", "ngrams", diagonal=False).save(place),
    "clbl+c of pieces": lambda place: _logbilinear("clbl+c", "pieces").save(place),
    "clbl+o, wide": lambda place: _logbilinear("clbl+o", wide=5).save(place),
    "clbl++": lambda place: _logbilinear("clbl++").save(place),
    "mkn, extended": lambda place: _ngram(2).extended(ADDED).save(place),
    "clbl++, extended": lambda place: _logbilinear("clbl++", "ngrams").extended(ADDED).save(place),
    "lbl+o, extended": lambda place: _logbilinear("lbl+o", "ngrams").extended(ADDED).save(place),
    "cache": lambda place: small_cache("words").save(place),
    "morpheme-cache": lambda place: small_cache("morphemes").save(place),
    "neural-cache": lambda place: small_neural_cache().save(place),
    "cache, extended": lambda place: small_cache("words").extended(ADDED).save(place),
    "morpheme-cache, extended": lambda place: small_cache("morphemes").extended(ADDED).save(place),
    "neural-cache, extended": lambda place: small_neural_cache().extended(ADDED).save(place),
    "frozen-cache": lambda place: small_cache("classes").after_text(TEXT).save(place),
    "mixture": lambda place: _mixture().save(place),
    "nested mixture": lambda place: morphlm.mix([_mixture(), _ngram(2)], sentences(20, 2)).save(place),
    "segmenter": lambda place: segmenter().save(place),
    "segmenter without categories": lambda place: segmenter(False).save(place),
    "checkpoint": _write_checkpoint,
    "bitext": _write_bitext,
}


# ---------------------------------------------------------------- using them


def use(directory: Path, sort: str) -> None:
    """Load an artefact and do with it what people do; any error but MorphlmError is a defect."""
    if sort.startswith("segmenter"):
        loaded = MorphemeSegmenter.load(directory)
        loaded.segment_all(WORDS)
        list(loaded.lines())
    elif sort == "checkpoint":
        has_begun(directory)
        read_checkpoint(directory, "identity")
    elif sort == "bitext":
        extractor = GrammarExtractor(load_bitext(directory))
        for tokens in (["a", "b", "c", "d"], ["c", "a", "e"], ["c", "c", "d", "a", "b"]):
            list(extractor.extract(tokens))
    else:
        use_model(load(directory), directory)


def use_model(model: LanguageModel, directory: Path) -> None:
    """Perplexities, states, distributions, vectors, ARPA files, and a second copy."""
    result = model.perplexity(TEXT)
    assert not np.isnan(result.including_unknown), "a perplexity is NaN"
    str(result.format())
    state = model.begin()
    for word in ("škola", "domou", "polem", "neznámé"):
        logprob, state = model.score(state, word)
        assert logprob <= 1e-3, f"ln p is {logprob}"
    assert not np.isnan(model.distribution(state)).any(), "a distribution has NaN"
    model.next_sentence(state)
    if model.composes_contexts:
        model.perplexity(TEXT, unknown_contexts="composed")
    for part in model.parts:
        if hasattr(part, "write_arpa"):
            if not part.training.get("extended"):  # an ARPA file cannot tell of words that share P(UNK)
                part.write_arpa(directory.with_name("out.arpa"))
        elif not isinstance(part, CacheModel):
            vectors = part.vectors
            vectors.neighbours("škola", 3)
            _ = vectors["domou"]
    model.save(directory.with_name("copy"))


def written(folder: Path, sorts: list[str] | None = None) -> Iterator[tuple[str, Path]]:
    """Write an artefact of each sort into a folder of its own; each is usable."""
    for number, sort in enumerate(WRITERS if sorts is None else sorts):
        place = folder / str(number) / "artefact"
        place.parent.mkdir(parents=True)
        WRITERS[sort](place)
        yield sort, place
