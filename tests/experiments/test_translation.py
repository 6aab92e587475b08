"""The translation experiment on a small made-up language: steps, results, what goes on after an interruption."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.artefacts import Producer
from morphlm.errors import ConfigError, InputError
from morphlm.experiments.budget import reductions
from morphlm.experiments.cell import Cell
from morphlm.experiments.pairs import NewsText, Pair, evenly_spaced
from morphlm.experiments.paper import translation_cells
from morphlm.experiments.plan import Plan, make_plan
from morphlm.experiments.recipe import Budget, Recipe, TranslationOptions, load_recipe, read_recipe
from morphlm.experiments.reproduce import ReproduceRequest, Reproduction, reproduce
from morphlm.experiments.running import Outcome
from morphlm.experiments.sections import sections_of
from morphlm.experiments.steps import bitext, comparison, tuning
from morphlm.experiments.steps.comparison import ComparisonStep
from morphlm.experiments.text_source import TextSource

from .small_data import write_xz

NOUNS = {"school": "skola", "house": "domy", "river": "reka", "street": "ulice", "field": "polni", "town": "mesto"}
VERBS = {"sees": "vidi", "likes": "miluje", "finds": "najde"}
SENTENCES = {"parallel": 300, 2011: 40, 2012: 40, 2013: 40}

RECIPE = """
languages = ["de", "en"]
print = ["corpus", "perplexity", "translation"]
[text]
tokens = "all"
[models]
kinds = ["mkn", "clbl"]
width = 8
settings = { epochs = 1, batch = 100 }
[translation]
pairs = ["en-de", "de-en"]
tuning = 6
test = 12
runs = 2
single = ["de-en"]
"""


def write_data(folder: Path) -> Path:
    """English and "German", word by word, but the verb comes last."""
    rng = np.random.default_rng(1)

    def pair() -> tuple[str, str]:
        (one, first), (two, second) = (list(NOUNS.items())[k] for k in rng.integers(0, len(NOUNS), 2))
        verb, last = list(VERBS.items())[rng.integers(len(VERBS))]
        return f"The {one} {verb} the {two}.", f"Ta {first} ta {second} {last}."

    for part, count in SENTENCES.items():
        pairs = [pair() for _ in range(count)]
        if isinstance(part, str):
            write_xz(folder / "parallel" / "en-de.tsv.xz", [f"news\t{one}\t{other}" for one, other in pairs])
        else:
            for side, language in enumerate(("en", "de")):
                lines = [each[side] for each in pairs]
                write_xz(folder / "newstest" / f"newstest{part}.{language}.txt.xz", lines)
    return folder


def recipe_of(text: str = RECIPE) -> Recipe:
    return read_recipe(text, "own", "own.toml")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def plan(data: Path) -> Plan:
    return make_plan(recipe_of(), TextSource(data))


# ---------------------------------------------------------------- steps


def test_the_recipe_of_the_package_trains_as_another() -> None:
    recipe, other = load_recipe("translation"), load_recipe("data-main")
    models = ("tokens", "kinds", "kappas", "seeds", "options", "languages")
    assert all(getattr(recipe, name) == getattr(other, name) for name in models)
    assert recipe.translation.pairs == ("en-cs", "en-de", "en-es", "en-fr", "en-ru", "cs-en")


def comparison_of(cell: Cell) -> ComparisonStep:
    (step,) = cell.of(ComparisonStep).values()
    return step


def test_a_system_for_each_model_beside_the_first(plan: Plan) -> None:
    (into_german, into_english) = plan.cells
    german, english = comparison_of(into_german), comparison_of(into_english)
    assert list(german.tunings) == ["mkn", "mkn+clbl"]
    assert [list(tuning.description.settings["seeds"]) for tuning in german.tunings.values()] == [[1, 2], [1, 2]]
    parallel = german.tunings["mkn"].bitext
    assert german.tunings["mkn+clbl"].inputs == (parallel, into_german.models["mkn"], into_german.models["clbl"])
    assert german.inputs == tuple(german.tunings.values())
    assert [list(tuning.description.settings["seeds"]) for tuning in english.tunings.values()] == [[1], [1]]
    assert english.tunings["mkn"].bitext.key != parallel.key


def test_languages_are_those_of_the_translations(data: Path) -> None:
    plan = make_plan(replace(recipe_of(), languages=("en",)), TextSource(data))
    assert [name for cell in plan.cells for name in cell.of(ComparisonStep)] == ["de-en"]


def test_models_learn_from_the_target_side_alone(tmp_path: Path) -> None:
    """German is that anyway, so its models are those of other recipes; of Czech there is more, of English elsewhere."""
    folder = write_data(tmp_path)
    write_xz(folder / "parallel" / "en-cs.tsv.xz", ["news\tthis is it\tto je ono"])
    for year in (2011, 2012, 2013):
        write_xz(folder / "newstest" / f"newstest{year}.cs.txt.xz", ["to je ono"])
    pairs = TranslationOptions(("en-cs", "en-de", "cs-en", "de-en"))
    recipe = replace(load_recipe("translation"), languages=("cs", "de", "en"), translation=pairs)
    plan = make_plan(recipe, TextSource(folder))
    assert not plan.failed  # although there are no novels and not all parallel texts, which all Czech and English need
    files = {cell.texts.name: cell.texts.description.files.values() for cell in plan.cells}
    names = {name: [path.name.partition(".")[0] for path in paths] for name, paths in files.items()}
    assert names == {
        "cs all of en-cs texts": ["en-cs", "newstest2011", "newstest2012"],
        "de all texts": ["en-de", "newstest2011", "newstest2012"],
        "en all of cs-en texts": ["en-cs", "newstest2011", "newstest2012"],
        "en all of de-en texts": ["en-de", "newstest2011", "newstest2012"],
    }
    assert len({cell.texts.key for cell in plan.cells}) == 4
    # A million tokens of English are those of English-German anyway.
    shorter = make_plan(replace(recipe, tokens=(1_000_000,), languages=("en",)), TextSource(folder))
    assert [cell.texts.name for cell in shorter.cells] == ["en 1m of cs-en texts", "en 1m texts"]
    (german,) = make_plan(replace(load_recipe("data-main"), languages=("de",)), TextSource(folder)).cells
    (shared,) = (cell for cell in plan.cells if cell.language == "de")
    assert shared.models == german.models


def test_a_budget_takes_runs_away() -> None:
    recipe = replace(recipe_of(), budget=Budget(runs=1))
    found = [(job.recipes[0].translation.runs, job.left_out) for job in reductions([recipe])]
    assert found[1] == (1, ("1 instead of 2 tuning runs",))


def test_more_sentences_to_test_leave_the_tuning_as_it_is(data: Path, plan: Plan) -> None:
    recipe = recipe_of(RECIPE.replace("test = 12", "test = 13"))
    other, step = (comparison_of(made.cells[0]) for made in (make_plan(recipe, TextSource(data)), plan))
    assert other.tunings == step.tunings
    assert other.key != step.key


def test_without_a_folder_there_is_no_parallel_text() -> None:
    recipe = replace(load_recipe("translation"), dataset="wmt13", languages=("cs",))
    plan = make_plan(recipe, TextSource(dataset="wmt13"))
    assert "translation needs parallel text; give data=" in plan.failed["texts of cs"]


def test_a_year_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = write_data(tmp_path)
    (folder / "newstest" / "newstest2013.de.txt.xz").unlink()
    plan = make_plan(recipe_of(), TextSource(folder))
    assert not plan.cells
    assert all("newstest2013.de.txt.xz: the folder of data lacks this file" in why for why in plan.failed.values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"de-en"]\ntuning', '"de-fr"]\ntuning', "'de-fr' is no pair of languages"),
        ('"de-en"]\ntuning', '"en-en"]\ntuning', "'en-en' is no pair of languages"),
        ('"de-en"]\ntuning', '"ende"]\ntuning', "'ende' is no pair of languages"),
        ('"de-en"]\ntuning', '"en-cs"]\ntuning', "translation.pairs: en-cs needs models of 'cs'"),
        ('single = ["de-en"]', 'single = ["en-fr"]', "translation.single: en-fr is not among the pairs"),
        (', "translation"]', "]", "translations are printed of some pairs"),
        ("tuning = 6", "tuning = 0", "translation.tuning is 0; it must be a number of sentences"),
    ],
)
def test_what_a_recipe_must_not_say(old: str, new: str, message: str) -> None:
    assert old in RECIPE
    with pytest.raises(ConfigError, match=r"own.toml: ") as caught:
        recipe_of(RECIPE.replace(old, new))
    assert message in str(caught.value)


def test_pairs() -> None:
    assert (str(Pair.of("en-cs")), Pair.of("en-cs").other, Pair.of("cs-en").other) == ("en-cs", "cs", "cs")


@pytest.mark.parametrize(("count", "wanted", "expected"), [(10, 3, [0, 3, 6]), (2, 5, [0, 1]), (4, 4, [0, 1, 2, 3])])
def test_evenly_spaced(count: int, wanted: int, expected: list[int]) -> None:
    assert evenly_spaced(count, wanted) == expected


# ---------------------------------------------------------------- the run


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[ReproduceRequest, Reproduction]:
    folder = tmp_path_factory.mktemp("done")
    (folder / "own.toml").write_text(RECIPE)
    request = ReproduceRequest(str(folder / "own.toml"), data, folder / "store")
    return request, reproduce(request)


def compared(reproduction: Reproduction) -> dict[str, Any]:
    (report,) = reproduction.reports
    _, _, section = report.sections
    return {pair["pair"]: pair for pair in section.content["pairs"]}


def test_reports_name_the_texts(done: tuple[ReproduceRequest, Reproduction]) -> None:
    (report,) = done[1].reports
    texts, perplexities, systems = report.sections
    assert [row[0] for row in texts.tables[0].rows] == ["de all", "en all of de-en"]
    assert [row[0] for row in perplexities.tables[0].rows] == ["de", "en of de-en"]
    assert [one["text"] for one in perplexities.content["perplexities"]] == ["de", "en of de-en"]
    assert [row[0] for row in systems.tables[0].rows] == ["en-de", "en-de", "de-en", "de-en"]


def test_systems_translate(done: tuple[ReproduceRequest, Reproduction]) -> None:
    assert not done[1].failed
    found = compared(done[1])
    assert list(found) == ["en-de", "de-en"]
    for pair, runs in (("en-de", 2), ("de-en", 1)):
        assert found[pair]["sentences"] == 12
        for system in found[pair]["systems"]:
            assert len(system["bleu"]["runs"]) == runs
            assert system["bleu"]["mean"] > 90  # the order of words is learned


def test_translations_are_kept_as_text(done: tuple[ReproduceRequest, Reproduction]) -> None:
    request, reproduction = done
    folder = request.store / compared(reproduction)["en-de"]["place"]
    lines = (folder / "mkn+clbl.run-2.txt").read_text().splitlines()
    assert len(lines) == 12
    assert all(line.startswith("ta ") and line.endswith(".") for line in lines)


def test_the_report_has_the_papers_numbers(done: tuple[ReproduceRequest, Reproduction]) -> None:
    text = (done[1].folder / "report.md").read_text()
    assert "| en-de | MKN + CLBL | 2 |" in text
    assert "| 15.9 | +0.2 |" in text
    assert "- Translation: 6 sentences to tune on, 12 to test" in text
    assert "BLEU|nrefs:1|case:lc" in text


def test_the_same_command_again_does_nothing(
    done: tuple[ReproduceRequest, Reproduction], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    for module, name in (
        *[(bitext, "build_system"), (tuning, "build_system")],
        *[(tuning, "tune_system"), (comparison, "compare_systems")],
    ):
        monkeypatch.setattr(module, name, refuse)
    again = reproduce(done[0])
    assert not again.failed
    assert compared(again) == compared(done[1])


def test_batches_that_were_translated_are_not_again(
    done: tuple[ReproduceRequest, Reproduction], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results are lost, and of the translations a batch of two is damaged: only that is made again."""
    request, reproduction = done
    expected = compared(reproduction)
    for path in (request.store / "results").glob("comparison-*.json"):
        path.unlink()
    batches = sorted((request.store / "translation").glob("*/test-*/batch-*.json"))
    assert len(batches) == 2
    kept = {path: path.read_bytes() for path in batches}
    batches[0].write_bytes(kept[batches[0]][:-9])
    calls: list[str] = []
    translate = comparison._translations

    def counted(system: Any, sentences: Any, rules: Any, seed: int) -> list[str]:
        calls.append(str(seed))
        return translate(system, sentences, rules, seed)

    monkeypatch.setattr(comparison, "_translations", counted)
    assert compared(reproduce(request)) == expected
    assert len(calls) in (2, 4)  # of one pair: two systems with one run or two
    assert {path: path.read_bytes() for path in batches} == kept


def test_other_shuffles_need_no_other_translations(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted from translations may change; the sentences, the texts, the weights and the systems may not."""
    step = comparison_of(plan.cells[0])
    others = [
        replace(step, sentences=5).translations_key(["a"]),
        replace(step, news=replace(step.news, source=Path(__file__))).translations_key(["a"]),
        replace(step, tunings=dict([*step.tunings.items()][:1])).translations_key(["a"]),
        step.translations_key(["b"]),
    ]
    key = step.translations_key(["a"])
    assert len({key, *others}) == 5
    monkeypatch.setattr(comparison, "SHUFFLES", 5)
    monkeypatch.setattr(ComparisonStep, "producer", Producer("comparison", 99))
    assert replace(step).key != step.key
    assert replace(step).translations_key(["a"]) == key


def test_lines_that_do_not_match_are_refused(data: Path) -> None:
    news, other = data / "newstest" / "newstest2013.en.txt.xz", data / "parallel" / "en-de.tsv.xz"
    with pytest.raises(InputError, match=r"40 and 300 lines in en-de.tsv.xz; they must be line-by-line translations"):
        NewsText(Pair.of("en-de"), news, other).sample(5)


def test_pairs_without_a_result_are_not_in_the_table(plan: Plan) -> None:
    assert sections_of(plan, Outcome()) == ([], {})


def test_the_papers_numbers() -> None:
    assert translation_cells("en-cs", 0) == ["12.6", ""]
    assert translation_cells("en-cs", 2) == ["13.6", "+1.0"]
    assert translation_cells("de-en", 0) == ["-", "-"]


def test_choices_are_in_the_key_of_the_tuning(data: Path, plan: Plan) -> None:
    other = replace(recipe_of(), translation=TranslationOptions(("en-de",), tuning=7, test=12, runs=2))
    tunings = comparison_of(make_plan(replace(other, languages=("de",)), TextSource(data)).cells[0]).tunings
    assert tunings["mkn"].key != comparison_of(plan.cells[0]).tunings["mkn"].key
    assert json.loads(json.dumps(dict(tunings["mkn"].description.settings))) == tunings["mkn"].description.settings
