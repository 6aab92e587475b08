"""Word similarity: rho as scipy's, the three policies by hand, the bootstrap, and pairs that are refused."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from morphlm.errors import InputError
from morphlm.vectors.forms import is_lowercased
from morphlm.vectors.keyed import KeyedVectors
from morphlm.vectors.questions import ask
from morphlm.vectors.similarity import (
    POLICIES,
    RatedPairs,
    correlate,
    evaluate_similarity,
    format_similarities,
    read_pairs,
    spearman,
)
from morphlm.vectors.vectors import WordVectors
from tests.segmentation.small import KNOWN, model_with

# Values that are often equal, so that ranks are shared.
VALUES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=20)


def pairs_of(*rows: tuple[str, str, float]) -> RatedPairs:
    left, right, ratings = zip(*rows, strict=True)
    return RatedPairs("set", left, right, np.array(ratings))


def cosine(vectors: WordVectors, one: str, other: str) -> float:
    a, b = vectors[one].astype(float), vectors[other].astype(float)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def rho(scores: list[float], ratings: list[float]) -> float:
    return float(100 * spearmanr(scores, ratings).statistic)


# ---------------------------------------------------------------- rho


@given(VALUES)
def test_rho_is_scipy_s_with_ties(values: list[tuple[int, int]]) -> None:
    one, other = np.array(values, float).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of constants
        wanted = spearmanr(one, other).statistic
    (found,) = spearman(one[None], other[None])
    assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@given(VALUES, st.integers(0, 5))
def test_the_interval_is_that_of_resampling_one_by_one(values: list[tuple[int, int]], seed: int) -> None:
    one, other = np.array(values, float).T
    assume(len(set(one)) > 1 and len(set(other)) > 1)
    found = correlate(one, other, seed, 30)
    rng = np.random.default_rng(seed)
    drawn = []
    for chosen in rng.integers(0, len(one), (30, len(one))):
        (value,) = spearman(one[None, chosen], other[None, chosen])
        drawn.append(100 * value)
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    assert (found.pairs, found.low, found.high) == (len(one), pytest.approx(low), pytest.approx(high))
    assert found.rho == pytest.approx(rho(one.tolist(), other.tolist()))
    assert correlate(one, other, seed, 30) == found


def test_the_interval_covers_what_it_should() -> None:
    """Of 60 samples of 80 pairs with a true rho of about 48, at least 50 intervals hold it; 57 are expected."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(61, 4000))
    y = x + 1.8 * rng.normal(size=x.shape)
    truth = 100 * spearman(x[60:], y[60:])[0]
    covered = 0
    for row in range(60):
        found = correlate(x[row, :80], y[row, :80], 1, 200)
        assert found.low is not None and found.high is not None
        covered += found.low <= truth <= found.high
        assert found.high - found.low < 60
    assert covered >= 50


@pytest.mark.parametrize("scores", [[], [1.0], [1.0, 1.0, 1.0]])
def test_without_order_there_is_no_rho(scores: list[float]) -> None:
    found = correlate(np.array(scores), np.arange(len(scores), dtype=float))
    assert (found.rho, found.low, found.high, found.format()) == (None, None, None, "-")


# ---------------------------------------------------------------- policies


ROWS = [
    ("domu", "domy", 9.0),
    ("domu", "domou", 8.0),  # one is composed
    ("xxxem", "školem", 6.5),
    ("brouk", "škola", 5.0),  # one is unknown
    ("polu", "řeka", 4.0),
    ("ulica", "polyou", 3.0),
    ("brouk", "broučku", 2.0),  # both are unknown
    ("města", "města", 10.0),
    ("poly", "ulicou", 1.0),
]


@pytest.mark.parametrize("normalise", [False, True])
def test_each_policy_by_hand(normalise: bool) -> None:
    vectors = model_with().vectors.using(normalise=normalise)
    found = evaluate_similarity(vectors, pairs_of(*ROWS), resamples=50)
    composed = [cosine(vectors, a, b) for a, b, _ in ROWS]
    unk = [cosine(vectors.using(compose=False), a, b) for a, b, _ in ROWS]
    known = [a in KNOWN and b in KNOWN for a, b, _ in ROWS]
    ratings = [rating for _, _, rating in ROWS]
    assert found.correlations["composed"].rho == pytest.approx(rho(np.round(composed, 9).tolist(), ratings))
    assert found.correlations["unk"].rho == pytest.approx(rho(np.round(unk, 9).tolist(), ratings))
    only = [(u, r) for u, r, both in zip(unk, ratings, known, strict=True) if both]
    assert found.correlations["dropped"].rho == pytest.approx(rho([u for u, _ in only], [r for _, r in only]))
    assert [found.correlations[policy].pairs for policy in POLICIES] == [9, 9, 4]
    assert (found.pairs, found.known, found.covered) == (9, 4, 7)


def test_policies_differ_where_words_are_unknown_only() -> None:
    vectors = model_with().vectors
    known = [row for row in ROWS if row[0] in KNOWN and row[1] in KNOWN]
    found = evaluate_similarity(vectors, pairs_of(*known)).correlations
    assert found["composed"] == found["unk"] == found["dropped"]
    plain = evaluate_similarity(model_with(kind="clbl").vectors, pairs_of(*ROWS))
    assert plain.correlations["composed"] == plain.correlations["unk"]
    assert plain.covered == plain.known == 4


def test_a_phrase_is_the_sum_of_its_words() -> None:
    vectors = model_with().vectors
    rows = [
        ("domu polu", "řeka", 1.0),
        ("domu", "domy", 2.0),
        ("města", "ulica poly", 3.0),
        ("domu brouk", "řeka", 4.0),
    ]
    found = evaluate_similarity(vectors, pairs_of(*rows))

    def phrase(text: str) -> np.ndarray:
        return np.sum([vectors[word].astype(float) for word in text.split()], axis=0)

    scores = []
    for a, b, _ in rows:
        x, y = phrase(a), phrase(b)
        scores.append(x @ y / np.linalg.norm(x) / np.linalg.norm(y))
    assert found.correlations["composed"].rho == pytest.approx(rho(scores, [1, 2, 3, 4]))
    assert (found.known, found.covered) == (3, 3)


def test_a_file_of_vectors_gives_the_same_on_known_words() -> None:
    vectors = model_with().vectors
    found = evaluate_similarity(vectors.keyed(), pairs_of(*ROWS))
    assert found.correlations["dropped"] == evaluate_similarity(vectors, pairs_of(*ROWS)).correlations["dropped"]
    assert found.correlations["composed"] == found.correlations["unk"]
    assert (found.known, found.covered) == (4, 4)
    assert found.signature == "rho|model:vectors|d:8|V:29|case:lower|bootstrap:1000.1"


def test_words_are_lowercased_like_the_model_s_text() -> None:
    model = model_with().vectors
    lowercased = replace(model, record={"norm": "lc+digits"})
    pairs = pairs_of(("DOMU", "Domy", 1.0), ("POLU", "řeka", 2.0))
    for vectors, prepared, known in (
        (replace(model, record={"norm": "digits"}), False, 0),
        (lowercased, False, 2),
        (lowercased, True, 0),
        (replace(model, record={"norm": "as-is"}), False, 2),  # nobody says so, but there is no capital letter
        (replace(model, record={}), False, 2),
    ):
        assert evaluate_similarity(vectors, pairs, prepared=prepared).known == known
    rows = np.ones((200, 2), np.float32)
    words = [f"w{number}" for number in range(198)]
    assert is_lowercased(KeyedVectors([*words, "Aa", "Bb"], rows))
    assert not is_lowercased(KeyedVectors([*words[1:], "Cc", "Aa", "Bb"], rows))


def test_equal_pairs_share_a_rank_whatever_their_rounding() -> None:
    rows = np.random.default_rng(1).normal(size=(20, 7)).astype(np.float32)
    vectors = KeyedVectors([f"w{k}" for k in range(40)], np.concatenate([rows, rows * np.float32(1.7)]))
    same = evaluate_similarity(vectors, pairs_of(*((f"w{k}", f"w{k + 20}", float(k)) for k in range(20))))
    assert same.correlations["composed"].rho is None  # all cosines are 1


def test_the_table_and_the_json_hold_all() -> None:
    result = evaluate_similarity(model_with().vectors.using(side="output"), pairs_of(*ROWS), resamples=50, seed=4)
    table = format_similarities([result, result]).splitlines()
    assert table[0].split() == [
        "rho",
        "x",
        "100",
        "pairs",
        "known",
        "covered",
        "composed",
        "-compose",
        "known",
        "pairs",
    ]
    assert table[1] == table[2]
    assert table[1].split()[:4] == ["set", "9", "4", "7"]
    assert table[3] == result.signature
    assert result.signature.startswith("rho|model:lbl++|n:3|d:4|")
    assert result.signature.endswith("|side:output|unit:no|case:lower|bootstrap:50.4")
    json = result.to_json()
    assert (json["set"], json["pairs"], json["known"], json["covered"]) == ("set", 9, 4, 7)
    assert json["rho_x_100"]["unk"]["rho"] == result.correlations["unk"].rho
    assert set(json["rho_x_100"]) == set(POLICIES)


# ---------------------------------------------------------------- reading


def test_pairs_are_read_in_nfc(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("r\u030ceka\tdomu\t1.5\nživotní prostředí\tpole\t-2e1\n")
    pairs = read_pairs(tmp_path / "pairs.tsv")
    assert (pairs.left, pairs.right) == (("řeka", "životní prostředí"), ("domu", "pole"))
    assert pairs.ratings.tolist() == [1.5, -20.0]
    assert (len(pairs), pairs.name) == (2, str(tmp_path / "pairs.tsv"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a\tb", "not `word TAB word TAB rating`"),
        ("a\tb\t1\t2", "not `word TAB word TAB rating`"),
        ("a b 1", "not `word TAB word TAB rating`"),
        ("\tb\t1", "not `word TAB word TAB rating`"),
        ("a\t \t1", "not `word TAB word TAB rating`"),
        ("", "not `word TAB word TAB rating`"),
        ("a\tb\thigh", "the rating 'high' is no number"),
        ("a\tb\tnan", "the rating 'nan' is no number"),
        ("a\tb\tinf", "the rating 'inf' is no number"),
    ],
)
def test_a_malformed_line_is_named(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text(f"a\tb\t1\n{line}\na\tc\t2\n")
    with pytest.raises(InputError, match=r"pairs\.tsv:2: ") as error:
        read_pairs(tmp_path / "pairs.tsv")
    assert message in str(error.value)
    assert "; correct the line" in str(error.value)


# ---------------------------------------------------------------- questions


def test_answers_say_how_words_were_understood() -> None:
    vectors = replace(model_with().vectors, record={"norm": "lc"})
    answers = ask(vectors, ["Domu", "domou", "brouk"], [("domu", "POLU", "doma")], k=2)
    assert [(answer.query, answer.understood) for answer in answers] == [
        ("domu", "known"),
        ("domou", "composed"),
        ("brouk", "unknown"),
        ("domu:polu::doma:?", "analogy"),
    ]
    assert list(answers[0].neighbours) == vectors.neighbours_of_all(["domu", "domou", "brouk"], 2)[0]
    assert list(answers[3].neighbours) == vectors.analogy("domu", "polu", "doma", 2)
    assert ask(vectors.using(compose=False), ["domou"])[0].understood == "unknown"
    assert answers[0].to_json()["neighbours"][0] == answers[0].neighbours[0]._asdict()
