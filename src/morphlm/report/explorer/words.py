"""What a model knows of a word or of a morpheme: its parts, its class, its neighbours and those of each part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from morphlm.errors import ConfigError, InputError
from morphlm.report.explorer.limits import RequestLimits, check_count, check_text
from morphlm.report.explorer.models import ExploredModel
from morphlm.segmentation.factors import Factors
from morphlm.segmentation.morphemes import split_name
from morphlm.text.reading import RESERVED, UNKNOWN
from morphlm.vectors.composition import Composition, Origin
from morphlm.vectors.search import Neighbour
from morphlm.vectors.vectors import WordVectors

EXAMPLES = 8  # words of a class, or with a morpheme


@dataclass(frozen=True)
class Near:
    """A neighbour and its cosine."""

    name: str
    similarity: float


@dataclass(frozen=True)
class Part:
    """A morpheme of a word, or whatever else the model's factors are."""

    name: str  # ung/SUF
    form: str  # ung
    label: str | None  # PRE, STM or SUF, if the factors have labels
    known: bool  # whether it has a vector
    words: int  # of the vocabulary that contain it
    examples: list[str]  # the most frequent of them
    neighbours: list[Near]  # morphemes


@dataclass(frozen=True)
class WordClass:
    """The class of a word: the first step of predicting it."""

    number: int
    size: int
    examples: list[str]  # its most frequent words, without the word itself


@dataclass(frozen=True)
class WordView:
    """What a model knows of a word."""

    model: str
    query: str  # as it was typed
    form: str  # as the model's text has it
    understood: Origin  # where its vector comes from; affixes: from them alone, since its stem was never seen
    stem_known: bool | None  # whether the vector has a stem in it; None: the model's parts have no labels
    count: int | None  # in the training text; None: it is not in the vocabulary
    rank: int | None  # 1 for the most frequent word
    word_class: WordClass | None
    parts: list[Part]
    neighbours: list[Near]
    notes: list[str]  # what is missing, and why


@dataclass(frozen=True)
class MorphemeView:
    """What a model knows of a morpheme."""

    model: str
    part: Part
    nearest_words: list[Near]


def view_word(explored: ExploredModel, query: str, k: int, limits: RequestLimits) -> WordView:
    """What the model knows of a word, also of one that it has never seen."""
    form = _form(explored, query, limits)
    check_count(k, limits)
    vocabulary, vectors = explored.model.vocabulary, explored.vectors
    number = vocabulary.ids.get(form, 0) if form in vocabulary else None
    composition = _composition(explored, form)
    understood = composition.origin
    parts = [] if vectors is None else _parts(vectors, composition, k)
    return WordView(
        model=explored.name,
        query=query,
        form=form,
        understood=understood,
        stem_known=composition.stem_known,
        count=None if number is None else int(vocabulary.counts[number]),
        rank=None if number is None else number - len(RESERVED) + 1,
        word_class=None if number is None else _class_of(explored, number),
        parts=parts,
        neighbours=[] if vectors is None or understood == "unknown" else _near(vectors.neighbours(form, k)),
        notes=_notes(explored, composition),
    )


def view_morpheme(explored: ExploredModel, name: str, k: int, limits: RequestLimits) -> MorphemeView:
    """Look up one of the model's morphemes."""
    check_text(name, limits.word_characters, "a morpheme")
    check_count(k, limits)
    vectors = explored.vectors
    if vectors is None or vectors.factors is None:
        raise ConfigError(f"{explored.name} has no morphemes; ask a model with factors (+c, +o or ++)")
    if name not in vectors.factors.ids:
        raise InputError(f"{name!r} is no morpheme of {explored.name}; write it as in the model: form/LABEL")
    (part,) = _known_parts(vectors, vectors.factors, [name], k)
    return MorphemeView(explored.name, part, _near(vectors.neighbours(name, k, morpheme=True)))


def _composition(explored: ExploredModel, form: str) -> Composition:
    """Of a model without vectors, only whether it knows the word."""
    if explored.vectors is not None:
        return explored.vectors.composition(form)
    return Composition(form, "known" if form in explored.model.vocabulary else "unknown", ())


def _form(explored: ExploredModel, query: str, limits: RequestLimits) -> str:
    """The one word that was typed, as the model's text has it."""
    check_text(query, limits.word_characters, "a word")
    pieces = query.split()
    if len(pieces) != 1:
        raise InputError("nothing is typed; type a word" if not pieces else "several words; give one at a time")
    form = explored.word_form(pieces[0])
    if not form:
        raise InputError("nothing is left of it; type a word with letters")
    return form


def _near(neighbours: list[Neighbour]) -> list[Near]:
    return [Near(neighbour.name, round(neighbour.similarity, 5)) for neighbour in neighbours]


def _class_of(explored: ExploredModel, number: int) -> WordClass | None:
    partition = explored.model.partition
    if partition is None:
        return None
    own = int(partition.class_of[number])
    members = partition.members[own][: EXAMPLES + 1 + len(RESERVED)].tolist()
    others = [word for word in members if word != number and word >= len(RESERVED)]
    words = explored.model.vocabulary.words
    return WordClass(own, int(partition.sizes[own]), [words[word] for word in others[:EXAMPLES]])


# ---------------------------------------------------------------- parts


def _parts(vectors: WordVectors, composition: Composition, k: int) -> list[Part]:
    """The morphemes in the order of the word, those without a vector included."""
    if vectors.factors is None:
        return []
    known = _known_parts(vectors, vectors.factors, list(dict.fromkeys(composition.known)), k)
    known_parts = {part.name: part for part in known}
    return [
        known_parts[name] if is_known else Part(name, *split_name(name), False, 0, [], [])
        for name, is_known in composition.parts
    ]


def _known_parts(vectors: WordVectors, factors: Factors, names: list[str], k: int) -> list[Part]:
    if not names:
        return []
    near = vectors.nearest_morphemes_of_all(names, k, morphemes=True)
    return [_known_part(factors, name, _near(neighbours)) for name, neighbours in zip(names, near, strict=True)]


def _known_part(factors: Factors, name: str, neighbours: list[Near]) -> Part:
    """Words are ordered by frequency, so those with the smallest ids are the best examples."""
    words = np.unique(factors.inverse[factors.ids[name]])
    words = words[words >= len(RESERVED)]
    examples = [factors.vocabulary.words[word] for word in words[:EXAMPLES].tolist()]
    return Part(name, *split_name(name), True, len(words), examples, neighbours)


def _notes(explored: ExploredModel, composition: Composition) -> list[str]:
    """Explanations of what is missing."""
    vectors = explored.vectors
    if composition.word == UNKNOWN:
        return ["the model's training text had <unk> in place of such words"]
    if vectors is None:
        return [f"a model of the kind {explored.model.kind} has no word vectors; choose another to see neighbours"]
    if composition.origin == "unknown":
        return [_why_unknown(vectors.factors)]
    if composition.origin == "affixes":
        return [f"{composition.format()}; its neighbours are words of the same form, not of the same meaning"]
    if composition.origin == "known" and vectors.factors is not None and not composition.parts:
        return ["the word has no morphemes but itself"]
    return []


def _why_unknown(factors: Factors | None) -> str:
    if factors is None:
        return "the model has not seen this word, and has no morphemes to compose it of"
    if factors.analyser is None:
        return "the model has not seen this word, and cannot tell the morphemes of new words"
    return "the model has not seen this word, nor any of its morphemes"
