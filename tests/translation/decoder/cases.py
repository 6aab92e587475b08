"""Small language models and random grammars over the same few words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from hypothesis import strategies as st

from morphlm import kinds
from morphlm.arrays import Float64Array, Int32Array
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixture import MixtureModel, WeightsBy, as_components, contexts_of
from morphlm.translation.grammar.rules import Rule, RuleTable, table_of
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, Vocabulary

from ...logbilinear.cases import make_case

SOURCE = ("a", "b", "c")
TARGET = ("w0", "w1", "w2", "w3", "new", "newer")  # the last two are unknown
FEATURES = ("f", "g")


@cache
def ngram(order: int = 3, seed: int = 1) -> LanguageModel:
    """Trained on so little text that all ways of backing off occur."""
    rng = np.random.default_rng(seed)
    text = [[f"w{word}" for word in rng.integers(0, 5, rng.integers(1, 7))] for _ in range(12)]
    return train_ngram(text, order)


@cache
def logbilinear(kind: str = "clbl++", order: int = 3, diagonal: bool = True) -> LanguageModel:
    case = make_case(kind, diagonal, order=order, width=4, words=9, classes=3)
    return LogBilinearModel(case.config, case.structure, case.parameters, {})


class ClassBigram(LanguageModel):
    """A kind that the package does not know: p(c | class of the word before) p(w | c), with states of its own."""

    kind = "test-class-bigram"
    order = 2

    def __init__(self, vocabulary: Vocabulary, classes: int = 3, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.vocabulary, self.training = vocabulary, {}
        self.class_of = np.arange(len(vocabulary)) % classes
        self.transitions = rng.dirichlet(np.ones(classes), classes + 1)  # the last row: nothing is known
        words = rng.random(len(vocabulary))
        words[BEGIN_ID] = 0.0
        self.words = words / np.bincount(self.class_of, words)[self.class_of]

    def begin(self, *, sentence: bool = True, unknown_contexts: str = "unk") -> int:
        return int(self.class_of[BEGIN_ID]) if sentence else len(self.transitions) - 1

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        with np.errstate(divide="ignore"):
            return float(np.log(self.distribution(state)[word])), int(self.class_of[word])

    def distribution(self, state: int) -> Float64Array:
        probabilities: Float64Array = self.transitions[state][self.class_of] * self.words
        return probabilities

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        states = [self.begin(), *self.class_of[tokens[:-1]].tolist()]
        states = [self.begin() if at and tokens[at - 1] == END_ID else state for at, state in enumerate(states)]
        return self.score_many(states, tokens)[0]

    def save(self, directory: object) -> None:
        raise NotImplementedError


def class_bigram_from_files(directory: object, files: object) -> ClassBigram:
    raise NotImplementedError


kinds.register(kinds.ModelKind(ClassBigram.kind, "A class bigram of the tests.", f"{__name__}:class_bigram_from_files"))


@cache
def class_bigram() -> LanguageModel:
    return ClassBigram(logbilinear().vocabulary)


@cache
def mixture(*parts: str, weights_by: WeightsBy = "none") -> MixtureModel:
    """Of models with one vocabulary; by context, every bucket has other weights."""
    shared = logbilinear().vocabulary
    rng = np.random.default_rng(2)
    text = [[f"w{word}" for word in rng.integers(0, 5, rng.integers(1, 7))] for _ in range(12)]
    makers: dict[str, Callable[[], LanguageModel]] = {
        "mkn": lambda: train_ngram(text, 3, vocabulary=shared),
        "bigram": lambda: train_ngram(text, 2, vocabulary=shared),
        "clbl++": logbilinear,
        "classes": class_bigram,
        "mixture": lambda: mixture("mkn", "clbl++", weights_by="context"),
    }
    components = as_components([makers[part]() for part in parts], [None] * len(parts))
    buckets = contexts_of(components, weights_by).buckets
    return MixtureModel(components, rng.dirichlet(np.ones(len(parts)), buckets), weights_by, {})


MODELS: dict[str, tuple[Callable[[], LanguageModel], ...]] = {
    "class bigram": (class_bigram,),
    "mkn and class bigram": (ngram, class_bigram),
    "mixture": (lambda: mixture("mkn", "clbl++"),),
    "mixture by context and clbl++": (lambda: mixture("clbl++", "mkn", weights_by="context"), logbilinear),
    "mkn of order 4, mixture of a mixture": (
        lambda: ngram(4),
        lambda: mixture("mixture", "bigram", "classes", weights_by="context"),
    ),
    "mixture by the last word": (lambda: mixture("clbl++", "classes", weights_by="context"),),
    "none": (),
    "mkn": (ngram,),
    "clbl++": (logbilinear,),
    "mkn and clbl++": (ngram, logbilinear),
    "clbl++, mkn of order 4": (logbilinear, lambda: ngram(4)),
    "mkn of order 2, clbl of order 4 and mkn of order 3": (
        lambda: ngram(2),
        lambda: logbilinear("clbl", 4, False),
        lambda: ngram(3, 5),
    ),
    "unigrams": (lambda: ngram(1),),
}


def models_of(name: str) -> dict[str, LanguageModel]:
    return {f"LM{number}": make() for number, make in enumerate(MODELS[name])}


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """With up to two gaps, in either order on the target side."""
    gaps = draw(st.integers(0, 2))
    words = draw(st.lists(st.sampled_from(SOURCE), min_size=0 if gaps == 2 else 1, max_size=2))
    source: list[str | int] = list(words)
    places = sorted(draw(st.lists(st.integers(0, len(words)), min_size=gaps, max_size=gaps)))
    for number, place in reversed(list(enumerate(places, 1))):
        source.insert(place, number)
    target: list[str | int] = list(draw(st.lists(st.sampled_from(TARGET), min_size=0 if gaps else 1, max_size=3)))
    for number in range(1, gaps + 1):
        target.insert(draw(st.integers(0, len(target))), number)
    # Values that are not rounded, so that scores are hardly ever equal.
    features = {name: draw(st.floats(-3, 3, width=32)) for name in FEATURES}
    return Rule(tuple(source), tuple(target), features)


tables = st.lists(rules(), max_size=7).map(lambda drawn: table_of(drawn, FEATURES))
sentences = st.lists(st.sampled_from((*SOURCE, "d", "w1")), max_size=4).map(tuple)
NAMES = (*FEATURES, "WordPenalty", "RulePenalty", "Glue", "PassThrough")


def weights_for(models: dict[str, LanguageModel]) -> st.SearchStrategy[dict[str, float]]:
    numbers = st.floats(-2, 2)
    return st.fixed_dictionaries(
        dict.fromkeys(NAMES, numbers)
        | {name: st.floats(-0.5, 2) for name in models}
        | {f"{name}_OOV": numbers for name in models}
    )


def table(*lines: tuple[str, str, float]) -> RuleTable:
    """Rules as strings; `1` and `2` are gaps."""

    def side(text: str) -> tuple[str | int, ...]:
        return tuple(int(symbol) if symbol in ("1", "2") else symbol for symbol in text.split())

    return table_of([Rule(side(source), side(target), {"f": value}) for source, target, value in lines], FEATURES)
