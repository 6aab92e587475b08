"""Small language models and random grammars over the same few words."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import strategies as st

from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.ngram.training import train_ngram
from morphlm.translation.grammar.rules import Rule, RuleTable, table_of

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


MODELS = {
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
