"""What a word's vector is made of: a word whose stem was never seen is told from one that is really composed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.segmentation.morphemes import LABELS
from morphlm.text.reading import RESERVED
from morphlm.vectors.composition import Composition, origin_of, shown_morpheme
from morphlm.vectors.questions import ask
from tests.segmentation.small import KNOWN, SOURCES, model_with

PARTS = st.lists(
    st.tuples(st.sampled_from(["a", "ne", "škol", "a/b"]), st.sampled_from([*LABELS, None]), st.booleans()), max_size=4
)


@pytest.mark.parametrize(
    ("word", "origin", "known", "unknown", "stem_known"),
    [
        ("domu", "known", ("dom/STM", "u/SUF"), (), True),
        ("domou", "composed", ("dom/STM", "ou/SUF"), (), True),
        ("xxxem", "affixes", ("em/SUF",), ("xxx/STM",), False),
        ("polyou", "composed", ("pol/STM", "y/SUF", "ou/SUF"), (), True),
        ("brouk", "unknown", (), ("brouk/STM",), False),
        ("<unk>", "unknown", (), (), False),
    ],
)
def test_the_parts_of_a_word(
    word: str, origin: str, known: tuple[str, ...], unknown: tuple[str, ...], stem_known: bool
) -> None:
    found = model_with().vectors.composition(word)
    assert (found.word, found.origin, found.known, found.unknown, found.stem_known) == (
        word, origin, known, unknown, stem_known
    )  # fmt: skip
    assert found.to_json() == {"known": list(known), "unknown": list(unknown), "stem_known": stem_known}


@pytest.mark.parametrize("source", SOURCES)
def test_the_vector_of_a_new_word_is_the_sum_of_what_is_called_known(source: str) -> None:
    vectors = model_with(source).vectors
    for word in ("domou", "xxxem", "polyou", "škooola"):
        found = vectors.composition(word)
        assert (found.origin != "unknown") is vectors.composable(word)
        if found.known:
            total = np.sum([vectors.morpheme(name) for name in found.known], axis=0)
            np.testing.assert_allclose(vectors[word], total, atol=1e-6)


@pytest.mark.parametrize("source", ["baseline", "ngrams", "pieces"])
def test_parts_without_labels_do_not_tell_whether_a_stem_is_known(source: str) -> None:
    vectors = model_with(source).vectors
    found = vectors.composition("domou")
    assert (found.origin, found.stem_known) == ("composed", None)
    assert vectors.composition("domu").stem_known is True


def test_where_nothing_is_composed_new_words_are_unknown() -> None:
    for vectors in (model_with().vectors.using(compose=False), model_with(kind="lbl").vectors):
        assert vectors.composition("domou") == Composition("domou", "unknown", ())
        assert vectors.composition("domu").origin == "known"


@given(PARTS)
def test_affixes_alone_are_never_called_composed(drawn: list[tuple[str, str | None, bool]]) -> None:
    parts = tuple((form if label is None else f"{form}/{label}", known) for form, label, known in drawn)
    labels = [label for _, label, known in drawn if known]
    found = Composition("w", origin_of(parts), parts)
    assert (found.origin == "unknown") is (not labels)
    assert (found.origin == "affixes") is (bool(labels) and set(labels) <= {"PRE", "SUF"})
    assert len(found.known) + len(found.unknown) == len(parts)
    if "STM" in labels:
        assert found.stem_known is True


def test_morphemes_as_grammars_write_them() -> None:
    assert [shown_morpheme(name) for name in ("ne/PRE", "škol/STM", "ami/SUF", "a/b")] == ["ne-", "škol", "-ami", "a/b"]
    parts = (("ne/PRE", True), ("škl/STM", False), ("ami/SUF", True))
    assert Composition("neškolami", origin_of(parts), parts).format() == "only its affixes are known: ne- -ami"


def test_answers_warn_of_words_whose_stem_was_never_seen() -> None:
    vectors = model_with().vectors
    known, affixes, unknown, analogy = ask(vectors, ["domu", "xxxem", "brouk"], [("domu", "xxxem", "poly")], k=1)
    assert (known.understood, known.notes) == ("known", [])
    assert affixes.understood == "affixes"
    assert affixes.notes == [
        "xxxem: only its affixes are known: -em; its neighbours are words of the same form, not of the same meaning"
    ]
    assert unknown.notes == ["brouk: never seen, and no part of it is known; its neighbours are those of UNK"]
    assert analogy.notes == affixes.notes
    assert affixes.to_json()["words"] == [
        {"word": "xxxem", "origin": "affixes", "known": ["em/SUF"], "unknown": ["xxx/STM"], "stem_known": False}
    ]
    (morpheme,) = ask(vectors, ["em/SUF"], k=1, of_morphemes=True)
    assert (morpheme.compositions, morpheme.notes, morpheme.to_json()["words"]) == ((), [], [])


def test_every_known_word_has_its_parts() -> None:
    vectors = model_with().vectors
    for word in KNOWN:
        found = vectors.composition(word)
        assert "".join(name.partition("/")[0] for name in found.known) == word
    for mark in RESERVED:
        assert vectors.composition(mark) == Composition(mark, "unknown", ())
