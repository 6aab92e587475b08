"""Examples to click on the entry page, drawn from the models themselves: words, new words, sentences, morphemes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import islice

import numpy as np

from morphlm.errors import ConfigError
from morphlm.report.examples import common_words, content_words, is_telling, is_word, spread
from morphlm.report.explorer.models import ExploredModel
from morphlm.scoring.generation import GenerationOptions, generate
from morphlm.segmentation.factors import Factors
from morphlm.segmentation.morphemes import PREFIX, SUFFIX, split_name
from morphlm.text.reading import RESERVED
from morphlm.vectors.vectors import WordVectors

WORDS, NEW_WORDS, SENTENCES, MORPHEMES = 8, 8, 5, 10
CANDIDATES = 60  # words of content, from which those to show are spread
PARADIGM_WORDS = 6000  # frequent words whose endings say which endings a stem may take
FEWEST_STEMS = 3  # that take both of two endings
SEED, DRAWN = 1, 40  # sentences that are drawn until enough of them have a good length
LENGTHS = (4, 14)
OPTIONS = GenerationOptions(max_words=LENGTHS[1] + 1, temperature=0.8)


@dataclass(frozen=True)
class ExamplesView:
    """What is worth asking a model."""

    model: str
    words: list[str]  # that it has seen
    new_words: list[str]  # that it has not seen, of a stem and an ending that it knows
    sentences: list[str]  # that it made up; tokens between spaces, prepared like its text
    morphemes: list[str]  # form/LABEL


def examples_of(explored: ExploredModel) -> ExamplesView:
    """The same for equal models."""
    vectors = explored.vectors
    return ExamplesView(
        model=explored.name,
        words=_words(explored),
        new_words=[] if vectors is None else invented_words(vectors),
        sentences=made_up_sentences(explored),
        morphemes=[] if vectors is None or vectors.factors is None else _morphemes(vectors.factors),
    )


def _words(explored: ExploredModel) -> list[str]:
    """Frequent words of content."""
    model = explored.model
    chosen = [] if model.partition is None else content_words(model.partition, CANDIDATES)
    return spread(chosen or common_words(model.vocabulary, CANDIDATES), WORDS)


def _morphemes(factors: Factors) -> list[str]:
    """Frequent affixes of two letters or more; where nothing is labelled, whatever is frequent."""
    names = factors.names[factors.surfaces :]  # frequent ones first
    affixes = [name for name in names if split_name(name)[1] in (PREFIX, SUFFIX) and len(split_name(name)[0]) > 1]
    return list((affixes or [name for name in names if is_word(split_name(name)[0])])[:MORPHEMES])


def made_up_sentences(explored: ExploredModel) -> list[str]:
    """Sentences of the model, neither short nor cut; none, if it knows of nothing but unknown words."""
    drawn = generate(explored.model, np.random.default_rng(SEED), options=OPTIONS)
    try:
        found = [one for one in islice(drawn, DRAWN) if one.complete]
    except ConfigError:
        return []
    fitting = [one for one in found if LENGTHS[0] <= len(one.words) <= LENGTHS[1]]
    return list(dict.fromkeys(one.text for one in fitting or found if one.words))[:SENTENCES]


# ---------------------------------------------------------------- words that nobody has written


@dataclass(frozen=True)
class _Paradigms:
    """Which endings stand after which stems, among the frequent words."""

    endings_of: dict[str, set[str]]
    stems_of: dict[str, set[str]]

    def support(self, stem: str, ending: str) -> float:
        """The largest share of the stems with an ending of this one that also take the other ending."""
        shares = []
        for own in self.endings_of[stem]:
            both = len(self.stems_of[own] & self.stems_of[ending])
            shares.append(both / len(self.stems_of[own]) if both >= FEWEST_STEMS else 0.0)
        return max(shares)


def invented_words(vectors: WordVectors) -> list[str]:
    """Words that the model has not seen: a known stem with an ending that stems of the same kind take.

    All their parts have vectors, as the model's own analysis of them says.
    """
    factors = vectors.factors
    if factors is None or factors.analyser is None:
        return []
    paradigms = _paradigms(factors)
    frequent = [ending for ending, _ in Counter({e: len(s) for e, s in paradigms.stems_of.items()}).most_common(30)]
    candidates = [
        (paradigms.support(stem, ending), stem, ending)
        for stem in paradigms.endings_of
        for ending in frequent
        if ending not in paradigms.endings_of[stem] and not vectors.known(stem + ending) and is_telling(stem + ending)
    ]
    candidates.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    return _first_composed(vectors, [entry for entry in candidates if entry[0] > 0])


def _paradigms(factors: Factors) -> _Paradigms:
    endings_of: dict[str, set[str]] = defaultdict(set)
    stems_of: dict[str, set[str]] = defaultdict(set)
    words = factors.vocabulary.words
    for number in range(len(RESERVED), min(len(words), PARADIGM_WORDS)):
        forms = [split_name(name)[0] for name in factors.names_of(number)]
        if len(forms) == 2 and "".join(forms) == words[number]:  # not n-grams of letters, which overlap
            endings_of[forms[0]].add(forms[1])
            stems_of[forms[1]].add(forms[0])
    return _Paradigms(dict(endings_of), dict(stems_of))


def _first_composed(vectors: WordVectors, candidates: list[tuple[float, str, str]]) -> list[str]:
    """One word a stem, and not more than two with the same ending."""
    chosen: list[str] = []
    stems: set[str] = set()
    endings: Counter[str] = Counter()
    for _, stem, ending in candidates:
        if len(chosen) == NEW_WORDS:
            break
        if stem in stems or endings[ending] == 2:
            continue
        composition = vectors.composition(stem + ending)
        if composition.origin == "composed" and len(composition.known) > 1 and not composition.unknown:
            chosen.append(stem + ending)
            stems.add(stem)
            endings[ending] += 1
    return chosen
