"""Rescoring: features of models, new orders, lists that cannot be used."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.ngram.training import train_ngram
from morphlm.scoring.kbest import Columns, find_format
from morphlm.scoring.rescoring import Rescored, Rescorer, RescoringOptions, feature_names, rescore
from morphlm.scoring.spelled import with_spelling
from tests.language_model.state_models import MODELS
from tests.scoring.models import KINDS, small_model, text_file, with_preparation

TRAIN = [["pro", "novou", "školu"], ["pro", "školu"], ["novou", "školu"]]
LIST = (
    "0 ||| pro školu ||| LM0= -1 2 W= 1 ||| -3",
    "0 ||| školu pro ||| LM0= -1 1 W= 2 ||| -2",
    "0 ||| pro školu ||| LM0= -2 0 W= 3 ||| -3",
    "1 ||| Pro nic ||| LM0= 0 0 W= 0 ||| 0",
)


def model() -> LanguageModel:
    return train_ngram(TRAIN, 2)


def logprob(text: str) -> float:
    return sum(model().sentence(text.split()))


def run(
    path: Path, *models: LanguageModel, layout: Any = "auto", columns: Any = None, **options: Any
) -> list[Rescored]:
    named = list(zip(feature_names(models), models, strict=True))
    batches = rescore(Rescorer(named, RescoringOptions(**options)), path, layout=layout, columns=columns)
    return [item for batch in batches for item in batch]


def order(items: list[Rescored]) -> list[int]:
    return [item.hypothesis.line for item in items]


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_the_models_scores(kind: str, tmp_path: Path) -> None:
    scorer = small_model(kind)
    lines = ["7 ||| domu školou neviděno ||| F= 1 ||| 2", "7 |||  ||| F= 1 ||| 2", "8 ||| domu ||| F= 1 ||| 2"]
    items = run(text_file(tmp_path, *lines), scorer, word_count=True, unknown_count=True)
    assert order(items) == [1, 2, 3]
    for item, tokens in zip(items, (["domu", "školou", "neviděno"], [], ["domu"]), strict=True):
        assert item.added == {
            "words": len(tokens),
            kind: pytest.approx(sum(scorer.sentence(tokens)), abs=1e-4),
            f"{kind}_unknown": sum(token not in scorer.vocabulary for token in tokens),
        }
        assert item.total is None
    value = f"{items[2].added[kind]:.4f}"
    assert items[2].to_line() == f"8 ||| domu ||| F= 1 words= 1 {kind}= {value} {kind}_unknown= 0 ||| 2"


@pytest.mark.parametrize("name", ["mkn 3", "clbl++", "wide", "by context"])
@pytest.mark.parametrize("unknown_contexts", ["unk", "composed"])
def test_unknown_words_are_composed_and_spelled(name: str, unknown_contexts: UnknownContexts, tmp_path: Path) -> None:
    """As in texts, and as by states; hypotheses are texts of their own."""
    spelled = with_spelling(MODELS[name]())
    texts = ["domu domouška školou poleň", "xyz domu", "", "poleň domxx domu poly"]
    path = text_file(tmp_path, *(f"0 ||| {text} ||| F= 1 ||| 2" for text in texts))
    named = [("plain", spelled.model), ("spelled", spelled)]
    rescorer = Rescorer(named, RescoringOptions(unknown_contexts=unknown_contexts))
    items = [item for batch in rescore(rescorer, path) for item in batch]
    for item, text in zip(items, texts, strict=True):
        scored = spelled.score_text([text.split()], unknown_contexts=unknown_contexts)
        assert scored.spelled is not None
        assert item.added["plain"] == pytest.approx(scored.logprobs.sum(), abs=1e-9)
        assert item.added["spelled"] == pytest.approx(scored.spelled.sum(), abs=1e-9)
        state, total = spelled.begin(unknown_contexts=unknown_contexts), 0.0
        for token in (*text.split(), "</s>"):
            logprob, state = spelled.score(state, token)
            total += logprob
        assert item.added["spelled"] == pytest.approx(total, abs=1e-9)


def test_each_model_has_its_feature_and_each_its_unit(tmp_path: Path) -> None:
    path = text_file(tmp_path, *LIST)
    items = run(path, model(), train_ngram(TRAIN, 1), unit="log10")
    assert list(items[0].added) == ["mkn", "mkn2"]
    assert items[0].added["mkn"] == pytest.approx(logprob("pro školu") / math.log(10))
    assert items[0].added["mkn2"] == pytest.approx(sum(train_ngram(TRAIN, 1).sentence(["pro", "školu"])) / math.log(10))


def test_lm_weight_is_added_to_the_score_and_ties_keep_their_order(tmp_path: Path) -> None:
    items = run(text_file(tmp_path, *LIST), model(), lm_weights=(0.5,))
    assert order(items) == [1, 3, 2, 4]
    totals = [-3 + logprob("pro školu") / 2] * 2 + [-2 + logprob("školu pro") / 2, logprob("Pro nic") / 2]
    assert [item.total for item in items] == pytest.approx(totals)
    assert items[0].total == items[1].total
    assert items[0].to_line().endswith(f"mkn= {logprob('pro školu'):.4f} ||| {totals[0]:.4f}")
    assert order(run(text_file(tmp_path, *LIST), model(), lm_weights=(0.5,), best=True)) == [1, 4]
    assert order(run(text_file(tmp_path, *LIST), model(), lm_weights=(0.0,))) == [2, 1, 3, 4]


def test_weights_make_the_whole_score(tmp_path: Path) -> None:
    path, weights = text_file(tmp_path, *LIST), {"LM0": (1.0, 10.0), "W": (-1.0,), "Other": (3.0,)}
    rescorer = Rescorer([("ours", model())], RescoringOptions(weights=weights, word_count=True))
    items = [item for batch in rescore(rescorer, path) for item in batch]
    assert [item.total for item in items] == [18.0, 7.0, -5.0, 0.0]
    assert order(items) == [1, 2, 3, 4]
    assert list(rescorer.unweighted) == ["words", "ours"]
    assert rescorer.unused_weights == ["Other"]
    items = run(path, model(), weights={"W": (1.0,), "mkn": (2.0,), "words": (10.0,)}, word_count=True)
    assert items[0].total == pytest.approx(3 + 20 + 2 * logprob("pro školu"))
    rescorer = Rescorer([("mkn", model())], RescoringOptions(weights={"W": (1.0,)}, lm_weights=(2.0,)))
    items = [item for batch in rescore(rescorer, path) for item in batch]
    assert items[0].total == pytest.approx(3 + 2 * logprob("pro školu"))
    assert list(rescorer.unweighted) == ["LM0"]


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(["pro", "školu", "pro školu", ""]), st.integers(-3, 3)),
        min_size=1,
    ).map(lambda rows: sorted(rows, key=lambda row: row[0])),
    st.sampled_from([10, 60, 1 << 19]),
)
def test_the_order_is_that_of_the_scores_however_the_list_arrives(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str, int]], block: int
) -> None:
    path = text_file(tmp_path_factory.getbasetemp(), *(f"{i} ||| {text} ||| ||| {score}" for i, text, score in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("morphlm.text.reading.BLOCK_BYTES", block)
        items = run(path, model(), lm_weights=(1.0,))
    totals = [score + logprob(text) for _, text, score in rows]
    expected = sorted(range(len(rows)), key=lambda k: (rows[k][0], -round(totals[k], 9), k))
    assert order(items) == [k + 1 for k in expected]
    assert [item.total for item in items] == pytest.approx([totals[k] for k in expected])


def test_a_text_is_scored_once_for_its_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer, scored = model(), []

    def score_tokens(tokens: Any) -> Any:
        scored.append(len(tokens))
        return type(scorer).score_tokens(scorer, tokens)

    monkeypatch.setattr(scorer, "score_tokens", score_tokens)
    path = text_file(tmp_path, *LIST[:3])
    run(path, scorer)
    assert scored == [6]
    monkeypatch.setattr("morphlm.text.reading.BLOCK_BYTES", 60)
    scored.clear()
    items = run(path, scorer, lm_weights=(1.0,))
    assert sum(scored) == 6
    assert order(items) == [1, 3, 2]


def test_tables(tmp_path: Path) -> None:
    path = text_file(tmp_path, "x\tpro\t1\tnote", "x\tškolu pro\t9\tnote", "y\tpro")
    items = run(path, model(), lm_weights=(1.0,))
    assert order(items) == [2, 1, 3]
    assert items[0].to_line() == (f"x\tškolu pro\t9\tnote\t{logprob('školu pro'):.4f}\t{9 + logprob('školu pro'):.4f}")
    assert items[2].to_line() == f"y\tpro\t{logprob('pro'):.4f}\t{logprob('pro'):.4f}"
    swapped = text_file(tmp_path, "pro\tx\t1\t-7")
    (item,) = run(swapped, model(), columns=Columns(2, 1, 4), lm_weights=(0.0,))
    assert (item.hypothesis.id, item.total) == ("x", -7.0)
    (item,) = run(swapped, model(), columns=Columns(2, 1), weights={"3": (2.0,), "4": (1.0,)})
    assert item.total == -5.0


def test_normalised_for_the_score_only(tmp_path: Path) -> None:
    scorer = with_preparation(model(), "lc+digits")
    path = text_file(tmp_path, "0 ||| Pro Školu ||| F= 1 ||| 2")
    (plain,), (item,) = run(path, scorer, prepared=True), run(path, scorer, unknown_count=True)
    assert item.added == {"mkn": pytest.approx(logprob("pro školu")), "mkn_unknown": 0}
    assert plain.added["mkn"] == pytest.approx(logprob("X Y"))
    assert item.to_line().startswith("0 ||| Pro Školu ||| F= 1 mkn= ")


def test_infinite_scores(tmp_path: Path) -> None:
    closed, path = train_ngram(TRAIN, 2, open_vocabulary=False), text_file(tmp_path, *LIST[2:])
    items = run(path, closed, lm_weights=(1.0,))
    assert items[1].total == -math.inf
    assert items[1].to_json() == {
        "line": 2,
        "id": "1",
        "hypothesis": "Pro nic",
        "features": {"mkn": None},
        "score": None,
    }
    assert items[1].to_line().endswith("mkn= -inf ||| -inf")
    assert run(path, closed, lm_weights=(0.0,))[1].total == 0.0
    assert run(path, closed, closed, lm_weights=(1.0, -1.0))[1].total == -math.inf


@pytest.mark.parametrize(
    ("lines", "options", "what"),
    [
        ([*LIST, "0 ||| a ||| F= 1 ||| 1"], {}, "text.txt:5: the sentence 0 comes again after others"),
        ([*LIST, "2 ||| a"], {}, "text.txt:5: not `id"),
        ([*LIST, ""], {}, "text.txt:5: not `id"),
        ([LIST[0], "0 ||| a <s> ||| F= 1 ||| 1"], {}, "text.txt:2: the hypothesis contains <s>"),
        (["0 ||| a <unk> ||| F= 1 ||| 1"], {}, "text.txt:1: the hypothesis contains <unk>.*allow_unknown=True"),
        ([LIST[0], "0 ||| a ||| mkn= 1 ||| 1"], {}, "text.txt:2: there is a feature 'mkn' already"),
        ([*LIST], {"weights": {"LM0": (1.0,)}}, "text.txt:1: the feature 'LM0' has 2 values but 1 weight"),
        (["0 ||| a ||| F= 1"], {"lm_weights": (1.0,)}, "text.txt:1: there is no total score"),
        (["0 ||| a ||| F= x ||| 1"], {"weights": {"F": (1.0,)}}, "text.txt:1: the value of the feature 'F'"),
    ],
)
def test_lists_that_cannot_be_used(lines: list[str], options: Any, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=what):
        run(text_file(tmp_path, *lines), model(), **options)


def test_unknown_words_on_purpose(tmp_path: Path) -> None:
    path = text_file(tmp_path, "0 ||| pro <unk> ||| F= 1 ||| 1")
    (item,) = run(path, model(), allow_unknown=True)
    assert item.added["mkn"] == pytest.approx(logprob("pro X"))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"best": True}, "nothing says which hypothesis is best"),
        ({"lm_weights": (1.0, 2.0)}, "2 lm_weights for 1 model"),
        ({"lm_weights": (math.nan,)}, "one of lm_weights is nan; it must be a finite number"),
        ({"lm_weights": (1.0,), "weights": {"mkn": (1.0,)}}, "mkn has a weight in weights and in lm_weights"),
        ({"prepared": False}, "nothing is on record of how the model's text was prepared"),
    ],
)
def test_options_that_contradict_each_other(options: Any, what: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=what):
        run(text_file(tmp_path, *LIST), model(), **options)


def test_names_of_features() -> None:
    models = [small_model("mkn"), small_model("clbl++"), small_model("mkn")]
    assert feature_names(models) == ["mkn", "clbl++", "mkn2"]
    assert feature_names(models, ["a", "b", "c"]) == ["a", "b", "c"]
    with pytest.raises(ConfigError, match="2 names of features for 3 models"):
        feature_names(models, ["a", "b"])
    with pytest.raises(ConfigError, match="used twice"):
        Rescorer([("words", model())], RescoringOptions(word_count=True))
    assert find_format("moses", "").parse(LIST[0], 1).text == "pro školu"
