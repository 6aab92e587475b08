"""All derivations of a sentence by brute force, scored by what the models themselves say to whole sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from morphlm.language_model.base import LanguageModel
from morphlm.translation.grammar.rules import RuleTable, Symbols
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

Words = tuple[str, ...]
Features = Counter[str]
Parts = list[tuple[Words, Features]]


@dataclass(frozen=True)
class Scored:
    words: Words
    features: dict[str, float]
    score: float


def matches(symbols: Symbols, tokens: Words, begin: int, end: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """The spans of the gaps, for each way to match the source side of a rule."""
    if not symbols:
        if begin == end:
            yield ()
    elif isinstance(symbols[0], str):
        if begin < end and tokens[begin] == symbols[0]:
            yield from matches(symbols[1:], tokens, begin + 1, end)
    else:
        for middle in range(begin + 1, end + 1):
            for rest in matches(symbols[1:], tokens, middle, end):
                yield ((begin, middle), *rest)


def parts_of(table: RuleTable, tokens: Words, widest: int, pass_all: bool = False) -> dict[tuple[int, int], Parts]:
    """All translations of X for every span."""
    chart: dict[tuple[int, int], Parts] = {}
    for width in range(1, min(widest, len(tokens)) + 1):
        for begin in range(len(tokens) - width + 1):
            chart[begin, begin + width] = list(_of_span(table, tokens, begin, begin + width, chart, pass_all))
    return chart


def _of_span(
    table: RuleTable, tokens: Words, begin: int, end: int, chart: Mapping[tuple[int, int], Parts], pass_all: bool
) -> Iterator[tuple[Words, Features]]:
    known = False
    for rule in table:
        for spans in matches(rule.source, tokens, begin, end):
            known = True
            for filling in product(*(chart.get(span, []) for span in spans)):
                words: list[str] = []
                for symbol in rule.target:
                    words += [symbol] if isinstance(symbol, str) else filling[symbol - 1][0]
                own = {**rule.features, "RulePenalty": 1, "WordPenalty": sum(isinstance(s, str) for s in rule.target)}
                yield tuple(words), sum_of([Counter(own), *(features for _, features in filling)])
    if end - begin == 1 and (pass_all or not known):
        yield (tokens[begin],), Counter({"PassThrough": 1, "RulePenalty": 1, "WordPenalty": 1})


def sum_of(features: Sequence[Features]) -> Features:
    total: Features = Counter()
    for other in features:
        for name, value in other.items():
            total[name] += value
    return total


def all_derivations(
    table: RuleTable,
    tokens: Words,
    models: Mapping[str, LanguageModel],
    weights: Mapping[str, float],
    widest: int = 15,
    pass_all: bool = False,
) -> list[Scored]:
    """The best first."""
    chart = parts_of(table, tokens, widest, pass_all)
    glued: list[Parts] = [[((), Counter())]]
    for end in range(1, len(tokens) + 1):
        here: Parts = []
        for begin in range(max(0, end - widest), end):
            glue = Counter({"Glue": 1 if begin else 0})
            for (left, a), (right, b) in product(glued[begin], chart[begin, end]):
                here.append(((*left, *right), sum_of([a, b, glue])))
        glued.append(here)
    memory: dict[Words, dict[str, float]] = {}
    found = []
    for words, counted in glued[-1]:
        if words not in memory:
            memory[words] = said(models, words)
        features = {**counted, **memory[words]}
        found.append(Scored(words, features, sum(weights.get(name, 0.0) * v for name, v in features.items())))
    return sorted(found, key=lambda one: -one.score)


def said(models: Mapping[str, LanguageModel], words: Words) -> dict[str, float]:
    """What each model says to a sentence, and how many of its words it does not know."""
    features: dict[str, float] = {}
    for name, model in models.items():
        features[name] = total(model, words)
        features[f"{name}_OOV"] = float((model.vocabulary.encode(words) == UNK_ID).sum())
    return features


@cache
def total(model: LanguageModel, words: Words) -> float:
    """By states, which is many times faster than `sentence` for a few words."""
    state, result = model.begin(), 0.0
    for word in (*model.vocabulary.encode(words).tolist(), END_ID):
        logprob, state = model.score_id(state, word)
        result += logprob
    return result
