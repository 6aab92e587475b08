"""`morphlm reproduce` on a small folder of data, from texts to the report."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphlm.costs import Cost
from morphlm.experiments.estimate import Estimator
from morphlm.experiments.parts import PARTS, ReportPart
from morphlm.experiments.running import StepRunner
from morphlm.experiments.steps.base import RunContext, Step, StepResult
from morphlm.experiments.steps.scores import ScoresStep
from morphlm.experiments.store import Record, Store
from morphlm.extras import how_to_install
from morphlm.report.pictures import save_picture
from tests.conftest import Outcome
from tests.experiments.small_data import write_data, write_recipe

Command = Callable[..., Outcome]
ALL_PARTS = '["corpus", "perplexity", "selection", "kappa", "frequency", "tags", "similarity"]'


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def one_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes long, and has tests of its own."""
    monkeypatch.setattr("morphlm.experiments.writing.save_picture", _save_one)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each kind of step is done."""
    counts = Counter[str]()
    original = StepRunner._make

    def make(runner: StepRunner, step: Step[Any]) -> Record:
        counts[step.producer.name] += 1
        return original(runner, step)

    monkeypatch.setattr(StepRunner, "_make", make)
    return counts


def test_from_texts_to_a_report(
    morphlm_command: Command, data: Path, tmp_path: Path, calls: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("morphlm.experiments.steps.tags.has_hanta", lambda: False)  # it takes long to load
    recipe, store, out = (
        write_recipe(tmp_path / "tiny.toml", ALL_PARTS, kappas="[0.2, 1.0]"),
        tmp_path / "s",
        tmp_path / "o",
    )
    arguments = ["reproduce", recipe, "--data", data, "--store", store, "--out", out]
    done = morphlm_command(*arguments, "--json")
    assert done.status == 0, done.stderr
    assert calls == {"texts": 2, "inputs": 4, "model": 12, "scores": 12, "frequency": 4, "tags": 4, "similarity": 8}
    (report,) = json.loads(done.stdout)["reports"]
    written = json.loads((out / "results.json").read_text())
    assert {*written.pop("pictures")} == {path.name for path in out.iterdir()} - {"report.md", "results.json"}
    assert written == report
    assert not report["failed"]
    assert report["missing"] == [f"tags of the test text: HanTa is not installed; {how_to_install('pos')}"]
    _check_against_ppl(morphlm_command, report, arguments)
    _check_document((out / "report.md").read_text(), report, out)
    before = (out / "report.md").read_bytes()
    again = morphlm_command(*arguments)
    assert sum(calls.values()) == 46  # nothing was done again
    assert "46 steps, 46 done; nothing is left" in again.stderr
    assert (out / "report.md").read_bytes() == before


def _save_one(result: Any, path: Path) -> None:
    if path.name == "selection.png":
        save_picture(result, path)
    else:
        assert figure_data(result)
        path.write_text(type(result).__name__)


def figure_data(result: Any) -> Any:
    return [one.to_json() for one in result] if isinstance(result, list) else result.to_json()


def _check_against_ppl(morphlm_command: Command, report: dict[str, Any], arguments: list[Any]) -> None:
    """The perplexities are those of `morphlm ppl`, of the models and texts in the store."""
    steps = json.loads(morphlm_command(*arguments, "--dry-run", "--json").stdout)["steps"]
    places = {step["name"]: Path(step["place"]) for step in steps if step["kind"] == "model"}
    rows = report["results"]["perplexity"]["perplexities"]
    assert [(row["language"], row["kappa"]) for row in rows] == [("de", 0.2), ("de", 1.0), ("es", 0.2), ("es", 1.0)]
    for row in rows[1:3]:
        for kind in ("mkn", "clbl++"):
            place = places[f"{row['language']} 1k kappa {row['kappa']:g}, {kind}"]
            (text,) = (place.parents[2] / "texts").glob(f"{row['language']}-1k-*/test.*.txt")
            (found,) = json.loads(morphlm_command("ppl", place, text, "--json").stdout)
            assert found["perplexity_including_unknown"] == pytest.approx(row["perplexities"][kind], rel=1e-9)
            assert found["signature"] == row["signatures"][kind]


def _check_document(text: str, report: dict[str, Any], out: Path) -> None:
    row = report["results"]["perplexity"]["perplexities"][0]["perplexities"]
    assert f"| de kappa 0.2 | {row['mkn']:.2f} | {row['clbl']:.2f} | {row['clbl++']:.2f} |" in text
    change = row["clbl++"] / row["clbl"] - 1
    assert f"| {100 * change:.1f} % [".replace("-", "−") in text
    for signature in report["results"]["perplexity"]["perplexities"][0]["signatures"].values():
        assert signature in text
    pictures = re.findall(r"!\[.*\]\((.*)\.svg\)", text)
    tags = [f"tags-{language}_made-kappa-{kappa}" for language in ("de", "es") for kappa in ("0.2", "1")]
    assert pictures == ["selection", "kappa", "frequency", *tags]
    assert all((out / f"{name}.svg").exists() for name in pictures)
    assert (out / "selection.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_that_was_stopped_goes_on(
    morphlm_command: Command, data: Path, tmp_path: Path, calls: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = write_recipe(tmp_path / "tiny.toml")
    arguments = ["reproduce", recipe, "--data", data, "--store", tmp_path / "s", "--languages", "de"]
    original = ScoresStep.run
    stops = [True]

    def stopped(step: ScoresStep, context: RunContext) -> StepResult:
        if step.model.kind == "clbl" and stops.pop():
            raise KeyboardInterrupt
        return original(step, context)

    monkeypatch.setattr(ScoresStep, "run", stopped)
    stops.append(True)
    stopped_at = morphlm_command(*arguments)
    assert stopped_at.status == 130
    assert "stopped; the same command goes on from here" in stopped_at.stderr
    stops[:] = [False]
    assert morphlm_command(*arguments).status == 0
    assert calls == {"texts": 1, "inputs": 1, "model": 3, "scores": 4}


@pytest.mark.parametrize("changes", [True, False])
def test_texts_that_come_out_differently_are_learned_from_again(
    morphlm_command: Command, data: Path, tmp_path: Path, calls: Counter[str], monkeypatch: pytest.MonkeyPatch,
    changes: bool,
) -> None:  # fmt: skip
    """Say by another version of the tokeniser, which is not in the key of the texts."""
    monkeypatch.setattr("morphlm.experiments.text_source.available_cores", lambda: 1)
    recipe = write_recipe(tmp_path / "tiny.toml", '["perplexity"]', '["mkn", "clbl"]')
    arguments = ["reproduce", recipe, "--data", data, "--store", tmp_path / "s", "--languages", "de", "--json"]
    one = json.loads(morphlm_command(*arguments).stdout)
    (record,) = (tmp_path / "s" / "results").glob("texts-*.json")
    record.unlink()
    if changes:
        monkeypatch.setattr("morphlm.text.prepare.moses_tokenise", lambda text, language: text.replace(".", " . !"))
    other = json.loads(morphlm_command(*arguments).stdout)
    assert calls == {"texts": 2, "inputs": 1 + changes, "model": 2 + 2 * changes, "scores": 2 + 2 * changes}
    assert (one != other) == changes


def test_recipes_share_their_work_and_models_can_be_brought(
    morphlm_command: Command, data: Path, tmp_path: Path, calls: Counter[str]
) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    recipe = write_recipe(tmp_path / "tiny.toml")
    more = write_recipe(tmp_path / "more.toml", '["frequency"]', '["clbl", "clbl++"]')
    asked = ["--data", data, "--languages", "de", "--store"]
    assert morphlm_command("reproduce", recipe, *asked, first).status == 0
    assert calls["model"] == 3
    assert morphlm_command("reproduce", more, *asked, first).status == 0
    assert (calls["model"], calls["frequency"]) == (3, 1)
    # A model that is copied to its place is taken, not trained: its log stays as it was.
    places = [
        step["place"]
        for step in json.loads(morphlm_command("reproduce", more, *asked, second, "--dry-run", "--json").stdout)[
            "steps"
        ]
        if step["kind"] == "model"
    ]
    assert not second.exists()
    shutil.copytree(first / "stages", second / "stages")
    for place in map(Path, places):
        shutil.copytree(first / place.relative_to(second), place)
    marks = {place: (Path(place) / "log.jsonl").stat().st_ino for place in places}
    assert morphlm_command("reproduce", more, *asked, second).status == 0
    assert {place: (Path(place) / "log.jsonl").stat().st_ino for place in places} == marks
    fresh = {record.name: record.fresh for record in Store(second).records()}
    assert fresh == {name: name.endswith(("texts", "frequency")) for name in fresh}  # times of the others say nothing
    assert len(fresh) == 5
    assert all(record.fresh for record in Store(first).records())
    assert "clbl++: found in " in "".join(log.read_text() for log in (second / "logs").glob("*clbl*"))


def test_a_language_that_cannot_be_made_is_named_and_the_other_goes_on(
    morphlm_command: Command, data: Path, tmp_path: Path
) -> None:
    broken = shutil.copytree(data, tmp_path / "data")
    (broken / "newstest" / "newstest2012.es.txt.xz").unlink()
    recipe = write_recipe(tmp_path / "tiny.toml", kinds='["mkn", "clbl"]')
    done = morphlm_command("reproduce", recipe, "--data", broken, "--store", tmp_path / "s")
    assert done.status == 2
    assert "newstest2012.es.txt.xz: the folder of data lacks this file" in done.stdout
    assert re.search(r"^de +\d+\.\d\d +\d+\.\d\d$", done.stdout, re.MULTILINE)
    assert done.stderr.splitlines()[-1] == "morphlm: failed: texts of es; see above, mend it and run this again"


def ngram_recipe(path: Path, language: str, kappa: str = "0.2") -> Path:
    """The quickest there is: texts, vocabulary, one model and its test."""
    text = (
        write_recipe(path, kinds='["mkn"]', kappas=f"[{kappa}]").read_text().replace('["de", "es"]', f'["{language}"]')
    )
    path.write_text(re.sub(r"^(width|settings).*\n", "", text, flags=re.MULTILINE))
    return path


def test_a_recipe_among_others_without_any_of_its_texts_is_named_and_the_others_go_on(
    morphlm_command: Command, data: Path, tmp_path: Path
) -> None:
    there, lost = ngram_recipe(tmp_path / "there.toml", "de"), ngram_recipe(tmp_path / "lost.toml", "fr")
    both = tmp_path / "both.toml"
    both.write_text(f"recipes = ['{there}', '{lost}']\n")
    arguments = ["--data", data, "--store", tmp_path / "s"]
    done = morphlm_command("reproduce", both, *arguments)
    assert done.status == 2
    assert re.search(r"^de +\d+\.\d\d$", done.stdout, re.MULTILINE)
    assert "failed: texts of fr: " in done.stdout
    assert done.stderr.splitlines()[-1] == "morphlm: failed: texts of fr; see above, mend it and run this again"
    alone = morphlm_command("reproduce", lost, *arguments)
    assert (alone.status, "the folder of data lacks this file" in alone.stderr) == (2, True)


def test_recipes_that_the_time_does_not_suffice_for_are_named(
    morphlm_command: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ten seconds a step: two recipes of three steps, and their texts, fit into 80 seconds; a third does not."""
    monkeypatch.setattr(Estimator, "expected", lambda self, step: Cost(10.0))
    paths = [str(ngram_recipe(tmp_path / f"{name}.toml", "de", f"0.{k}")) for k, name in enumerate("abc")]
    every, store = tmp_path / "every.toml", tmp_path / "s"
    every.write_text(f"recipes = {paths}\n")
    done = morphlm_command("reproduce", every, "--data", data, "--store", store, "--minutes", str(80 / 60))
    assert done.status == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "left out to fit the time: the recipe c"
    assert "- left out to fit the time: the recipe c\n" in (store / "reports" / "every" / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a recipe"),
        (["data-2m"], "'data-2m' is neither a recipe nor a file"),
        (["data-1m"], "data-1m names no data set; give --data DIR"),
        (["data-1m", "--data", "NONE"], "there is no such folder of data; check --data"),
        (["data-1m", "--data", "EMPTY"], "en-cs.tsv.xz: the folder of data lacks this file"),
        (["data-1m", "--data", "EMPTY", "--languages", "xx"], "'xx' is not in this recipe"),
        (["data-1m", "--data", "EMPTY", "--languages", ","], "--languages: no language is named; choose from cs, de"),
        (["data-1m", "--data", "DATA", "--languages", "es", "--minutes", "0.01"], "give --minutes 1 or more"),
        (["data-1m", "--data", "DATA", "--languages", "es", "--store", "FILE"], "this is no folder"),
        (["data-1m", "--data", "DATA", "--languages", "es", "--out", "FILE"], "is no folder to write to"),
    ],
)
def test_bad_requests(morphlm_command: Command, data: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    places = {"NONE": tmp_path / "none", "EMPTY": tmp_path / "empty", "DATA": data, "FILE": tmp_path / "file"}
    words = [str(places.get(word, word)) for word in arguments]
    store = [] if "--store" in words else ["--store", tmp_path / "s"]
    done = morphlm_command("reproduce", *words, *store)
    assert done.status == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "s").exists()


def test_a_budget_leaves_out_and_says_so(
    morphlm_command: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a second for each step: 2 languages x (texts, inputs, 3 models and tests) are 16, one language is 8."""
    monkeypatch.setattr(Estimator, "expected", lambda self, step: Cost(1.0))
    recipe = write_recipe(tmp_path / "tiny.toml", more='[budget]\nlanguages = ["es", "de"]\n')
    arguments = ["reproduce", recipe, "--data", data, "--store", tmp_path / "s", "--dry-run"]
    assert "16 steps, 0 done" in morphlm_command(*arguments, "--minutes", "0.3").stdout
    # 16 seconds fit into 17.8, but not with a tenth of it to spare, which 18 have.
    assert "8 steps, 0 done" in morphlm_command(*arguments, "--minutes", "0.2783").stdout
    less = morphlm_command(*arguments, "--minutes", "0.2").stdout
    assert "8 steps, 0 done" in less
    assert "left out to fit the time: the languages de" in less
    assert "es 1k kappa 0.2, clbl++" in less
    none = morphlm_command(*arguments, "--minutes", "0.1")
    assert "tiny takes about 8 s even without: the languages de; give --minutes 1 or more" in none.stderr


def test_an_estimate_fits_only_with_some_time_to_spare(
    morphlm_command: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 7 seconds for each of 8 steps, 56 s are within a minute, but not within nine tenths of it."""
    monkeypatch.setattr(Estimator, "expected", lambda self, step: Cost(7.0))
    recipe = write_recipe(tmp_path / "tiny.toml")
    arguments = ["reproduce", recipe, "--data", data, "--languages", "de", "--store", tmp_path / "s", "--dry-run"]
    refused = morphlm_command(*arguments, "--minutes", "1")
    assert (refused.status, "tiny takes about 56 s; give --minutes 2 or more" in refused.stderr) == (2, True)
    assert "8 steps, 0 done" in morphlm_command(*arguments, "--minutes", "2").stdout


def test_a_kind_of_step_of_ones_own(
    morphlm_command: Command, data: Path, tmp_path: Path, calls: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class, a section and an entry in the table of parts: it is planned, estimated, run once, kept and printed."""
    own = "tests.experiments.own_step"
    monkeypatch.setitem(PARTS, "unknown-words", ReportPart(f"{own}:unknown_words", f"{own}:UnknownWordsStep"))
    recipe = ngram_recipe(tmp_path / "own.toml", "de")
    recipe.write_text(recipe.read_text().replace('["corpus", "perplexity"]', '["unknown-words"]'))
    arguments = ["reproduce", recipe, "--data", data, "--store", tmp_path / "s"]
    assert "1 s  de 1k kappa 0.2, mkn: unknown words" in morphlm_command(*arguments, "--dry-run").stdout
    first, again = morphlm_command(*arguments), morphlm_command(*arguments)
    assert (first.status, calls) == (0, {"texts": 1, "inputs": 1, "model": 1, "unknown-words": 1})
    shares = re.findall(r"^de +mkn +(0\.\d{3})$", first.stdout, re.MULTILINE)
    known, test = (data_of(tmp_path / "s", part) for part in ("train", "test"))
    assert float(shares[0]) >= round(sum(word not in known for word in test) / len(test), 3) > 0  # singletons too
    assert again.stdout == first.stdout


def data_of(store: Path, part: str) -> list[str]:
    (path,) = (store / "texts").glob(f"*/{part}.de.txt")
    return path.read_text().split()


def test_too_little_room(morphlm_command: Command, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "free_bytes", lambda self: 1000)
    done = morphlm_command("reproduce", write_recipe(tmp_path / "t.toml"), "--data", data, "--store", tmp_path / "s")
    assert done.status == 2
    assert "are needed and 1 kB are free; make room" in done.stderr
    assert not (tmp_path / "s").exists()


def test_a_failed_training_is_reported(morphlm_command: Command, data: Path, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path / "tiny.toml").read_text().replace("epochs = 1", "epochs = 1, step = 1e30")
    (tmp_path / "tiny.toml").write_text(recipe)
    arguments = ["reproduce", tmp_path / "tiny.toml", "--data", data, "--store", tmp_path / "s", "--languages", "es"]
    done = morphlm_command(*arguments)
    assert done.status == 2
    assert "failed: es 1k kappa 0.2, clbl: " in done.stdout
    assert "not possible without these: es 1k kappa 0.2, clbl: test" in done.stdout
    assert "MKN" in done.stdout
    assert "failed: es 1k kappa 0.2, clbl; es 1k kappa 0.2, clbl++; see above" in done.stderr.splitlines()[-1]


def test_the_list(morphlm_command: Command) -> None:
    listed = morphlm_command("reproduce", "--list").stdout
    assert "data-1m      Model selection on a million tokens (Table 1 (left), figure 2)" in listed
    assert [entry["name"] for entry in json.loads(morphlm_command("reproduce", "--list", "--json").stdout)][-1] == "all"


def test_a_data_set_by_name(morphlm_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.text.datasets.registry.DEFAULT_SENTENCES", 500)
    recipe = write_recipe(tmp_path / "tiny.toml", kinds='["mkn", "clbl"]').read_text()
    recipe = recipe.replace('["de", "es"]', '["gen"]').replace("[text]", '[text]\ndataset = "generated"')
    (tmp_path / "tiny.toml").write_text(recipe)
    done = morphlm_command("reproduce", tmp_path / "tiny.toml", "--store", tmp_path / "s", "--json")
    assert done.status == 0, done.stderr
    (texts,) = json.loads(done.stdout)["reports"][0]["results"]["corpus"]["texts"]
    assert 1000 <= texts["tokens"] < 1100
