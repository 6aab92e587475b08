from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from morphlm.analysis.groups import (
    NO_GROUP,
    GroupComparison,
    compare_groups,
    compare_members,
    model_names,
    score_both,
    score_forms,
)
from morphlm.errors import InputError
from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_files
from tests.analysis.cases import TEXT, TRAIN, any_models, models

NAMES = ("one", "two")


def plain(model: LanguageModel, chosen: list[int]) -> tuple[int, float]:
    """Number of tokens and perplexity of the tokens at these places of TEXT."""
    logprobs = [logprob for sentence in TEXT for logprob in model.sentence(sentence)]
    return len(chosen), math.exp(-sum(logprobs[place] for place in chosen) / len(chosen))


def compared(group_of: list[int], names: list[str]) -> GroupComparison:
    return compare_groups(score_both(*models(), TEXT), np.array(group_of), names, "group", NAMES, seed=2)


def test_the_figures_are_those_of_a_plain_loop() -> None:
    group_of = [0, 1, NO_GROUP, 1, 1, 0, NO_GROUP, 0, 1, 1, 1, NO_GROUP]
    result = compared(group_of, ["a", "b"])
    for number, group in enumerate(result.groups):
        chosen = [place for place, found in enumerate(group_of) if found == number]
        for model, perplexity in zip(models(), (group.baseline, group.other), strict=True):
            assert (group.tokens, perplexity) == pytest.approx(plain(model, chosen))
        assert group.share == group.tokens / 12
        assert group.change.value == pytest.approx(group.other / group.baseline - 1, abs=1e-12)
        assert group.change.low <= group.change.value <= group.change.high
    assert [group.tokens for group in (*result.groups, result.whole)] == [3, 6, 12]


def test_the_whole_is_the_perplexity_of_the_text() -> None:
    whole = compared([NO_GROUP] * 12, []).whole
    for model, found in zip(models(), (whole.baseline, whole.other), strict=True):
        assert found == pytest.approx(model.perplexity(TEXT).including_unknown, rel=1e-14)
    assert (whole.name, whole.share) == ("all", 1.0)


def test_a_group_without_tokens() -> None:
    empty, full = compared([1] * 12, ["none", "some"]).groups
    assert (empty.tokens, empty.share) == (0, 0.0)
    assert math.isnan(empty.baseline)
    assert (full.tokens, full.share) == (12, 1.0)
    row = compared([1] * 12, ["none", "some"]).to_table().rows[0]
    assert list(row) == ["none", "0", "0.0 %", "-", "-", "-"]
    assert compared([1] * 12, ["none"]).to_json()["groups"][0]["baseline"] is None


def test_a_model_against_itself() -> None:
    model = models()[1]
    result = compare_groups(score_both(model, model, TEXT), np.zeros(12, int), ["a"], "group", NAMES)
    for group in (*result.groups, result.whole):
        assert group.baseline == group.other
        assert (group.change.value, group.change.low, group.change.high) == (0, 0, 0)


def test_a_text_of_one_sentence_has_changes_without_intervals() -> None:
    result = compare_groups(score_both(*models(), TEXT[:1]), np.zeros(3, int), ["a"], "group", NAMES)
    change = result.whole.change
    assert change.value == pytest.approx(result.whole.other / result.whole.baseline - 1)
    assert not change.has_interval
    assert result.to_table().rows[-1][-1] == f"{100 * change.value:.1f} %".replace("-", "−")


def test_groups_may_share_tokens_and_the_whole_may_be_less_than_all() -> None:
    members = {"a": np.array([0, 1]), "b": np.array([1]), "all": np.array([0])}
    result = compare_members(score_both(*models(), TEXT), members, "group", NAMES, whole=np.array([0, 1, 2, 3]))
    assert [(group.name, group.tokens, group.share) for group in result.groups] == [
        ("a", 2, 0.5),
        ("b", 1, 0.25),
        ("all", 1, 0.25),
    ]
    assert result.whole.tokens == 4
    for model, found in zip(models(), (result.groups[0].baseline, result.groups[0].other), strict=True):
        assert found == pytest.approx(plain(model, [0, 1])[1])


def test_a_text_is_read_once(tmp_path: Path) -> None:
    expected = score_both(*models(), TEXT)
    once = score_both(*models(), iter(TEXT))
    assert once.forms == expected.forms
    assert (once.baseline == expected.baseline).all()
    assert (once.other == expected.other).all()
    assert once.text == "<sentences>"
    (tmp_path / "text").write_text("".join(" ".join(sentence) + "\n" for sentence in TEXT))
    assert (score_both(*models(), tmp_path / "text").other == expected.other).all()


def test_a_text_without_sentences_is_refused() -> None:
    with pytest.raises(InputError, match=r"<sentences>: there are no sentences; give"):
        score_both(*models(), [])
    with pytest.raises(InputError, match=r"tags: there are no sentences"):
        score_forms(*models(), [], "tags")


def test_sentences_without_words_count_their_ends() -> None:
    scored = score_both(*models(), [[], ["pro"], []])
    assert scored.ends.tolist() == [0, 2, 3]
    assert scored.sentence_of.tolist() == [0, 1, 1, 2]


def test_words_that_only_one_model_knows_are_told() -> None:
    smaller = train_ngram([["pro", "školu"]], 1)
    scored = score_both(smaller, models()[1], [*TEXT, ["slovo", "pro"]])
    notes = compare_groups(scored, np.zeros(15, int), ["a"], "group", NAMES).notes
    assert notes == ("unknown to one only: 4 tokens (novou, prosbu)",)
    other_way = compare_groups(
        score_both(models()[1], smaller, TEXT), np.zeros(12, int), ["a"], "group", NAMES, notes=["first"]
    )
    assert other_way.notes == ("first", "unknown to two only: 4 tokens (novou, prosbu)")
    assert compared([0] * 12, ["a"]).notes == ()


def test_at_most_five_unknown_words_are_named() -> None:
    words = list("abcdefg")
    scored = score_both(train_ngram([["x"]], 1), train_ngram([words], 1), [[*words, "c"]])
    (note,) = compare_groups(scored, np.zeros(9, int), ["a"], "group", NAMES).notes
    assert note == "unknown to one only: 8 tokens (c, a, b, d, e, ...)"


@pytest.fixture
def closed(tmp_path: Path) -> LanguageModel:
    """A model that gives unknown words no probability."""
    lines = ["\\data\\", "ngram 1=4", "", "\\1-grams:", "-99\t<s>", "-0.5\t</s>", "-0.4\tpro", "-0.6\tškolu"]
    (tmp_path / "closed.arpa").write_text("\n".join([*lines, "", "\\end\\", ""]))
    return load(tmp_path / "closed.arpa")


@pytest.mark.parametrize("place", [0, 1])
def test_infinite_perplexity_is_told_and_harms_nothing(closed: LanguageModel, place: int) -> None:
    pair = [models()[1], models()[1]]
    pair[place] = closed  # type: ignore[call-overload]
    group_of = np.array([0, 0, 0, *[1] * 9])
    result = compare_groups(score_both(pair[0], pair[1], TEXT), group_of, ["finite", "not"], "group", NAMES)
    finite, infinite = result.groups
    assert math.isfinite(finite.change.value)
    assert [infinite.baseline, infinite.other][place] == math.inf
    assert infinite.change.format() == result.whole.change.format() == "-"
    note = f"{NAMES[place]} gives 5 tokens no probability; there is no change to tell in their groups"
    assert result.notes[-1] == note
    assert "inf" in result.to_table().rows[1]
    written = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert written["groups"][1][["baseline", "other"][place]] is None


def test_two_models_without_unknown_words(closed: LanguageModel) -> None:
    result = compare_groups(score_both(closed, closed, TEXT), np.zeros(12, int), ["a"], "group", NAMES)
    assert (result.whole.baseline, result.whole.other) == (math.inf, math.inf)
    assert result.whole.change.format() == "-"
    assert len(result.notes) == 2


def test_the_table_and_json_hold_all_figures(tmp_path: Path) -> None:
    result = compared([0] * 6 + [1] * 6, ["a", "b"])
    table = result.to_table()
    assert list(table.header) == ["group", "tokens", "share", "one", "two", "change"]
    assert [row[0] for row in table.rows] == ["a", "b", "all"]
    assert list(table.rows[0])[1:3] == ["6", "50.0 %"]
    assert table.rows[2][3] == f"{models()[0].perplexity(TEXT).including_unknown:.2f}"
    assert table.notes[0].startswith("in brackets: 95 % of 1000 paired")
    assert table.notes[1].startswith("one: ppl|model:mkn|n:1|")
    content = result.to_json()
    assert content["whole"]["tokens"] == 12
    assert content["models"] == ["one", "two"]
    assert content["bootstrap"]["seed"] == 2
    assert [group["name"] for group in content["groups"]] == ["a", "b"]


def test_a_text_prepared_in_another_way_shows_in_the_signatures(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("Pro Školu\n")
    prepare_files([tmp_path / "raw"], tmp_path / "text", PrepareOptions(tokeniser="none"))
    scored = score_both(*models(), tmp_path / "text")
    assert [signature.value("text") for signature in scored.signatures] == ["none/lc+digits"] * 2
    assert scored.text == str(tmp_path / "text")


def test_names_tell_models_of_one_kind_apart() -> None:
    one, two = models()
    assert model_names(one, two) == ("mkn (baseline)", "mkn (other)")
    two.kind = "clbl"
    assert model_names(one, two) == ("mkn", "clbl")


def test_training_and_test_text_are_what_the_other_tests_think() -> None:
    assert train_ngram(TRAIN, 1).vocabulary.counts.tolist() == [0, 4, 4, 3, 3, 3, 1]


@pytest.mark.parametrize("kind", ["lbl++", "clbl++", "mixture", "wide"])
def test_models_of_all_kinds_are_scored_as_they_score_themselves(kind: str) -> None:
    model, text = any_models()[kind], [["domu", "polem"], [], ["řeky", "nic", "domu"]]
    scored = score_both(any_models()["mkn"], model, text)
    assert scored.other == pytest.approx(model.score_text(text).logprobs, abs=1e-12)
    assert scored.baseline == pytest.approx(any_models()["mkn"].score_text(text).logprobs, abs=1e-12)
