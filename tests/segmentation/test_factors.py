"""mu as a matrix: against dense matrices, by hand, and there and back through its text form."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.arrays import Int64Array
from morphlm.errors import ConfigError, FormatError
from morphlm.segmentation import factors as module
from morphlm.segmentation.factors import FACTORS_FILE, MORPHEMES_FILE, Factors, build_factors, parse_factors
from morphlm.segmentation.morphemes import Morpheme, Segmentation
from morphlm.segmentation.sources.factorisation import from_mapping
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary


def vocabulary_of(words: Mapping[str, int]) -> Vocabulary:
    return Vocabulary((*RESERVED, *words), np.array([5, 9, 9, *words.values()], np.int64))


# "in" is a word, a prefix and a stem; "school" is known to the source as a whole; "dog" is not known
VOCABULARY = vocabulary_of({"dog": 8, "in": 7, "inin": 3, "school": 2, "schools": 1})
SEGMENTATION = Segmentation(
    {
        "inin": (Morpheme("in", "PRE"), Morpheme("in", "STM")),
        "in": (Morpheme("in", "PRE"),),
        "schools": (Morpheme("school", "STM"), Morpheme("s", "SUF")),
        "school": (Morpheme("school", "STM"),),
        "other": (Morpheme("o", "STM"), Morpheme("ther", "SUF")),
        "<unk>": (Morpheme("<unk>", "STM"),),
    }
)


def listed(factors: Factors) -> dict[str, list[str]]:
    """The names of each word's factors, a surface factor in quotes."""
    quoted = [name if k >= factors.surfaces else f"'{name}'" for k, name in enumerate(factors.names)]
    return {word: [quoted[k] for k in factors[number]] for number, word in enumerate(factors.vocabulary)}


def test_words_have_their_surface_form_and_their_morphemes() -> None:
    factors = build_factors(VOCABULARY, SEGMENTATION)
    assert listed(factors) == {
        "<unk>": ["'<unk>'"],
        "<s>": ["'<s>'"],
        "</s>": ["'</s>'"],
        "dog": ["'dog'"],
        "in": ["'in'", "in/PRE"],
        "inin": ["'inin'", "in/PRE", "in/STM"],
        "school": ["'school'", "school/STM"],
        "schools": ["'schools'", "school/STM", "s/SUF"],
    }
    # frequencies in the text: in/PRE 7 + 3, in/STM 3, school/STM 2 + 1, s/SUF 1
    assert factors.names == (*VOCABULARY.words, "in/PRE", "in/STM", "school/STM", "s/SUF")
    assert (factors.surfaces, len(factors), factors.unfactored) == (8, 12, 1)
    assert [factors.kind_of(k) for k in (0, 7, 8, 11)] == ["surface", "surface", "morpheme", "morpheme"]
    assert factors.indptr.tolist() == [0, 1, 2, 3, 4, 6, 9, 11, 14]
    assert factors.indices.tolist() == [0, 1, 2, 3, 4, 8, 5, 8, 9, 6, 10, 7, 10, 11]
    assert (factors.indptr.dtype, factors.indices.dtype) == (np.int64, np.int32)


def test_without_surface_forms_words_that_would_have_nothing_keep_theirs() -> None:
    factors = build_factors(VOCABULARY, SEGMENTATION, surface=False)
    assert listed(factors) == {
        "<unk>": ["'<unk>'"],
        "<s>": ["'<s>'"],
        "</s>": ["'</s>'"],
        "dog": ["'dog'"],
        "in": ["in/PRE"],
        "inin": ["in/PRE", "in/STM"],
        "school": ["school/STM"],
        "schools": ["school/STM", "s/SUF"],
    }
    assert factors.names == ("<unk>", "<s>", "</s>", "dog", "in/PRE", "in/STM", "school/STM", "s/SUF")
    assert (factors.surfaces, factors.unfactored) == (4, 1)


def test_the_figures_are_reported() -> None:
    factors = build_factors(VOCABULARY, SEGMENTATION)
    assert factors.format() == (
        "segmentation\n"
        "  factors  12: 8 surface forms, 4 others\n"
        "  words    5, with 1.75 factors each; 1 have only their surface form"
    )
    assert factors.to_json() == {
        "source": "segmentation",
        "factors": 12,
        "surface_factors": 8,
        "words": 5,
        "entries": 14,
        "words_with_surface_only": 1,
    }


@pytest.mark.parametrize("surface", [True, False])
def test_without_morphemes_the_matrix_is_the_identity(surface: bool) -> None:
    factors = build_factors(VOCABULARY, Segmentation({}), surface=surface)
    assert factors.names == VOCABULARY.words
    assert factors.indices.tolist() == list(range(len(VOCABULARY)))
    table = np.random.default_rng(1).normal(size=(len(factors), 3))
    assert np.array_equal(factors.times(table), table)
    assert factors.inverse.words.tolist() == list(range(len(VOCABULARY)))
    assert factors.unfactored == 5


def test_a_vocabulary_without_words() -> None:
    factors = build_factors(vocabulary_of({}), SEGMENTATION)
    assert (factors.names, factors.unfactored) == (RESERVED, 0)


def test_a_factor_that_occurs_twice_counts_twice() -> None:
    factors = build_factors(vocabulary_of({"banana": 1}), character_ngrams(3, 3), surface=False)
    assert listed(factors)["banana"] == ["<ba", "ban", "ana", "nan", "ana", "na>"]
    table = np.zeros((len(factors), 1))
    table[factors.ids["ana"]] = 1
    assert factors.times(table).tolist() == [[0], [0], [0], [2]]
    assert factors.inverse[factors.ids["ana"]].tolist() == [3, 3]


def test_a_factor_may_have_the_name_of_a_word_or_of_a_mark() -> None:
    factors = build_factors(vocabulary_of({"s": 1, "in": 1}), from_mapping({"s": ["<s>"], "in": ["in", "s"]}, "mine"))
    assert listed(factors)["s"] == ["'s'", "<s>"]
    assert listed(factors)["in"] == ["'in'", "in", "s"]
    assert [factors.ids[name] for name in ("s", "in", "<s>")] == [7, 6, 5]


def test_morphemes_and_strings_of_one_name_are_one_factor() -> None:
    source = from_mapping({"a": ["x/STM", "b"], "c": [Morpheme("x", "STM")], "d": [Morpheme("x/STM")]}, "mine")
    factors = build_factors(vocabulary_of({"a": 1, "c": 1, "d": 1}), source)
    assert factors.names[6:] == ("x/STM", "b")
    assert factors.indices[3:].tolist() == [3, 6, 7, 4, 6, 5, 6]


@pytest.mark.parametrize("name", ["", "a b", "a\tb", "a\nb"])
def test_names_that_a_table_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be the name of a factor"):
        build_factors(VOCABULARY, from_mapping({"dog": ["x", name]}, "mine"))


# ---------------------------------------------------------------- against dense matrices

NAMES = ["a", "b", "in/PRE", "in/STM", "ž", "w0"]
analyses = st.lists(st.lists(st.sampled_from(NAMES), max_size=5), max_size=12)
counts = st.lists(st.integers(1, 4), min_size=12, max_size=12)


def build(rows: list[list[str]], frequencies: list[int], surface: bool) -> Factors:
    words = {f"w{k}": frequency for k, frequency in zip(range(len(rows)), frequencies, strict=False)}
    return build_factors(
        vocabulary_of(words), from_mapping(dict(zip(words, rows, strict=True)), "rows"), surface=surface
    )


def dense(factors: Factors, rows: list[list[str]], surface: bool) -> Int64Array:
    """M, written down entry by entry from what was put in."""
    matrix = np.zeros((len(factors.vocabulary), len(factors)), np.int64)
    surface_words = list(factors.names[: factors.surfaces])
    for number, (word, names) in enumerate(zip(factors.vocabulary, [[], [], [], *rows], strict=True)):
        for name in names:
            matrix[number, factors.surfaces + factors.names[factors.surfaces :].index(name)] += 1
        if surface or not names:
            matrix[number, surface_words.index(word)] += 1
    return matrix


@given(analyses, counts, st.booleans())
def test_the_product_is_the_sum_of_the_factors(rows: list[list[str]], frequencies: list[int], surface: bool) -> None:
    factors = build(rows, frequencies, surface)
    table = np.arange(len(factors) * 2).reshape(-1, 2) ** 2
    assert np.array_equal(factors.times(table), dense(factors, rows, surface) @ table)


@given(analyses, counts, st.booleans())
def test_the_inverse_is_the_transpose(rows: list[list[str]], frequencies: list[int], surface: bool) -> None:
    factors = build(rows, frequencies, surface)
    transposed = np.zeros((len(factors), len(factors.vocabulary)), np.int64)
    for factor in range(len(factors)):
        assert (np.diff(factors.inverse[factor]) >= 0).all()
        np.add.at(transposed[factor], factors.inverse[factor], 1)
    assert np.array_equal(transposed.T, dense(factors, rows, surface))


@given(analyses, counts, st.booleans())
def test_factors_are_in_order_of_frequency_then_name(
    rows: list[list[str]], frequencies: list[int], surface: bool
) -> None:
    factors = build(rows, frequencies, surface)
    tokens = {name: sum(n * row.count(name) for row, n in zip(rows, frequencies, strict=False)) for name in NAMES}
    expected = sorted((name for name in NAMES if tokens[name]), key=lambda name: (-tokens[name], name))
    assert list(factors.names[factors.surfaces :]) == expected
    surfaces = [k for k, word in enumerate(factors.vocabulary) if word in factors.names[: factors.surfaces]]
    assert [factors.vocabulary.words[k] for k in surfaces] == list(factors.names[: factors.surfaces])


def test_the_order_of_the_source_does_not_matter() -> None:
    backwards = Segmentation(dict(reversed(list(SEGMENTATION.analyses.items()))))
    first, second = build_factors(VOCABULARY, SEGMENTATION), build_factors(VOCABULARY, backwards)
    assert first.to_texts() == second.to_texts()
    assert first.indices.tobytes() == second.indices.tobytes()


def test_many_words_are_multiplied_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_WORDS", 3)
    factors = build_factors(VOCABULARY, SEGMENTATION)
    table = np.random.default_rng(2).integers(0, 100, (len(factors), 4))
    by_hand = [table[factors[word]].sum(0) for word in range(len(VOCABULARY))]
    assert np.array_equal(factors.times(table), by_hand)


# ---------------------------------------------------------------- text form


def test_the_text_form() -> None:
    texts = build_factors(VOCABULARY, SEGMENTATION, surface=False).to_texts()
    assert texts == {
        "morphemes.tsv": "<unk>\t\n<s>\t\n</s>\t\ndog\t\nin\tin/PRE\ninin\tin/PRE in/STM\nschool\tschool/STM\n"
        "schools\tschool/STM s/SUF\n",
        "factors.tsv": "surface\t<unk>\nsurface\t<s>\nsurface\t</s>\nsurface\tdog\n"
        "morpheme\tin/PRE\nmorpheme\tin/STM\nmorpheme\tschool/STM\nmorpheme\ts/SUF\n",
    }


@given(analyses, counts, st.booleans())
def test_round_trip(rows: list[list[str]], frequencies: list[int], surface: bool) -> None:
    factors = build(rows, frequencies, surface)
    read = parse_factors(factors.to_texts(), factors.vocabulary)
    assert (read.names, read.surfaces) == (factors.names, factors.surfaces)
    assert read.indptr.tolist() == factors.indptr.tolist()
    assert read.indices.tolist() == factors.indices.tolist()
    assert (read.indptr.dtype, read.indices.dtype) == (np.int64, np.int32)
    assert read.to_texts() == factors.to_texts()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (MORPHEMES_FILE, "inin\t", "inim\t", "morphemes.tsv:6: 'inim' where the vocabulary has 'inin'"),
        (MORPHEMES_FILE, "s/SUF", "t/SUF", "morphemes.tsv:8: 't/SUF' is not in factors.tsv"),
        (MORPHEMES_FILE, "in/PRE in/STM", "in/PRE  in/STM", "morphemes.tsv:6: '' is not in factors.tsv"),
        (MORPHEMES_FILE, "dog\t\n", "", "morphemes.tsv: 7 words where the vocabulary has 8"),
        (MORPHEMES_FILE, "in\tin/PRE\n", "in\t\n", "morphemes.tsv:5: the word has no factor"),
        (FACTORS_FILE, "surface\tdog\n", "", "morphemes.tsv:4: the word has no factor"),
        (FACTORS_FILE, "surface\tdog\n", "surface\tcat\n", "factors.tsv: the surface forms are not words"),
        (FACTORS_FILE, "surface\t<s>\nsurface\t</s>", "surface\t</s>\nsurface\t<s>", "factors.tsv: the surface forms"),
        (FACTORS_FILE, "surface\tdog", "stem\tdog", "factors.tsv:4: not `kind TAB factor`"),
        (FACTORS_FILE, "surface\t</s>", "morpheme\t</s>", "factors.tsv:4: not `kind TAB factor`"),
        (FACTORS_FILE, "morpheme\tin/STM", "morpheme\t", "factors.tsv:6: not `kind TAB factor`"),
        (FACTORS_FILE, "morpheme\tin/STM", "morpheme\tin/PRE", "factors.tsv: a factor is listed twice"),
    ],
)
def test_damaged_texts_are_refused(file: str, old: str, new: str, message: str) -> None:
    texts = build_factors(VOCABULARY, SEGMENTATION, surface=False).to_texts()
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new, 1)
    with pytest.raises(FormatError) as error:
        parse_factors(texts, VOCABULARY)
    assert message in str(error.value)
    assert str(error.value).endswith("; make the model again")
