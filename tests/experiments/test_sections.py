"""The tables of reports: our numbers from results, the paper's beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.groups import Group, GroupComparison
from morphlm.experiments.paper import corpus_cells, in_percent, paper, similarity_cells, table2_cells
from morphlm.experiments.plan import Plan, make_plan
from morphlm.experiments.recipe import FIXED, GROWING, Recipe
from morphlm.experiments.running import Outcome
from morphlm.experiments.sections import ReportSection, sections_of, signatures_in
from morphlm.experiments.steps.groups import FrequencyStep, comparison_from_json
from morphlm.experiments.steps.scores import ScoresStep
from morphlm.experiments.steps.similarity import SimilarityStep
from morphlm.experiments.steps.tags import TagsStep
from morphlm.experiments.text_source import TextSource
from morphlm.experiments.writing import Report, make_report, write_report

from .small_data import write_data, write_xz

SENTENCES = 20


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> TextSource:
    return TextSource(write_data(tmp_path_factory.mktemp("data")))


def scores(perplexity: float, kappa: float, tokens: int = 1000, words: int = 50) -> dict[str, Any]:
    """Of a text whose sentences have 5 tokens each."""
    return {
        "text": "test",
        "logprobs": [-5 * math.log(perplexity)] * SENTENCES,
        "tokens": [5] * SENTENCES,
        "signature": f"ppl|{perplexity:g}",
        "vocabulary": words,
        "training_tokens": tokens,
        "kappa": kappa,
    }


def outcome_of(plan: Plan, perplexities: Mapping[str, float]) -> Outcome:
    """As if all models had been scored; the perplexities of a cell are these times its number."""
    outcome = Outcome()
    for number, cell in enumerate(plan.cells, 1):
        tokens = cell.tokens or 9999
        outcome.results[cell.inputs.key] = {"tokens": tokens, "vocabulary": 50}
        for kind, step in cell.of(ScoresStep).items():
            if kind in perplexities:
                words = 50 if cell.vocabulary == FIXED else 50 * tokens
                outcome.results[step.key] = scores(number * perplexities[kind], cell.kappa, tokens, words)
    return outcome


def only(sections: list[ReportSection]) -> ReportSection:
    (section,) = sections
    return section


def test_table2_with_the_paper_behind(source: TextSource) -> None:
    recipe = Recipe("r", print=("kappa",), languages=("de", "es"), kinds=("mkn", "clbl", "clbl++"), kappas=(0.05, 1.0))
    plan = make_plan(recipe, source)
    sections, failures = sections_of(plan, outcome_of(plan, {"mkn": 100, "clbl": 80, "clbl++": 76}))
    assert not failures
    section = only(sections)
    (table,) = section.tables
    ours = ["100.00", "80.00", "−20.0 % [−20.0, −20.0]", "76.00", "−5.0 % [−5.0, −5.0]"]
    assert table.rows[0] == ["0.05", "de", *ours, "463", "422", "−8.9 %", "404", "−4.2 %"]
    assert [row[:2] for row in table.rows] == [["0.05", "de"], ["0.05", "es"], ["1", "de"], ["1", "es"]]
    assert table.rows[3][-5:] == ["195", "180", "−7.7 %", "180", "0.02 %"]
    assert list(section.pictures) == ["kappa"]


def test_table2_is_there_once_with_all_its_rates(source: TextSource) -> None:
    recipe = Recipe(
        "r", print=("main", "perplexity", "kappa"), languages=("de",), kinds=("mkn", "clbl", "clbl++"),
        kappas=(0.05, 0.2, 1.0),
    )  # fmt: skip
    plan = make_plan(recipe, source)
    sections, _ = sections_of(plan, outcome_of(plan, {"mkn": 100, "clbl": 80, "clbl++": 76}))
    assert [section.name for section in sections] == ["kappa", "perplexity"]
    assert sections[0].title == "MKN, CLBL and CLBL++ at kappa = 0.05, 0.2, 1 (Table 2)"
    assert [row[0] for row in sections[0].tables[0].rows] == ["0.05", "0.2", "1"]


def test_statements_of_figure_2(source: TextSource) -> None:
    kinds = ("mkn", "clbl", "clbl+c", "clbl+o", "clbl++", "lbl", "lbl++")
    plan = make_plan(Recipe("r", print=("selection",), languages=("de", "es"), kinds=kinds), source)
    perplexities = {"mkn": 100, "clbl": 80, "clbl+c": 78, "clbl+o": 75, "clbl++": 76, "lbl": 64, "lbl++": 65}
    sections, _ = sections_of(plan, outcome_of(plan, perplexities))
    statements = {row[0]: row[1:] for row in only(sections).tables[2].rows}
    assert statements == {
        "median perplexity of MKN": ["348", "150"],
        "LBL++ is better than LBL": ["in all languages", "in 0 of 2"],
        "CLBL++ is better than CLBL": ["in all languages", "in 2 of 2"],
        "CLBL++ is better than CLBL+c": ["in all languages", "in 2 of 2"],
        "CLBL++ is better than CLBL+o": ["in all languages", "in 0 of 2"],
        "CLBL+c gains more than CLBL+o": ["yes", "in 0 of 2"],
        "perplexity of CLBL against LBL": ["slightly higher", "25 % to 25 %"],
        "CLBL++ gains most in": ["ru, cs, de", "de, es"],
    }


@pytest.mark.parametrize("language", ["cs", "de"])
def test_scaling_beside_the_largest_text_of_the_paper(tmp_path: Path, language: str) -> None:
    source = TextSource(write_data(tmp_path, (language,)))
    write_xz(tmp_path / "text" / "cs-novels.txt.xz", ["Věta."])
    recipe = Recipe(
        "r", print=("corpus", "scaling"), languages=(language,), tokens=(100, 200), vocabularies=(FIXED, GROWING),
        kinds=("mkn", "clbl", "clbl++"),
    )  # fmt: skip
    plan = make_plan(recipe, source)
    outcome = outcome_of(plan, {"mkn": 100, "clbl": 90, "clbl++": 81})
    for cell in plan.cells[:2]:  # the vocabulary of the smallest text is the same, fixed or growing
        for step in cell.of(ScoresStep).values():
            outcome.results[step.key] = outcome.results[step.key] | {"vocabulary": 50}
    sections, failures = sections_of(plan, outcome)
    assert not failures
    corpus, scaling = sections
    assert [row[0] for row in corpus.tables[0].rows][::3] == [f"{language} 100, words of 100", f"{language} 200"]
    if language != "cs":  # the paper's numbers are of Czech
        assert len(scaling.tables) == 1
        return
    assert scaling.tables[1].header[-1] == "here: 200 tokens"
    assert scaling.tables[1].rows == [
        ["CLBL++ against MKN", "−14 %", "−19.0 % [−19.0, −19.0]"],
        ["CLBL++ against CLBL", "−2 % to −3 %", "−10.0 % [−10.0, −10.0]"],
    ]


def test_languages_and_rates_are_not_in_one_series_of_scaling(source: TextSource) -> None:
    recipe = Recipe(
        "r", print=("scaling",), languages=("de", "es"), tokens=(100, 200), kinds=("mkn", "clbl", "clbl++"),
        kappas=(0.2, 1.0),
    )  # fmt: skip
    plan = make_plan(recipe, source)
    sections, failures = sections_of(plan, outcome_of(plan, {"mkn": 100, "clbl": 90, "clbl++": 81}))
    assert not failures
    names = [f"scaling-{language}-kappa-{kappa}" for language in ("de", "es") for kappa in ("0.2", "1")]
    assert (
        [section.name for section in sections] == [name for section in sections for name in section.pictures] == names
    )
    rows = [[row[1:4:2] for row in section.tables[0].rows] for section in sections]
    numbers = [("1", "3"), ("2", "4"), ("5", "7"), ("6", "8")]  # of the cells: sizes, then rates
    assert rows == [[["100", f"{one}00.00"], ["200", f"{two}00.00"]] for one, two in numbers]


def test_more_text_than_there_is_counts_once_in_scaling(source: TextSource) -> None:
    recipe = Recipe(
        "r", print=("scaling",), languages=("de",), tokens=(100, 9999, None), kinds=("mkn", "clbl", "clbl++")
    )
    plan = make_plan(recipe, source)
    sections, failures = sections_of(plan, outcome_of(plan, {"mkn": 100, "clbl": 90, "clbl++": 81}))
    assert not failures
    assert [row[1] for row in only(sections).tables[0].rows] == ["100", "9,999"]


def test_a_part_that_lacks_its_models_is_left_out(source: TextSource) -> None:
    plan = make_plan(
        Recipe("r", print=("perplexity", "kappa", "selection"), languages=("de",), kinds=("mkn", "clbl")), source
    )
    sections, failures = sections_of(plan, outcome_of(plan, {"mkn": 100, "clbl": 80}))
    assert [section.name for section in sections] == ["perplexity"]
    assert not failures
    assert only(sections).tables[0].rows == [["de", "100.00", "80.00"]]
    assert sections_of(plan, Outcome()) == ([], {})


def test_similarity_with_the_paper_behind(source: TextSource, tmp_path: Path) -> None:
    (tmp_path / "wordsim").mkdir()
    assert source.folder is not None
    for folder in ("parallel", "newstest", "pos"):
        (tmp_path / folder).symlink_to(source.folder / folder)
    (tmp_path / "wordsim" / "de-gur350.tsv").write_text("a\tb\t1\n")
    plan = make_plan(
        Recipe("r", print=("similarity",), languages=("de", "es"), kinds=("mkn", "clbl", "clbl++")),
        TextSource(tmp_path),
    )
    assert plan.missing == ("ratings of word pairs in es: there is no wordsim/es-*.tsv in the folder of data",)
    cell, outcome = plan.cells[0], Outcome()
    assert list(cell.of(SimilarityStep)) == ["clbl", "clbl++"]
    for number, step in enumerate(cell.of(SimilarityStep).values()):
        rho: dict[str, dict[str, float | None]] = {
            policy: {"rho": 10.0 * number + k, "low": 1.0, "high": 2.0} for k, policy in enumerate(("composed", "unk"))
        }
        outcome.results[step.key] = {
            "sets": [{"set": "de-gur350", "pairs": 350, "rho_x_100": rho, "signature": "rho|x"}]
        }
    (table,) = only(sections_of(plan, outcome)[0]).tables
    assert table.rows == [
        ["de-gur350", "350", "1.0 [1.0, 2.0]", "10.0 [1.0, 2.0]", "11.0 [1.0, 2.0]", "36", "56", "44"]
    ]
    rho["unk"] |= {"low": None, "high": None}  # of very few pairs
    (table,) = only(sections_of(plan, outcome)[0]).tables
    assert table.rows[0][3:5] == ["10.0 [1.0, 2.0]", "11.0"]


@pytest.mark.parametrize(("language", "said"), [("de", "−8 % to −21 %"), ("es", "smaller"), ("fr", "-")])
def test_what_the_paper_says_of_rare_words_it_says_of_some_languages(tmp_path: Path, language: str, said: str) -> None:
    source = TextSource(write_data(tmp_path, (language,)))
    plan = make_plan(Recipe("r", print=("frequency",), languages=(language,), kinds=("clbl", "clbl++")), source)
    (step,) = (step for cell in plan.cells for step in cell.of(FrequencyStep).values())
    rare, whole = (Group(name, 5, 0.5, 10.0, 9.0, PerplexityChange(-0.1, -0.2, 0.0)) for name in ("1-9", "all"))
    found = GroupComparison("seen", "test", ("CLBL", "CLBL++"), (rare,), whole, ("a", "b"), 1)
    sections, _ = sections_of(plan, Outcome({step.key: found.to_json()}))
    assert sections[0].tables[1].rows == [[language, said, "−10 % to −10 %"]]


@pytest.mark.parametrize(("languages", "first"), [(("de", "es"), "paper"), (("es",), "es_made")])
def test_parts_of_speech_in_which_languages(source: TextSource, languages: tuple[str, ...], first: str) -> None:
    plan = make_plan(Recipe("r", print=("tags",), languages=languages, kinds=("clbl", "clbl++")), source)
    noun, whole = (Group(name, 5, 0.5, 10.0, 9.0, PerplexityChange(-0.1, -0.2, 0.0)) for name in ("Noun", "all"))
    found = GroupComparison("tag", "test", ("CLBL", "CLBL++"), (noun,), whole, ("a", "b"), 1).to_json()
    results = {cell.of(TagsStep)[f"{cell.language}_made"].key: found for cell in plan.cells}
    sections, _ = sections_of(plan, Outcome(results))
    title = f"CLBL++ against CLBL by part of speech: {', '.join(languages)} (figure 4)"
    assert sections[0].title == title
    assert sections[0].tables[0].rows[0][0] == first
    assert [section.title for section in sections[1:]] == [f"By part of speech: {name}_made" for name in languages]


def test_pictures_of_an_earlier_report_of_the_recipe_go(
    source: TextSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("morphlm.experiments.writing.save_picture", lambda result, path: path.write_text(result))

    def write(recipe: str, *pictures: str) -> set[str]:
        plan = make_plan(Recipe(recipe, languages=("de",), kinds=("mkn",)), source)
        section = ReportSection("s", "S", (), {}, {name: name for name in pictures})
        write_report(Report(plan, (section,), (), (), (), {}, ()), tmp_path)
        return {path.name for path in tmp_path.iterdir()} - {"report.md", "results.json"}

    (tmp_path / "own.svg").write_text("not ours")
    assert write("r", "a", "b") == {"own.svg", "a.svg", "a.png", "b.svg", "b.png"}
    assert write("r", "b", "c") == {"own.svg", "b.svg", "b.png", "c.svg", "c.png"}
    assert "c.svg" in write("another")  # what another recipe made is left to it
    for content in ('{"recipe": "r", "pictures": ["../x.svg", "own.txt", 3]}', "[]", "{", '{"recipe": "r"}'):
        (tmp_path / "results.json").write_text(content)
        assert "own.svg" in write("r")


def test_comparisons_come_back_from_json() -> None:
    change = PerplexityChange(-0.1, -0.2, float("nan"))
    group = Group("1-9", 5, 0.5, 10.0, float("nan"), change)
    whole = GroupComparison("by", "text", ("A", "B"), (group,), group, ("s", "t"), 3, 100, ("note",))
    again = comparison_from_json(whole.to_json())
    assert again.to_json() == whole.to_json()
    assert np.isnan(again.groups[0].other)
    assert (again.title, again.names, again.notes, again.resamples) == ("by", ("A", "B"), ("note",), 100)


def test_signatures_are_found_wherever_they_are() -> None:
    contents: list[dict[str, Any]] = [
        {"rows": [{"signatures": ["b", "a"]}]},
        {"de": {"signatures": {"clbl": "c"}}},
        {"signatures": {"de": {"mkn": "d"}}},
        {"sets": [{"signature": "e"}]},
    ]
    assert signatures_in([ReportSection("x", "", (), content) for content in contents]) == ["a", "b", "c", "d", "e"]


def test_what_lacks_is_said(source: TextSource) -> None:
    plan = make_plan(Recipe("r", languages=("de",), kinds=("mkn", "clbl")), source)
    names = [step.name for step in plan.steps]
    outcome = Outcome(failed={names[2]: "diverged", "of another recipe": ""}, skipped=[names[3]], late=[names[4], "x"])
    report = make_report(plan, outcome, ["the languages es"])
    assert report.what_lacks == [
        "left out to fit the time: the languages es",
        f"no time for: {names[4]}",
        f"failed: {names[2]}: diverged",
        f"not possible without these: {names[3]}",
    ]
    assert all(line in report.markdown({}) for line in report.what_lacks)


def test_the_numbers_of_the_paper() -> None:
    assert table2_cells(0.05, "cs") == ["862", "683", "−20.8 %", "643", "−5.9 %"]
    assert table2_cells(0.2, "cs") == ["-"] * 5
    assert corpus_cells("ru", None) == ["25.1m", "497k"]
    assert corpus_cells("ru", 1_000_000) == ["1m", "62k"]
    assert corpus_cells("ru", 2_000_000) == ["-", "-"]  # the paper has no such text
    assert similarity_cells("en-rarewords2034") == ["18", "30", "20"]
    assert in_percent(-4) == "−4 %"
    # Each relative change agrees with its perplexities but for their rounding.
    for rows in paper()["table2"].values():
        for mkn, clbl, first, additive, second in rows.values():
            assert 100 * (clbl / mkn - 1) == pytest.approx(first, abs=0.4)
            assert 100 * (additive / clbl - 1) == pytest.approx(second, abs=0.5)
