"""The texts of the experiments, made from a small folder of the same layout."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.experiments.corpora import (
    PARTS,
    RECIPES,
    hold_out,
    join_wrapped,
    prepare_language,
    read_novels,
    side_of,
    spread_passages,
)
from morphlm.text.preparation import Counts, read_preparation


def write_xz(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def letters(number: int) -> str:
    """A name for a number: without digits, which all become 0, and too long for an abbreviation."""
    return "wo" + "".join("abcdefghij"[int(digit)] for digit in str(number))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Ten lines of news (of three tokens) before the rest, and novels where the language has them."""
    folder = tmp_path / "data"
    for language, recipe in RECIPES.items():
        news = [f"news\tEnglish {letters(k)}.\tNews {letters(k)}." for k in range(10)]
        rest = [f"other\tOther english {letters(k)}!\tOther text {letters(k)}!" for k in range(10)]
        if language != "en":
            write_xz(folder / "parallel" / f"{recipe.parallel}.tsv.xz", *news, *rest)
        for year in (recipe.dev, recipe.test):
            if year is not None:
                write_xz(folder / "newstest" / f"newstest{year}.{language}.txt.xz", f"Year {year}, {language}.")
        if recipe.novels:
            paragraphs = [f"Novel {letters(k)}. The end of {letters(k)}?" for k in range(100)]
            write_xz(folder / "text" / f"{language}-novels.txt.xz", *paragraphs)
    return folder


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# ---------------------------------------------------------------- whole languages


def test_first_sentences_of_the_target_side(data: Path, tmp_path: Path) -> None:
    texts = prepare_language(data, "de", tmp_path / "out", tokens=31)
    assert lines_of(texts.train) == [*(f"news {letters(k)} ." for k in range(10)), "other text woa !"]
    assert lines_of(texts.dev) == ["year 0000 , de ."]
    assert texts.train == tmp_path / "out" / "train.de.txt"
    assert texts.counts["train"] == Counts(lines=11, kept=11, tokens=34)
    assert texts.counts["test"] == Counts(lines=1, kept=1, tokens=5)


def test_the_sentence_that_reaches_the_number_is_the_last(data: Path, tmp_path: Path) -> None:
    assert prepare_language(data, "fr", tmp_path / "a", tokens=6).counts["train"].tokens == 6
    assert prepare_language(data, "fr", tmp_path / "b", tokens=7).counts["train"].tokens == 9


def test_english_is_the_english_side_of_german(data: Path, tmp_path: Path) -> None:
    texts = prepare_language(data, "en", tmp_path, tokens=4)
    assert lines_of(texts.train) == ["english woa .", "english wob ."]
    assert lines_of(texts.test) == ["year 0000 , en ."]


def test_czech_is_half_news_half_novels(data: Path, tmp_path: Path) -> None:
    texts = prepare_language(data, "cs", tmp_path, tokens=12)
    # 200 sentences are four passages: 0, 2, 1, 3
    assert lines_of(texts.train) == ["news woa .", "news wob .", "novel woa .", "the end of woa ?"]


def test_czech_takes_all_news_where_there_are_less_and_fills_up(data: Path, tmp_path: Path) -> None:
    texts = prepare_language(data, "cs", tmp_path, tokens=30 + 4 * (50 * 4) - 1)
    lines = lines_of(texts.train)
    assert lines[:10] == [f"news {letters(k)} ." for k in range(10)]
    starts = [lines[10 + 50 * k] for k in range(4)]
    assert starts == [f"novel {letters(k)} ." for k in (0, 50, 25, 75)]
    assert texts.counts["train"].tokens == 30 + 4 * (50 * 4)
    assert not any("other" in line for line in lines)


def test_less_text_than_asked_for_is_said(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = prepare_language(data, "cs", tmp_path, tokens=1_000_000)
    assert texts.counts["train"].tokens == 30 + 100 * 8
    assert (
        "there are only 830 of 1,000,000 tokens of training text in en-cs.tsv.xz, cs-novels.txt.xz"
        in capsys.readouterr().err
    )


def test_russian_holds_out_news(data: Path, tmp_path: Path) -> None:
    news = [f"news\tx\tНовость но{letter}." for letter in "абвгдежзик"]
    write_xz(data / "parallel" / "en-ru.tsv.xz", *news)
    write_xz(data / "text" / "ru-novels.txt.xz", "Конец. Новость ноа.", "Слово и Word.")
    texts = prepare_language(data, "ru", tmp_path, tokens=1000)
    assert lines_of(texts.dev) == ["новость ноа .", "новость ноб ."]
    # the second sentence of the novel is one of dev
    stays = [f"новость но{letter} ." for letter in "вгдежзик"]
    assert lines_of(texts.train) == [*stays, "конец .", "слово и <unk> ."]
    assert texts.counts["train"] == Counts(lines=10, kept=10, tokens=30)


def test_one_side_of_a_parallel_text(data: Path, tmp_path: Path) -> None:
    """No novels, no other parallel text; all origins, in their order."""
    for language, tokens in (("cs", 32), ("en", None)):
        texts = prepare_language(data, language, tmp_path, recipe=side_of("en-cs", language), tokens=tokens)
        lines = lines_of(texts.train)
        assert len(lines) == (20 if tokens is None else 11)
        assert lines[9:11] == (
            ["news woj .", "other text woa !"] if language == "cs" else ["english woj .", "other english woa !"]
        )


@pytest.mark.parametrize("tokens", [None, 1000])
def test_one_side_without_a_development_text_holds_out_news(data: Path, tmp_path: Path, tokens: int | None) -> None:
    news = [f"news\tx\tНовость но{letter}." for letter in "абвгдежзик"]
    write_xz(data / "parallel" / "en-ru.tsv.xz", *news, "other\tx\tНовость ноа.", "other\tx\tКонец.")
    texts = prepare_language(data, "ru", tmp_path, recipe=side_of("en-ru", "ru"), tokens=tokens)
    assert lines_of(texts.dev) == ["новость ноа .", "новость ноб ."]
    assert lines_of(texts.train) == [*(f"новость но{letter} ." for letter in "вгдежзик"), "конец ."]


def test_long_sentences_leave_the_training_text_only(data: Path, tmp_path: Path) -> None:
    long = " ".join(["wort"] * 81)
    write_xz(data / "parallel" / "en-de.tsv.xz", f"news\tx\t{long}", "news\tx\t", "news\tx\tKurz")
    write_xz(data / "newstest" / "newstest2012.de.txt.xz", long)
    texts = prepare_language(data, "de", tmp_path, tokens=5)
    assert texts.counts["train"] == Counts(lines=3, kept=1, empty=1, too_long=1, tokens=1)
    assert lines_of(texts.test) == [long]


@pytest.mark.parametrize("language", RECIPES)
def test_the_records_are_those_of_prepare(data: Path, tmp_path: Path, language: str) -> None:
    texts = prepare_language(data, language, tmp_path, tokens=20)
    for part in PARTS:
        preparation = read_preparation(tmp_path / f"{part}.{language}.txt")
        assert preparation is not None
        assert preparation.counts == texts.counts[part]
        assert preparation.options.tokeniser_signature == f"moses.{language}"
        expected = "lc+digits+cyrillic0.8" if language == "ru" else "lc+digits"
        assert preparation.options.normalisation_signature == expected


def test_the_number_of_processes_changes_nothing(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.experiments.corpora.BATCH", 7)
    monkeypatch.setattr("morphlm.processes.ordered_map.__kwdefaults__", {"patience": 0.0})
    one = prepare_language(data, "cs", tmp_path / "one", tokens=300)
    two = prepare_language(data, "cs", tmp_path / "two", tokens=300, processes=2)
    assert one.counts == two.counts
    assert all_bytes(tmp_path / "one") == all_bytes(tmp_path / "two")


# ---------------------------------------------------------------- used again


def test_a_folder_with_other_texts_is_written_anew(data: Path, tmp_path: Path) -> None:
    def train(tokens: int) -> list[str]:
        return lines_of(prepare_language(data, "de", tmp_path / "out", tokens=tokens).train)

    assert len(train(9)) == 3
    assert len(train(6)) == 2
    write_xz(data / "parallel" / "en-de.tsv.xz", "news\tx\tNeu!", "news\tx\tNeu?", "news\tx\tNeu.")
    assert train(6) == ["neu !", "neu ?", "neu ."]
    (tmp_path / "out" / "train.de.txt").write_text("neu ! neu ! neu !\n")
    assert train(6) == ["neu !", "neu ?", "neu ."]


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "missing",
    ["parallel/en-cs.tsv.xz", "text/cs-novels.txt.xz", *(f"newstest/newstest{y}.cs.txt.xz" for y in (2011, 2012))],
)
def test_a_missing_file_is_named_before_anything_is_written(data: Path, tmp_path: Path, missing: str) -> None:
    (data / missing).unlink()
    with pytest.raises(InputError, match=f"{missing}: the folder of data lacks this file"):
        prepare_language(data, "cs", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_line_without_three_columns_is_refused(data: Path, tmp_path: Path) -> None:
    write_xz(data / "parallel" / "en-de.tsv.xz", "news\tx\tNeu.", "news\tx")
    with pytest.raises(InputError, match=r"en-de.tsv.xz:2: 2 columns where 3 are meant"):
        prepare_language(data, "de", tmp_path)


def test_a_text_that_would_be_empty_is_refused(data: Path, tmp_path: Path) -> None:
    write_xz(data / "newstest" / "newstest2011.de.txt.xz", "")
    with pytest.raises(InputError, match=r"dev.de.txt: not a sentence is left"):
        prepare_language(data, "de", tmp_path)


def test_a_mark_of_ours_is_refused_with_its_file(data: Path, tmp_path: Path) -> None:
    write_xz(data / "newstest" / "newstest2011.de.txt.xz", "Ein <s> hier")
    with pytest.raises(InputError, match=r"newstest2011.de.txt.xz:1: the text contains <s>"):
        prepare_language(data, "de", tmp_path)


def test_unknown_language_and_no_tokens(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no recipe for the texts of 'fi'; choose one of cs, de, en, es, fr, ru"):
        prepare_language(data, "fi", tmp_path)
    with pytest.raises(ConfigError, match="of 0 tokens"):
        prepare_language(data, "de", tmp_path, tokens=0)


# ---------------------------------------------------------------- choosing and joining


def test_held_out_stretches_are_evenly_spaced() -> None:
    stays, held = hold_out(range(1000))  # a fifth, in two stretches of 100
    assert held == [*range(100), *range(500, 600)]
    assert stays == [*range(100, 500), *range(600, 1000)]
    assert len(hold_out(range(100_000))[1]) == 3000


@given(st.integers(0, 5000))
def test_holding_out_loses_nothing(length: int) -> None:
    stays, held = hold_out(range(length))
    assert sorted(stays + held) == list(range(length))
    assert len(held) <= length / 5


@given(st.integers(0, 400), st.integers(1, 7))
def test_passages_are_spread_and_all_there(length: int, passage: int) -> None:
    order = list(spread_passages(range(length), passage))
    assert sorted(order) == list(range(length))
    assert order[:passage] == list(range(min(passage, length)))


def test_any_first_part_of_the_passages_covers_the_text() -> None:
    places = list(spread_passages(range(1000), 1))
    for taken in (64, 200, 500):
        first = sorted(places[:taken])
        gaps = [after - before for before, after in zip([0, *first], [*first, 1000], strict=True)]
        assert max(gaps) <= 2 * 1024 / taken


LONG = "Она долго смотрела в окно на улицу, по которой шел"  # 50 characters, as long as a line of a page


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["Он шел", "домой."], 1),  # a small letter goes on
        ([LONG, "Андрей."], 1),  # a name, after a line of a page
        ([LONG + ".", "Андрей."], 2),  # finished
        ([LONG + ":", "Андрей."], 2),
        ([LONG, "- Да."], 2),  # direct speech
        (["Куда?", "- спросил он."], 1),  # not a new speech
        (["Глава первая", "Было утро."], 2),  # a heading
        ([LONG + " и " + LONG, "Андрей."], 2),  # longer than a page is wide: a whole paragraph
        ([LONG, '"Андрей"', "и Иван."], 1),
    ],
)
def test_wrapped_lines(lines: list[str], joined: int) -> None:
    assert len(LONG) == 50
    paragraphs = list(join_wrapped(lines))
    assert len(paragraphs) == joined
    assert " ".join(paragraphs) == " ".join(lines)


def test_novels_without_headings_and_double_spaces(tmp_path: Path) -> None:
    path = tmp_path / "novels.txt.xz"
    write_xz(path, "ГЛАВА I", "", "* * *", "Он   шел", "домой. Было  утро.", "А?")
    assert read_novels(path, wrapped=True) == ["Он шел домой.", "Было утро.", "А?"]
    assert read_novels(path) == ["Он шел", "домой.", "Было утро.", "А?"]
