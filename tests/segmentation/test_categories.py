"""The categories: best paths against all paths, cost against its definition and FlatCat's, moves against recounting."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.errors import ConfigError
from morphlm.segmentation.baseline import train_baseline
from morphlm.segmentation.categories import CategoryConfig, CategoryModel, morphs_of_pieces, perplexities
from morphlm.segmentation.encoding import encode_words
from morphlm.segmentation.kernels import categories as kernels
from morphlm.segmentation.kernels.cleaning import clean_word
from morphlm.segmentation.kernels.paths import (
    EDGE,
    NEVER,
    PRE,
    STM,
    SUF,
    ZZZ,
    LabelledWords,
    PathCosts,
    UnknownStems,
    label_words,
)
from morphlm.segmentation.new_words import best_paths, generalised, string_of
from morphlm.segmentation.segmenter import SegmenterConfig
from tests.segmentation.test_baseline import defined_cost, generated_words, x_log_x

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package has invalid escapes
    from flatcat.categorizationscheme import CategorizedMorph, MorphUsageProperties
    from flatcat.flatcat import FlatcatModel

NAMES = ("PRE", "STM", "SUF", "ZZZ")
vocabularies = st.sets(st.text("abc", min_size=1, max_size=10), min_size=3, max_size=30)
operations = st.lists(st.sampled_from(["split", "join", "shift", "resegment"]), min_size=1, max_size=5)
CONFIG = CategoryConfig(perplexity_threshold=2.5)


def model_of(vocabulary: Any, weight: float = 0.5, dampening: Any = "types") -> CategoryModel:
    words = encode_words(dict(zip(sorted(vocabulary), itertools.cycle([1, 2, 5]))), dampening)
    baseline = train_baseline(words, weight, np.random.default_rng(1))
    config = CategoryConfig(corpus_weight=weight, perplexity_threshold=2.5)
    model = CategoryModel(words, baseline.morphs, config)
    model.start_labels()
    return model


def analyses(model: CategoryModel) -> list[tuple[int, list[tuple[str, int]]]]:
    result = []
    words = model.state.words
    for word, begin in enumerate(words.bounds[:-1].tolist()):
        morphs = words.morphs[begin : begin + int(words.sizes[word])].tolist()
        forms = [string_of(model.words, model.state.table, morph) for morph in morphs]
        result.append((int(words.weights[word]), list(zip(forms, words.labels[begin:].tolist(), strict=False))))
    return result


def random_costs(seed: int, morphs: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    transitions = rng.exponential(3.0, (5, 5))
    for before, after in itertools.product(range(5), repeat=2):
        if not kernels.allowed(before, after):
            transitions[before, after] = NEVER
    return rng.exponential(5.0, (morphs, 4)), transitions


def path_cost(morphs: list[int], labels: tuple[int, ...], emissions: Any, transitions: Any) -> float:
    states = [EDGE, *labels, EDGE]
    return float(
        sum(transitions[a, b] for a, b in itertools.pairwise(states))
        + sum(emissions[m, c] for m, c in zip(morphs, labels, strict=True))
    )


# ---------------------------------------------------------------- best paths


@given(st.integers(0, 10**6), st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=4), min_size=1, max_size=5))
def test_labels_are_the_best_of_all(seed: int, words: list[list[int]]) -> None:
    emissions, transitions = random_costs(seed, 6)
    sizes = np.array([len(word) for word in words], np.int32)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    morphs = np.array(list(itertools.chain(*words)), np.int32)
    corpus = LabelledWords(bounds, sizes, morphs, np.full(len(morphs), -1, np.int8), np.ones(len(words), np.int64))
    assert label_words(corpus, emissions, transitions) == len(words)
    for word, begin in zip(words, bounds.tolist(), strict=False):
        found = tuple(corpus.labels[begin : begin + len(word)].tolist())
        lowest = min(
            path_cost(word, labels, emissions, transitions) for labels in itertools.product(range(4), repeat=len(word))
        )
        assert path_cost(word, found, emissions, transitions) == pytest.approx(lowest)
    assert label_words(corpus, emissions, transitions) == 0


def cuts_of(word: str) -> list[list[str]]:
    result = []
    for boundaries in itertools.product([False, True], repeat=len(word) - 1):
        pieces, start = [], 0
        for place, boundary in enumerate(boundaries, 1):
            if boundary:
                pieces.append(word[start:place])
                start = place
        result.append([*pieces, word[start:]])
    return result


def whole(vocabulary: list[str]) -> CategoryModel:
    """A model in which every word is one morph."""
    words = encode_words(dict.fromkeys(vocabulary, 1), "types")
    lengths = np.zeros(int(words.bounds[-1]), np.int32)
    lengths[words.bounds[:-1]] = np.diff(words.bounds)
    return CategoryModel(words, morphs_of_pieces(words, lengths, np.ones(len(words.words), np.int32)), CONFIG)


lexicons = st.sets(st.text("ab", min_size=1, max_size=3), max_size=6)


@settings(max_examples=25)
@given(st.integers(0, 10**6), lexicons, st.text("abc", min_size=1, max_size=5))
def test_paths_are_the_best_of_all_cuts_and_labels(seed: int, lexicon: set[str], word: str) -> None:
    """Morphs of the lexicon with any label, everything else as a new stem."""
    model = whole([word, *sorted(lexicon - {word}), "d"])
    words, table = model.words, model.state.table
    emissions, transitions = random_costs(seed, len(table.keys))
    letters = np.random.default_rng(seed).exponential(2.0, len(words.letters.codes))
    number = {}
    for entry in range(kernels.FIRST_MORPH, int(table.size[0])):
        form = string_of(words, table, entry)
        if form in lexicon:
            number[form] = entry
        else:
            emissions[entry] = NEVER

    def total(pieces: list[str], labels: tuple[int, ...]) -> float:
        value = path_cost([0] * len(pieces), labels, np.zeros((1, 4)), transitions)
        for piece, label in zip(pieces, labels, strict=True):
            known = emissions[number[piece], label] if piece in number else NEVER
            spelled = 1.5 + sum(letters[words.alphabet.index(c)] for c in piece) if label == STM else NEVER
            value += min(known, spelled)
        return value

    costs = PathCosts(table, 10, emissions, transitions, UnknownStems(1.5, letters))
    pieces = best_paths(words.letters, words.bounds, costs)
    size = int(pieces.sizes[0])
    found = [word[a:b] for a, b in itertools.pairwise([*pieces.starts[:size].tolist(), len(word)])]
    lowest = min(total(cut, labels) for cut in cuts_of(word) for labels in itertools.product(range(4), repeat=len(cut)))
    assert total(found, tuple(pieces.labels[:size].tolist())) == pytest.approx(lowest)


# ---------------------------------------------------------------- features and cost


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.integers(1, 9)), min_size=1, max_size=12)
)
def test_perplexities_by_counting(words: list[tuple[list[int], int]]) -> None:
    lengths = np.array([1, 2, 3, 4, 5, 6, 7])
    contexts: tuple[Any, Any] = (defaultdict(Counter), defaultdict(Counter))
    for morphs, weight in words:
        for k, morph in enumerate(morphs):
            for side, at in ((0, k - 1), (1, k + 1)):
                edge = not 0 <= at < len(morphs)
                if edge or lengths[morphs[at]] >= 4:
                    contexts[side][morph]["edge" if edge else morphs[at]] += weight
    sizes = np.array([len(morphs) for morphs, _ in words])
    flat = np.array([morph for morphs, _ in words for morph in morphs])
    weights = np.repeat([weight for _, weight in words], sizes)
    for side, found in enumerate(perplexities(flat, sizes, weights, lengths, 4)):
        for morph in set(flat.tolist()):
            counts = contexts[side][morph]
            total = sum(counts.values())
            entropy = -sum(c / total * math.log(c / total) for c in counts.values())
            assert found[morph] == pytest.approx(math.exp(entropy))


@given(st.floats(1, 200), st.floats(1, 200), st.integers(1, 12), st.sampled_from([2.5, 10.0, 50.0]))
def test_categories_of_a_morph_are_flatcats(left: float, right: float, length: int, threshold: float) -> None:
    morphs = kernels.MorphTable(
        np.ones(1, np.int64), np.array([left]), np.array([right]), np.zeros((1, 4)), np.zeros((1, 4))
    )
    kernels.set_categories(0, length, morphs, CategoryConfig(perplexity_threshold=threshold).shape)
    oracle = MorphUsageProperties(ppl_threshold=threshold, pre_ppl_threshold=2 * threshold)
    oracle._contexts["x" * length] = oracle._contexts["x" * length]._replace(
        count=1, left_perplexity=left, right_perplexity=right
    )
    assert morphs.p_category[0] == pytest.approx(list(oracle.condprobs("x" * length)), rel=1e-6, abs=1e-9)
    assert morphs.p_category[0].sum() == pytest.approx(1.0)


def category_cost(words: list[tuple[int, list[tuple[str, int]]]], model: CategoryModel, weight: float) -> float:
    """The cost from its definition: the words under the chain, then frequencies, spelling and features."""
    chain: Counter[tuple[int, int]] = Counter()
    counts: Counter[str] = Counter()
    labels: Counter[int] = Counter()
    table, morphs = model.state.table, model.state.morphs
    entry_of = {string_of(model.words, table, entry): entry for entry in range(kernels.FIRST_MORPH, int(table.size[0]))}
    for count, analysis in words:
        for a, b in itertools.pairwise([EDGE, *(label for _, label in analysis), EDGE]):
            chain[a, b] += count
        for form, label in analysis:
            counts[form] += count
            labels[label] += count
    rows: Counter[int] = Counter()
    for (a, _), n in chain.items():
        rows[a] += n
    corpus = -sum(n * math.log(n / rows[a]) for (a, _), n in chain.items())
    for count, analysis in words:
        for form, label in analysis:
            corpus -= count * (math.log(counts[form] / labels[label]) + morphs.log_p_category[entry_of[form], label])
    plain = [(count, tuple(form for form, _ in analysis)) for count, analysis in words]
    lexicon = defined_cost(plain, 0.0)
    features = sum(
        2 * math.log(2.865)
        + math.log(morphs.left_perplexity[entry_of[form]])
        + math.log(morphs.right_perplexity[entry_of[form]])
        for form in counts
    )
    return weight * corpus + lexicon + features


@settings(max_examples=20)
@given(vocabularies, st.sampled_from([0.3, 1.0]), st.sampled_from(["types", "tokens"]))
def test_the_cost_is_the_defined_one(vocabulary: set[str], weight: float, dampening: Any) -> None:
    model = model_of(vocabulary, weight, dampening)
    assert model.cost == pytest.approx(category_cost(analyses(model), model, weight), rel=1e-9)


def test_the_cost_differs_from_flatcats_by_the_category_frequencies() -> None:
    """FlatCat charges joint probabilities of neighbouring categories and leaves out what P(c) takes back."""
    model = model_of(generated_words(300), 0.7)
    oracle = FlatcatModel(MorphUsageProperties(ppl_threshold=2.5, pre_ppl_threshold=5.0), corpusweight=0.7)
    words = analyses(model)
    oracle.add_corpus_data(
        [(count, tuple(CategorizedMorph(form, NAMES[label]) for form, label in word)) for count, word in words]
    )
    oracle.reestimate_probabilities()
    rows = model.state.chain.transitions.sum(axis=1).tolist()
    tokens = sum(rows[:4])
    surplus = x_log_x([tokens, sum(rows)]) - 2 * x_log_x([n for n in rows[:4] if n]) - x_log_x(rows[4:])
    assert model.cost == pytest.approx(oracle.get_cost() - 0.7 * surplus, rel=1e-9)


# ---------------------------------------------------------------- moves


@settings(max_examples=25)
@given(vocabularies, operations, st.sampled_from(["types", "tokens"]))
def test_moves_lower_the_cost_by_what_they_claim(vocabulary: set[str], names: list[str], dampening: Any) -> None:
    model = model_of(vocabulary, 0.5, dampening)
    forms = [word for word, *_ in zip(model.words.words, strict=True)]
    measure = model.measure
    for name in names:
        model.measure = lambda: None  # type: ignore[method-assign]
        before = model.cost
        made = getattr(model, name)()
        claimed = model.cost
        assert claimed <= before + 1e-9
        assert (made > 0) == (claimed < before - 1e-10)
        model.recount()
        assert model.cost == pytest.approx(claimed, rel=1e-9)
        assert claimed == pytest.approx(category_cost(analyses(model), model, 0.5), rel=1e-9)
        measure()
        assert ["".join(form for form, _ in analysis) for _, analysis in analyses(model)] == forms


@pytest.mark.parametrize("seed", range(20))
def test_new_morphs_get_the_best_of_all_labels(seed: int) -> None:
    """Each category costs its transition, -log P(category | morph) and the log of its tokens: both of a pair count."""
    model = whole(["ab", "cd"])
    first, second = kernels.FIRST_MORPH, kernels.FIRST_MORPH + 1
    chain, rng = model.state.chain, np.random.default_rng(seed)
    model.state.morphs.log_p_category[:] = -rng.exponential(1.0, model.state.morphs.log_p_category.shape)
    chain.costs[:] = random_costs(seed, 1)[1]
    chain.tokens[:] = np.exp(rng.normal(0.0, 3.0, 4))

    def cost(before: int, after: int, morphs: list[int], labels: tuple[int, ...]) -> float:
        states = [before, *labels, after]
        emissions = [
            math.log(chain.tokens[c]) - model.state.morphs.log_p_category[m, c]
            for m, c in zip(morphs, labels, strict=True)
        ]
        return float(sum(chain.costs[a, b] for a, b in itertools.pairwise(states)) + sum(emissions))

    for before, after in itertools.product((PRE, STM, SUF, ZZZ, EDGE), repeat=2):
        for morphs in ([first], [first, second]):
            labels = np.zeros((5, 5, 2), np.int8)
            kernels.choose_labels(before, after, first, [*morphs, kernels.NO_MORPH][1], model.state, labels)
            chosen = tuple(labels[before, after, : len(morphs)].tolist())
            lowest = min(cost(before, after, morphs, c) for c in itertools.product(range(4), repeat=len(morphs)))
            assert cost(before, after, morphs, chosen) == pytest.approx(lowest)


@pytest.mark.parametrize(
    ("second", "first_length", "join", "expected"),
    [(7, 3, True, (6, 6)), (kernels.NO_MORPH, 6, False, (1, 5)), (7, 3, False, (2, 4)), (7, 4, False, (2, 4))],
)
def test_where_moves_may_cut(second: int, first_length: int, join: bool, expected: tuple[int, int]) -> None:
    """Of six letters: a join at the end, a split anywhere, a shift by two letters that leaves two on either side."""
    rule = np.array([5, second, STM, STM, 0])
    assert kernels.cut_range(rule, first_length, 6, join, 2, 2) == expected


def test_a_join_reaches_all_words_that_have_the_pair() -> None:
    endings = ["ovat", "ejsi", "nikem", "ostmi", "ulach", "inych"]
    words = encode_words({f"kamen{ending}": 1 for ending in endings}, "types")
    lengths, sizes = np.zeros(int(words.bounds[-1]), np.int32), np.zeros(len(endings), np.int32)
    for word, ending in enumerate(endings):
        lengths[words.bounds[word] : words.bounds[word] + 3] = 3, 2, len(ending)
        sizes[word] = 3
    model = CategoryModel(words, morphs_of_pieces(words, lengths, sizes), CONFIG)
    model.start_labels()
    assert {analysis[0][0] for _, analysis in analyses(model)} == {"kam"}
    assert model.join() > 0
    assert {analysis[0][0] for _, analysis in analyses(model)} == {"kamen"}


def test_lists_of_changed_words_that_are_full_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the lists run full in the midst of an operation, the moves still lower the cost by what they claim."""
    rng = np.random.default_rng(5)
    stems = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(30)]
    words = encode_words({stem + ending: 1 for stem in stems for ending in ("ab", "cd", "ef", "gh")}, "types")
    sizes = np.full(len(words.words), 4, np.int32)
    model = CategoryModel(words, morphs_of_pieces(words, np.full(int(words.bounds[-1]), 2, np.int32), sizes), CONFIG)
    model.start_labels()
    make, calls = model._list_occurrences, []

    def small(rules: Any) -> kernels.Occurrences:
        occurrences = make(rules)
        calls.append(len(rules))
        if len(calls) < 4:
            occurrences.size[0] = len(occurrences.word) - 40  # nearly full from the start
        return occurrences

    monkeypatch.setattr(model, "_list_occurrences", small)
    monkeypatch.setattr(model, "measure", lambda: None)
    before = model.cost
    for name in ("join", "shift", "split", "join"):
        getattr(model, name)()
    claimed = model.cost
    assert claimed < before
    assert len(calls) > 4
    model.recount()
    assert model.cost == pytest.approx(claimed, rel=1e-9)
    assert [w for w, _ in zip(model.words.words, analyses(model), strict=True)] == [
        "".join(form for form, _ in analysis) for _, analysis in analyses(model)
    ]


# ---------------------------------------------------------------- non-morphemes


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(3, ZZZ)], [(3, STM)]),
        ([(2, ZZZ), (2, ZZZ)], [(4, STM)]),
        ([(2, ZZZ), (1, ZZZ), (4, STM)], [(7, STM)]),
        ([(4, STM), (1, ZZZ), (2, SUF)], [(5, STM), (2, SUF)]),
        ([(4, STM), (2, SUF), (1, ZZZ)], [(4, STM), (2, SUF), (1, SUF)]),
        ([(4, STM), (2, SUF), (1, ZZZ), (4, STM)], [(4, STM), (3, SUF), (4, STM)]),
        ([(2, PRE), (1, ZZZ), (5, STM)], [(3, PRE), (5, STM)]),
        ([(1, ZZZ), (5, STM), (1, SUF)], [(6, STM), (1, SUF)]),
        ([(4, STM), (2, ZZZ), (2, ZZZ), (5, STM)], [(4, STM), (4, STM), (5, STM)]),
        ([(4, STM), (2, ZZZ), (1, ZZZ), (5, STM)], [(7, STM), (5, STM)]),
    ],
)
def test_how_non_morphemes_go(pieces: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    lengths = np.array([length for length, _ in pieces], np.int32)
    labels = np.array([label for _, label in pieces], np.int8)
    size = clean_word(lengths, labels, len(pieces))
    assert list(zip(lengths[:size].tolist(), labels[:size].tolist(), strict=True)) == expected


@settings(max_examples=20)
@given(vocabularies)
def test_cleaned_words_have_a_stem_and_no_non_morpheme(vocabulary: set[str]) -> None:
    model = model_of(vocabulary)
    model.train()
    for cleaned in (model.cleaned(), generalised(model.cleaned())):
        for word, (_, analysis) in zip(cleaned.words.words, analyses(cleaned), strict=True):
            labels = [label for _, label in analysis]
            assert "".join(form for form, _ in analysis) == word
            assert STM in labels
            assert ZZZ not in labels
            assert all(kernels.allowed(a, b) for a, b in itertools.pairwise([EDGE, *labels, EDGE]))


def test_thresholds_have_their_range() -> None:
    with pytest.raises(ConfigError, match="perplexity_threshold"):
        SegmenterConfig(perplexity_threshold=1.0)
    with pytest.raises(ConfigError, match="corpus_weight"):
        SegmenterConfig(corpus_weight=0.0)
