"""The map of morphemes: who is on it, where, and who is near."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from morphlm.analysis.morpheme_map import MorphemeMap, map_morphemes
from morphlm.errors import ConfigError
from morphlm.segmentation.morphemes import split_name
from morphlm.vectors.vectors import WordVectors
from tests.segmentation.small import KNOWN, model_with
from tests.training.small import ENDINGS, STEMS


def vectors(source: str = "segmenter") -> WordVectors:
    return model_with(source, "clbl++").vectors


@cache
def small_map() -> MorphemeMap:
    return map_morphemes(vectors())


def cosine(one: np.ndarray, two: np.ndarray) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


def test_all_morphemes_are_there_frequent_ones_first() -> None:
    points = small_map().points
    assert {point.name for point in points} == {f"{stem}/STM" for stem in STEMS} | {f"{end}/SUF" for end in ENDINGS}
    counts = dict(zip(vectors().vocabulary.words, vectors().vocabulary.counts.tolist(), strict=True))
    for point in points:
        words = [w for w in KNOWN if (w.startswith if point.label == "STM" else w.endswith)(point.form)]
        if point.label == "SUF":
            words = [word for word in words if any(stem + point.form == word for stem in STEMS)]
        assert (point.words, point.tokens) == (len(words), sum(counts[word] for word in words))
        assert point.examples == tuple(sorted(words, key=lambda word: -counts[word])[:3])
    assert [point.tokens for point in points] == sorted((point.tokens for point in points), reverse=True)


def test_places_fill_the_unit_square() -> None:
    x, y = ([getattr(point, axis) for point in small_map().points] for axis in "xy")
    assert min(x + y) == 0.0
    assert max(x + y) == 1.0
    assert min(x) + max(x) == pytest.approx(1, abs=1e-3)  # in the middle, both ways
    assert min(y) + max(y) == pytest.approx(1, abs=1e-3)


def test_equal_seeds_give_equal_maps() -> None:
    assert map_morphemes(vectors(), seed=1) == small_map()
    assert map_morphemes(vectors(), seed=1).to_json() == small_map().to_json()


@pytest.mark.parametrize("side", ["both", "context", "output"])
def test_the_nearest_by_cosine(side: str) -> None:
    own = vectors().using(side=side)  # type: ignore[arg-type]
    found = map_morphemes(own)
    for point in found.points[:4]:
        others = [other.name for other in found.points if other.name != point.name]
        cosines = {name: cosine(own.morpheme(point.name), own.morpheme(name)) for name in others}
        wanted = sorted(cosines, key=lambda name: -cosines[name])[:5]
        assert [name for name, _ in point.near] == wanted
        assert [similarity for _, similarity in point.near] == pytest.approx(
            [cosines[name] for name in wanted], abs=1e-4
        )


def test_what_is_alike_lies_together() -> None:
    """Two groups of vectors around two directions: on the map each is nearer to its own."""
    plain, rng = vectors(), np.random.default_rng(1)
    assert plain.factors is not None
    table = rng.standard_normal(plain.context.table.shape).astype(np.float32)
    for name, number in plain.factors.ids.items():
        table[number] = np.eye(4)[0 if name.endswith("STM") else 1] + 0.05 * rng.standard_normal(4)
    own = replace(plain, context=replace(plain.context, table=table), output=replace(plain.output, table=table))
    found = map_morphemes(own)
    places = {label: [(p.x, p.y) for p in found.points if p.label == label] for label in ("STM", "SUF")}
    centres = {label: np.mean(some, axis=0) for label, some in places.items()}
    for label, some in places.items():
        (other,) = set(places) - {label}
        for place in some:
            assert np.linalg.norm(place - centres[label]) < np.linalg.norm(place - centres[other])


def test_a_vector_is_placed_among_its_five_nearest() -> None:
    found, own = small_map(), vectors()
    rows = own.rows(["domu", "domou"])
    for row, place in zip(rows, found.place(own, rows), strict=True):
        cosines = [cosine(row, own.morpheme(point.name)) for point in found.points]
        near = sorted(range(len(cosines)), key=lambda k: -cosines[k])[:5]
        weights = np.array([max(cosines[k], 0) for k in near])
        wanted = weights @ [(found.points[k].x, found.points[k].y) for k in near] / weights.sum()
        assert place == pytest.approx(wanted, abs=1e-5)


def test_a_vector_of_zeros_and_none_at_all_have_places() -> None:
    found, own = small_map(), vectors()
    place = found.place(own, np.zeros((1, own.dimensions), np.float32))
    assert place.shape == (1, 2)
    assert np.all((place >= 0) & (place <= 1))
    assert found.place(own, np.zeros((0, own.dimensions), np.float32)).shape == (0, 2)
    with pytest.raises(ConfigError, match="give rows alike"):
        found.place(own, np.zeros((2, 3), np.float32))


def test_half_of_the_places_are_for_affixes() -> None:
    found = map_morphemes(vectors(), count=10)
    assert [point.label for point in found.points].count("SUF") == 5
    counts = {point.name: point.tokens for point in small_map().points}
    stems = sorted((name for name in counts if name.endswith("STM")), key=lambda name: -counts[name])
    assert [point.name for point in found.points if point.label == "STM"] == stems[:5]


def test_labels_are_chosen_and_checked() -> None:
    with pytest.raises(ConfigError, match="the model has 6 morphemes with the label STM; a map needs 10 or more"):
        map_morphemes(vectors(), labels=["STM"])
    assert len(map_morphemes(vectors(), labels=["STM", "SUF"])) == 11
    for labels, message in ((["XYZ"], "'XYZ' is no label of morphemes"), ([], "no label is named")):
        with pytest.raises(ConfigError, match=message):
            map_morphemes(vectors(), labels=labels)


def test_morphemes_without_labels() -> None:
    found = map_morphemes(vectors("ngrams"), count=20)
    assert len(found) == 20
    assert {point.label for point in found.points} == {None}
    assert all(point.form == point.name for point in found.points)


def test_models_and_counts_that_give_no_map() -> None:
    with pytest.raises(ConfigError, match="this model has no morphemes to put on a map; take one with factors"):
        map_morphemes(model_with(kind="clbl").vectors)
    with pytest.raises(ConfigError, match="a map of 3 morphemes shows nothing; ask for 10 or more"):
        map_morphemes(vectors(), count=3)
    with pytest.raises(ConfigError, match="the perplexity of t-SNE is 0"):
        map_morphemes(vectors(), perplexity=0)


def test_some_of_the_points_and_the_table() -> None:
    some = small_map().only(["ou/SUF", "dom/STM"])
    assert [row[0] for row in some.to_table().rows] == ["ou/SUF", "dom/STM"]
    point = small_map().by_name["ou/SUF"]
    assert some.points[0] == point
    near = " ".join(f"{name} {similarity:.2f}" for name, similarity in point.near)
    assert some.to_table().rows[0][1:] == [
        "5", str(point.tokens), f"{point.x:.3f}", f"{point.y:.3f}", near, " ".join(point.examples),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="'ou' is not on the map"):
        small_map().only(["ou"])


def test_json_has_what_pages_need() -> None:
    content = json.loads(json.dumps(small_map().to_json(), allow_nan=False))
    assert (content["side"], content["seed"], len(content["points"])) == ("both", 1, 11)
    point = small_map().points[0]
    assert content["points"][0]["near"] == [[name, similarity] for name, similarity in point.near]
    assert set(content["points"][0]) == {"name", "form", "label", "words", "tokens", "examples", "x", "y", "near"}


@pytest.mark.parametrize(
    ("name", "parts"),
    [("ung/SUF", ("ung", "SUF")), ("//STM", ("/", "STM")), ("a/b", ("a/b", None)), ("/STM", ("/STM", None))],
)
def test_names(name: str, parts: tuple[str, str | None]) -> None:
    assert split_name(name) == parts
