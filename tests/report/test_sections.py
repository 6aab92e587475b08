"""The numbers and words that each section shows, read back from the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from morphlm.analysis.frequency import frequency_comparison
from morphlm.errors import ConfigError
from morphlm.ngram.training import train_ngram
from morphlm.report.descriptions import describe_model
from morphlm.report.numbers import probability
from morphlm.report.scored_models import ScoredModels, score_loaded_models
from morphlm.report.sections.classes import classes
from morphlm.report.sections.corpus import corpus, training_types
from morphlm.report.sections.curves import curves
from morphlm.report.sections.frequency import frequency
from morphlm.report.sections.generated import generated, sentences_of
from morphlm.report.sections.morpheme_map import morpheme_map
from morphlm.report.sections.neighbours import neighbours
from morphlm.report.sections.perplexities import perplexities
from morphlm.report.sections.predictions import beginnings, predictions
from morphlm.report.sections.section import PageSection
from morphlm.report.sections.segmentation import choose as choose_words
from morphlm.report.sections.segmentation import factors_of, segmentation
from morphlm.report.sections.surprisal import choose, most_different, surprisal
from morphlm.report.surprisal_scale import LEGEND, LEVELS, level
from morphlm.scoring.prediction import Predictor, next_words
from morphlm.tables import percent
from tests.report.cases import TEXT, model, scored_models, text_of
from tests.report.wellformed import Page, parsed


def page_of(section: PageSection) -> Page:
    return parsed(f"<!DOCTYPE html>\n<html><body>{section.html()}</body></html>")


def rows_of(page: Page) -> list[list[str]]:
    """The cells of all tables, headings left out."""
    cells = [
        e for e in page.elements if e.name == "tr" or (e.name in ("td", "th") and e.attributes.get("scope") != "col")
    ]
    rows: list[list[str]] = []
    for element in cells:
        if element.name == "tr":
            rows.append([])
        else:
            rows[-1].append(element.text)
    return [row for row in rows if row]


def missing(section: PageSection) -> list[str]:
    return [element.text for element in page_of(section).all("p", class_="missing")]


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize("kappa", [0.0, 0.2, 0.5, 1.0])
def test_the_types_of_the_training_text_are_those_known_and_those_pruned(kappa: float) -> None:
    text = [["a", "b", "a"], ["c", "d", "e", "f"]]
    assert training_types(train_ngram(text, 2, kappa=kappa)) == 6


def test_the_types_are_not_told_where_the_text_had_unknown_words_itself() -> None:
    trained = train_ngram([["a", "a"], ["b", "<unk>", "<unk>"]], 2, kappa=0.0, allow_unknown=True)
    assert trained.vocabulary.counts[0] == 2
    assert training_types(trained) is None


def test_models_of_one_training_text_share_a_row() -> None:
    trained = train_ngram([["a", "b", "a"], ["c"]], 2)
    given = score_loaded_models(text_of(["a x x", "b"]), [(name, name, trained) for name in ("one", "two")], 2)
    assert rows_of(page_of(corpus(given))) == [
        ["one, two", "2", "6", "3", "3", "0"],
        ["one, two", "2", "33.3 %", "1", "33.3 %"],
    ]
    assert "2 sentences, 6 tokens (3.0 a sentence), 3 types" in page_of(corpus(given)).one("corpus").text


# ---------------------------------------------------------------- figures


def test_perplexities_are_those_of_the_models_with_their_signatures() -> None:
    given = scored_models("mkn", "clbl++", "mixture")
    page = page_of(perplexities(given))
    for row, scored_model in zip(rows_of(page), given.models, strict=True):
        expected = scored_model.model.perplexity([line.split() for line in TEXT])
        assert row[:3] == [
            scored_model.name, describe_model(scored_model.model), f"{expected.including_unknown:,.2f}"
        ]  # fmt: skip
        assert row[4:6] == [f"{expected.excluding_unknown:,.2f}", f"{np.log2(expected.including_unknown):.2f}"]
    rows = rows_of(page)
    first, other = (scored_model.perplexity.including_unknown for scored_model in given.models[:2])
    assert rows[0][3] == "–"
    assert rows[1][3].startswith(percent(other / first - 1) + " [")
    codes = [element.text for element in page.all("code")]
    assert codes == [str(scored_model.perplexity.signature) for scored_model in given.models]


def test_a_model_alone_has_no_change() -> None:
    page = page_of(perplexities(scored_models("mkn")))
    assert [len(row) for row in rows_of(page)] == [5]
    assert "change" not in page.one("models").text


def test_different_vocabularies_are_told() -> None:
    few = train_ngram([["škola"]], 2)
    mixed = score_loaded_models(text_of(TEXT), [("few", "few", few), ("mkn", "mkn", model("mkn"))], 2)
    assert "do not have the same vocabulary" in page_of(perplexities(mixed)).one("models").text
    assert (
        "do not have the same vocabulary" not in page_of(perplexities(scored_models("lbl", "clbl"))).one("models").text
    )


def test_curves_are_read_from_the_logs(tmp_path: Path) -> None:
    given = scored_models("clbl", "mkn")
    lines = [
        {"epoch": 0, "minibatch": 3, "tokens": 50, "development_perplexity": 90.0, "best": True},
        {"epoch": 1, "minibatch": 0, "tokens": 100, "development_perplexity": 80.5, "best": True},
        {"epoch": 2, "tokens": 200, "development_perplexity": float("nan")},
        {"epoch": 2, "note": "by hand"},
        {"epoch": 2, "tokens": 200, "development_perplexity": 81.25, "best": False, "ended": "it is enough"},
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    changed = replace(given.first, path=str(tmp_path))
    changed.model.training["tokens"] = 100
    try:
        page = page_of(curves(ScoredModels(given.text, (changed, given.models[1]))))
    finally:
        del changed.model.training["tokens"]
    assert rows_of(page) == [["clbl", "3", "1", "80.50", "it is enough"]]
    assert page.all("p", class_="note")[0].text == "Without a log of a training: mkn."
    (text,) = missing(curves(given))
    assert text.startswith("None of these models has a log of its training.")


def test_several_models_share_one_table_by_frequency() -> None:
    page = page_of(frequency(scored_models("mkn", "clbl", "clbl++")))
    assert len(page.all("table")) == 1
    assert len(page.all("figure")) == 2
    rows = rows_of(page)
    for place, kind in ((4, "clbl"), (6, "clbl++")):
        expected = frequency_comparison(model("mkn"), model(kind), [line.split() for line in TEXT])
        assert [row[place + 1] for row in rows] == [g.change.format() for g in (*expected.groups, expected.whole)]


def test_frequency_bins_are_those_of_the_analysis() -> None:
    given = scored_models("mkn", "clbl++")
    rows = rows_of(page_of(frequency(given)))
    expected = frequency_comparison(model("mkn"), model("clbl++"), [line.split() for line in TEXT])
    assert [row[0] for row in rows] == [group.name for group in (*expected.groups, expected.whole)]
    assert [row[-1] for row in rows] == [group.change.format() for group in (*expected.groups, expected.whole)]
    assert rows[-1][3:5] == [f"{scored_model.perplexity.including_unknown:,.2f}" for scored_model in given.models]


def test_the_text_is_not_scored_again_by_frequency(monkeypatch: pytest.MonkeyPatch) -> None:
    given = scored_models("mkn", "clbl++")
    for scored_model in given.models:
        monkeypatch.setattr(type(scored_model.model), "score_tokens", lambda *_: pytest.fail("it is scored again"))
    assert rows_of(page_of(frequency(given)))


def test_without_counts_there_are_no_bins_and_other_errors_are_not_taken_for_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without = replace(model("mkn").vocabulary, counts=np.zeros(len(model("mkn").vocabulary), np.int64))
    given = scored_models("mkn", "clbl++")
    with monkeypatch.context() as patch:
        patch.setattr(given.first.model, "vocabulary", without)
        assert missing(frequency(given))[0].startswith("mkn does not tell how often its words were seen")

    def fail(*_: object, **__: object) -> None:
        raise ConfigError("of another kind")

    monkeypatch.setitem(frequency.__globals__, "compare_by_frequency", fail)
    with pytest.raises(ConfigError, match="of another kind"):
        frequency(given)


def test_one_model_alone_has_its_own_figures_by_frequency() -> None:
    section = frequency(scored_models("mkn"))
    assert [row[0] for row in rows_of(page_of(section))] == ["unseen", "1-9", "10-99", "all"]
    assert missing(section) == ["There is one model, so nothing to compare it with; these are its own perplexities."]


# ---------------------------------------------------------------- words


def test_classes_are_shown_once_for_models_that_share_them() -> None:
    page = page_of(classes(scored_models("mkn", "clbl", "clbl++", "mixture")))
    partition = model("clbl").structure.partition  # type: ignore[attr-defined]
    assert [heading.text for heading in page.all("h3")] == ["Classes of clbl, clbl++, mixture"]
    rows = rows_of(page)
    assert rows == [
        [str(number), str(size), "  ".join(words)]
        for number, (size, words) in enumerate(zip(partition.sizes, partition.examples(10), strict=True))
        if size >= 5
    ]
    assert page.all("p", class_="note")[-1].text == "Without classes: mkn."
    assert missing(classes(scored_models("mkn", "lbl")))[0].startswith("None of these models has word classes")


def test_words_are_chosen_by_how_often_they_were_seen() -> None:
    factors = factors_of(scored_models("clbl++").first)
    assert factors is not None
    chosen = choose_words(factors, ["škola", "městem", "domou", "neznámou", "xx"])
    assert {title: [one.word for one in found] for title, found in chosen.items()} == {
        "Frequent words": [],
        "Rare words": ["městem"],  # the last word of the vocabulary: its count is 1
        "Other words": ["škola"],
        "Unknown words": ["domou", "neznámou"],
    }
    assert chosen["Unknown words"][0].parts == (("dom/STM", True), ("ou/SUF", True))
    unseen = chosen["Unknown words"][1]
    assert not all(known for _, known in unseen.parts)


def test_morphemes_have_their_labels_and_those_never_seen_are_marked() -> None:
    page = page_of(segmentation(scored_models("mkn", "clbl++")))
    chips = page.all("span", class_="morpheme")
    assert "domSTM" in [chip.text for chip in chips]
    classes_of = {chip.text: chip.attributes["class"] for chip in chips}
    assert classes_of["domSTM"] == "chip morpheme kind-2"
    assert classes_of["ouSUF"] == "chip morpheme kind-3"
    unseen = page.all("span", class_="unseen")
    assert unseen
    assert all(chip.text.endswith(" (not seen in training)") for chip in unseen)
    assert missing(segmentation(scored_models("lbl")))[0].startswith("None of these models has morphemes")


def test_neighbours_are_those_of_the_vectors() -> None:
    given = scored_models("lbl", "clbl++")
    rows = rows_of(page_of(neighbours(given)))
    known = [row for row in rows if row[0] in model("lbl").vocabulary]
    assert known
    for word, name, near in rows:
        if word in model("lbl").vocabulary:
            expected = model(name).vectors.neighbours(word, 8)
            assert near == ", ".join(f"{other} {cosine:.2f}".replace("-", "−") for other, cosine in expected)
    (new,) = [row for row in rows if row[0].startswith("domou")]
    expected = model("clbl++").vectors.neighbours("domou", 8)
    near = ", ".join(f"{o} {c:.2f}".replace("-", "−") for o, c in expected)
    assert new == ["domou", "clbl++", f"domSTM ouSUF{near}"]


def test_models_with_the_same_vectors_share_their_rows() -> None:
    alone, shared = (page_of(neighbours(scored_models(*kinds))) for kinds in (("clbl++",), ("clbl++", "mixture")))
    assert [len(row) for row in rows_of(alone)] == [2] * len(rows_of(alone))
    assert alone.all("p", class_="note")[-1].text == "Vectors of clbl++."
    assert rows_of(shared) == rows_of(alone)
    assert shared.all("p", class_="note")[-1].text == "Vectors of clbl++, mixture."


def test_why_there_are_no_neighbours() -> None:
    assert missing(neighbours(scored_models("mkn")))[0].startswith("None of these models has word vectors")
    assert missing(neighbours(scored_models("lbl"))) == [
        "lbl cannot compose words that were never seen; models with morphemes (++) can."
    ]
    assert missing(neighbours(scored_models("clbl++", lines=["škola domem"]))) == [
        "The test text has no unknown word of two known morphemes or more."
    ]


def test_the_map_has_all_morphemes_of_the_first_model_that_has_some() -> None:
    section = morpheme_map(scored_models("mkn", "clbl++", "mixture"))
    page = page_of(section)
    points = json.loads(page.one("map-data").text)["points"]
    assert {point["name"] for point in points} == {*model("clbl++").vectors.morphemes}
    assert page.one("map-here").attributes["data-model"] == "clbl++"
    assert "most frequent morphemes of clbl++, mixture." in page.one("map").text
    assert missing(morpheme_map(scored_models("mkn", "lbl")))[0].startswith("None of these models has morphemes")


# ---------------------------------------------------------------- sentences


def test_levels_of_surprisal() -> None:
    levels = [level(bits) for bits in (0.0, 1.99, 2.0, 13.9, 14.0, 99.0, float("inf"), None)]
    assert levels == [0, 0, 1, 6, 7, 7, 7, 7]
    assert LEGEND == ("0–2", "2–4", "4–6", "6–8", "8–10", "10–12", "12–14", "14+")
    legend = page_of(surprisal(scored_models("mkn"))).all("ul", class_="scale")
    assert [entry.text for entry in legend] == ["".join(LEGEND)]
    assert len(LEGEND) == LEVELS


def test_tokens_are_coloured_by_their_surprisal_under_each_model() -> None:
    given = scored_models("mkn", "clbl++")
    page = page_of(surprisal(given))
    columns = page.all("li", class_="column")
    columns = [column for column in columns if "data-token" in column.attributes]
    words = [word for line in TEXT for word in (*line.split(), "end of sentence")]
    assert [column.attributes["data-token"] for column in columns] == words
    cells = page.all("span", class_="token")
    scores = [model(kind).sentence(line.split()) for line in TEXT for kind in ("mkn", "clbl++")]
    one, two = ([p for sentence in scores[k::2] for p in sentence] for k in (0, 1))
    expected = [-p / np.log(2) for pair in zip(one, two, strict=True) for p in pair]
    for cell, bits, kind in zip(cells, expected, ["mkn", "clbl++"] * len(words), strict=True):
        assert f"surprise-{level(bits)}" in (cell.attributes["class"] or "").split()
        assert (cell.attributes["title"] or "").startswith(f"{kind}: {bits:.4f} bits, p = {2**-bits:.3g}")
        assert cell.text.startswith(f"{kind}: {bits:.1f} bits")
    unknown = page.all("span", class_="unknown")
    assert all("scored as UNK" in (cell.attributes["title"] or "") for cell in unknown)
    assert len(unknown) == sum(int(scored_model.unknown.sum()) for scored_model in given.models) == 3


def test_one_sentence_is_visible_and_the_chooser_names_all() -> None:
    page = page_of(surprisal(scored_models("mkn")))
    sentences = page.all("div", class_="sentence")
    assert ["hidden" in sentence.attributes for sentence in sentences] == [False, True, True]
    options = page.all("option")
    assert [option.attributes["value"] for option in options] == [s.attributes["id"] for s in sentences]
    assert options[0].text == "1: škola domem neznámou"


def test_sentences_are_taken_from_all_over_the_text_and_where_models_differ_most() -> None:
    lines = ["škola", *["škola domem řekou ulicou pola"] * 40, "domy " * 39 + "domy"]
    given = scored_models("mkn", "lbl", lines=lines)
    chosen = choose(given)
    assert {1, 7, 14, 21, 27, 34} <= {*chosen}
    assert 0 not in chosen
    assert 41 not in chosen
    assert most_different(given, [1, 41])[0] == (41 if _apart(given, 41) > _apart(given, 1) else 1)
    assert choose(scored_models("mkn", lines=["škola"])) == [0]


def _apart(given: ScoredModels, number: int) -> float:
    begin, end = given.text.spans[number]
    return abs(float(np.mean([given.models[1].bits[begin:end] - given.models[0].bits[begin:end]])))


def test_a_long_sentence_is_cut() -> None:
    section = surprisal(scored_models("mkn", lines=["škola " * 99 + "škola"]))
    assert missing(section) == ["The first 60 of 101 tokens."]
    assert len([e for e in page_of(section).all("li", class_="column") if "data-token" in e.attributes]) == 60


# ---------------------------------------------------------------- what comes next


def test_beginnings_end_before_a_word_that_tells_something() -> None:
    given = scored_models("mkn", lines=["a b c školou d", "a b c d e", "domy a b městem škola", "a b"])
    found = beginnings(given)
    assert [(one.sentence, one.words, one.next_word) for one in found] == [
        (0, ("a", "b", "c"), "školou"),
        (1, ("a", "b", "c"), "d"),  # there are few sentences, so any word will do
        (2, ("domy", "a", "b"), "městem"),
    ]
    many = scored_models("mkn", lines=["a b c školou d"] * 6 + ["a b c d e"])
    assert {one.next_word for one in beginnings(many)} == {"školou"}


def test_expected_words_are_those_of_the_model_and_the_right_one_is_set_off() -> None:
    lines = ["škola domem řekou pola"]
    given = scored_models("mkn", "clbl++", lines=lines)
    page = page_of(predictions(given))
    names = [element.text for element in page.all("span", class_="name")]
    expected = [
        [entry.word for entry in next_words(model(kind), lines[0].split()[:3], 5)] for kind in ("mkn", "clbl++")
    ]
    assert names == [word.replace("</s>", "⏎ end") for words in expected for word in words]
    assert [element.text for element in page.all("mark")] == ["pola"]
    answers = page.all("li", class_="is-answer")
    assert len(answers) == sum("pola" in words for words in expected)
    notes = [element.text for element in page.all("p", class_="note")]
    distribution = model("mkn").distribution(Predictor(model("mkn")).state_after(lines[0].split()[:3]))
    own = float(distribution[model("mkn").vocabulary.id_of("pola")])
    assert notes[0] == f"In the text: {probability(own)}, rank {1 + int((distribution > own).sum())}"
    values = [float(bar.attributes["value"] or 0) for bar in page.all("progress")]
    assert values[0] == pytest.approx(next_words(model("mkn"), lines[0].split()[:3], 1)[0].probability ** 0.5, abs=1e-3)


def test_a_text_without_beginnings_says_so_and_unknown_answers_are_told() -> None:
    assert missing(predictions(scored_models("mkn", lines=["škola"])))[0].startswith("The test text has no sentence")
    page = page_of(predictions(scored_models("mkn", lines=["škola domem řekou neznámou"])))
    assert page.all("p", class_="note")[0].text == "The word that follows is unknown."


def test_made_up_sentences_depend_on_the_seed_alone() -> None:
    given = scored_models("mkn", "clbl++")
    page = page_of(generated(given))
    shown = [element.text for element in page.all("li")]
    expected = [one for scored_model in given.models for one in sentences_of(scored_model, 1)]
    assert shown == [" ".join(one.words if one.complete else (*one.words, "…")) for one in expected]
    assert sentences_of(given.first, 1) == sentences_of(given.first, 1) != sentences_of(given.first, 2)


def test_texts_from_right_to_left_are_laid_out_so() -> None:
    words = train_ngram([["كتاب", "في", "البيت", "الكبير"]] * 3, 2)
    given = score_loaded_models(text_of(["كتاب في البيت الكبير"]), [("mkn", "mkn", words)], 1)
    page = page_of(surprisal(given))
    assert page.all("ol", class_="tokens")[0].attributes["dir"] == "rtl"
    assert page_of(predictions(given)).all("h3")[0].attributes["dir"] == "rtl"
    assert page_of(surprisal(scored_models("mkn"))).all("ol", class_="tokens")[0].attributes["dir"] == "ltr"
