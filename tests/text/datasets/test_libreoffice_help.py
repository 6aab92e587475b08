import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.text.datasets import DATASETS, DataFolder, get_dataset
from morphlm.text.datasets.folder import part_of
from morphlm.text.datasets.help_languages import ENGLISH as ENGLISH_CODES
from morphlm.text.datasets.help_languages import LANGUAGES, find_language
from morphlm.text.datasets.libreoffice_help import distinct_rows, main_licence, pair_pages, read_page

from .fake_packages import page

# With seed 1 the parts of these pages follow from their names.
TRAIN_PAGE, DEV_PAGE, TEST_PAGE = (
    next(f"p{i}" for i in range(1000) if part_of(f"p{i}.html", 1) == part) for part in ("train", "dev", "test")
)


def choice(*cases: tuple[str, str]) -> str:
    spans = [
        f'<span hidden="true" id="{name}x_1"{"" if name == "default" else f" class={name!r}"}>{text}</span>'
        for name, text in cases
    ]
    return f'<span id="swlnsys" class="switchinline">{"".join(spans)}</span>'


PARAGRAPHS = [
    ('<p id="par_id1">Vložit<br>pole\n &amp; <span class="emph">data</span></p>', "Vložit pole & data"),
    ('<h1 id="hd_id1"><a name="x"></a>Nadpis\u00a0a\u202fpod\u00adnadpis</h1>', "Nadpis a podnadpis"),
    ("<p id='par_id1'>" + choice(("MAC", "Command"), ("default", "Ctrl")) + "+C</p>", "Ctrl+C"),
    ("<p id='par_id1'>" + choice(("MAC", "a"), ("WIN", " "), ("UNIX", "c"), ("WRITER", "d")) + "</p>", "c"),
    ("<p id='par_id1'>Pod " + choice(("MAC", "jablkem")) + ".</p>", "Pod ."),
    (
        "<p id='par_id1'>" + choice(("MAC", "m"), ("default", "<b>" + choice(("default", "uvnitř")) + "</b>")) + "</p>",
        "uvnitř",
    ),
    ('<p id="par_id1">Příkaz <span class="literal">Dim x</span></p>', "Příkaz Dim x"),
    ('<p id="par_id1"><span class="literal">Dim x</span> = <span class="input">abc</span></p>', None),
    ('<p id="par_id1" class="code">Dim x</p>', None),
    ('<p id="par_id1" class="smathcode">a over b</p>', None),
    ('<p id="par_id1">12 - 34 %</p>', None),
    ('<p id="par_id1">konec.&lt;br/&gt;</p>', None),
    ('<p id="par_id1">Viz [text/x.xhp#y not found].</p>', None),
    ('<p id="par_id1">je-li a &lt; b</p>', "je-li a < b"),
    ('<p class="embedded">bez čísla</p>', None),
    ('<p id="bm_1">záložka</p>', None),
    ('<span class="switch"><span class="MAC"><p id="par_id1">Jen Mac</p></span></span>', None),
    ('<span class="switch"><span class="WIN"><p id="par_id1">Jen okna</p></span></span>', "Jen okna"),
    ('<pre><code>Dim x</code></pre><p id="par_id1">ano</p>', "ano"),
    ('<p id="par_id1"><span class="emph">otevřený</p>', "otevřený"),
]


@pytest.mark.parametrize(("html", "text"), PARAGRAPHS)
def test_text_of_a_paragraph(html: str, text: str | None) -> None:
    assert list(read_page(page(html)).values()) == ([] if text is None else [text])


def test_an_id_that_occurs_twice_counts_up_over_paragraphs_that_are_left_out() -> None:
    html = '<p id="par_1">a</p><p id="par_1">1</p><p id="par_1">c</p><p id="par_2">d</p>'
    assert read_page(html) == {("par_1", 0): "a", ("par_1", 2): "c", ("par_2", 0): "d"}


def test_pairs_follow_ids_not_positions_and_skip_the_untranslated() -> None:
    english = {
        "b": {("p1", 0): "One.", ("p2", 0): "Two", ("p3", 0): "Same: 1", ("p4", 0): "Only here"},
        "a": {("p1", 0): "Page a"},
        "only-english": {("p1", 0): "x"},
    }
    czech = {"b": {("p3", 0): "SAME - 2", ("p2", 0): "Dvě", ("p1", 0): "Jedna."}, "a": {("p1", 0): "Stránka a"}}
    assert list(pair_pages(english, czech)) == [
        ("a", "Stránka a", "Page a"),
        ("b", "Jedna.", "One."),
        ("b", "Dvě", "Two"),
    ]


def paired(english: str, czech: str) -> list[tuple[str, str, str]]:
    return list(pair_pages({"a": {("p", 0): english}}, {"a": {("p", 0): czech}}))


def test_paragraphs_are_cut_into_sentences_only_if_both_sides_agree() -> None:
    assert paired("One here. Two there.", "Jeden tu. Dva tam.") == [
        ("a", "Jeden tu.", "One here."),
        ("a", "Dva tam.", "Two there."),
    ]
    assert paired("One and two.", "Jeden. Dva.") == [("a", "Jeden. Dva.", "One and two.")]
    long = "Toto je velmi dlouhá věta o ničem."
    assert paired(f"Short. {long} B.", f"{long} Krátce. Bé.") == [("a", f"{long} Krátce. Bé.", f"Short. {long} B.")]
    assert paired("One. Stays English.", "Jeden. Stays English.") == [("a", "Jeden.", "One.")]


def test_lines_that_differ_only_in_case_and_digits_are_kept_once() -> None:
    rows = [("a", "Obr. 1", "Fig 1"), ("b", "obr. 2", "Fig 2"), ("b", "Jiný", "fig 1"), ("c", "jiný", "Another")]
    assert [row[0] + row[1] for row in distinct_rows(rows, by_english=False)] == ["aObr. 1", "bJiný"]
    assert [row[2] for row in distinct_rows(rows, by_english=True)] == ["Fig 1", "Another"]


def test_licence_is_that_of_all_files() -> None:
    assert main_licence("Files: a\nLicense: GPL\n\nFiles: *\nCopyright: x\nLicense: MPL-2.0\n y\n") == "MPL-2.0"
    assert main_licence("nothing") == "licence not stated"


ENGLISH = {
    TRAIN_PAGE: '<p id="par_1">The first. The second.</p><p id="par_2">Writer</p>',
    DEV_PAGE: '<p id="par_1">Held out.</p><p id="par_9">The first.</p>',
    TEST_PAGE: '<p id="par_1">A test.</p>',
}
CZECH = {
    TRAIN_PAGE: '<p id="par_2">Writer</p><p id="par_1">První věta. Druhá věta.</p>',
    DEV_PAGE: '<p id="par_1">Odloženo.</p><p id="par_9">První věta.</p>',
    TEST_PAGE: '<p id="par_1">Zkouška.</p>',
}


def test_whole_way_with_parallel_side(debian: Callable[..., Path], tmp_path: Path) -> None:
    debian(cs=CZECH, en=ENGLISH)
    folder = get_dataset("libreoffice-help", tmp_path / "out", language="cs", parallel="en")
    texts = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("*.txt")}
    # "První věta." is on the dev page too; the first page in the order of names keeps it.
    first = {TRAIN_PAGE: ("První věta.\n", ""), DEV_PAGE: ("", "První věta.\n")}[min(TRAIN_PAGE, DEV_PAGE)]
    english = {"První věta.\n": "The first.\n", "": ""}
    assert texts == {
        "train.cs.txt": first[0] + "Druhá věta.\n",
        "train.en.txt": english[first[0]] + "The second.\n",
        "dev.cs.txt": "Odloženo.\n" + first[1],
        "dev.en.txt": "Held out.\n" + english[first[1]],
        "test.cs.txt": "Zkouška.\n",
        "test.en.txt": "A test.\n",
    }
    assert folder.languages == ("cs", "en")
    assert folder.licence.startswith("MPL-2.0")
    described = json.loads((tmp_path / "out" / "dataset.json").read_bytes())
    assert described["source"] == {
        "packages": {"libreoffice-help-cs": "4:7.4.7-1+deb12u14", "libreoffice-help-en-us": "4:7.4.7-1+deb12u14"}
    }


def test_the_text_is_the_same_without_its_parallel_side(debian: Callable[..., Path], tmp_path: Path) -> None:
    debian(cs=CZECH, en=ENGLISH)
    both = get_dataset("libreoffice-help", tmp_path / "both", language="cs", parallel="en")
    alone = get_dataset("libreoffice-help", tmp_path / "alone", language="cs")
    assert {name: both.files[name] for name in alone.files} == alone.files
    assert sorted(alone.files) == ["dev.cs.txt", "test.cs.txt", "train.cs.txt"]


def test_english_alone_needs_one_package_and_keeps_all(debian: Callable[..., Path], tmp_path: Path) -> None:
    program = debian(en=ENGLISH)
    folder = get_dataset("libreoffice-help", tmp_path / "out", language="en")
    lines = sorted(
        line for part in ("train", "dev", "test") for line in folder.path(part, "en").read_text("utf-8").splitlines()
    )
    assert lines == ["A test.", "Held out.", "The first.", "The second.", "Writer"]
    assert (program / "calls").read_text(encoding="utf-8").split()[-2:] == ["download", "libreoffice-help-en-us"]


def test_no_network_leaves_nothing_behind(debian: Callable[..., Path], tmp_path: Path) -> None:
    debian(complaint="E: no network")
    with pytest.raises(InputError, match="no network"):
        get_dataset("libreoffice-help", tmp_path / "out", language="cs")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "packages"]


def lines_of(folder: DataFolder, language: str) -> list[str]:
    parts = ("train", "dev", "test")
    return sorted(line for part in parts for line in folder.path(part, language).read_text("utf-8").splitlines())


def test_paragraphs_that_are_still_english_are_left_out(debian: Callable[..., Path], tmp_path: Path) -> None:
    finnish = {**ENGLISH, DEV_PAGE: '<p id="par_1">Varattu.</p><p id="par_9">The first.</p>'}
    finnish |= {TRAIN_PAGE: '<p id="par_1">The first. Toinen.</p><p id="par_2">Writer</p>'}
    finnish |= {TEST_PAGE: '<p id="par_1">Koe.</p>'}
    debian(fi=finnish, en=ENGLISH)
    folder = get_dataset("libreoffice-help", tmp_path / "out", language="fi")
    assert lines_of(folder, "fi") == ["Koe.", "Toinen.", "Varattu."]


def test_british_english_is_taken_whole_and_needs_one_package(debian: Callable[..., Path], tmp_path: Path) -> None:
    program = debian(en_gb=ENGLISH)
    folder = get_dataset("libreoffice-help", tmp_path / "out", language="en_GB")
    assert lines_of(folder, "en-gb") == ["A test.", "Held out.", "The first.", "The second.", "Writer"]
    assert (program / "calls").read_text(encoding="utf-8").split()[-2:] == ["download", "libreoffice-help-en-gb"]


def test_languages_without_spaces_come_with_a_warning(
    debian: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = {
        name: f'<p id="par_1">日本語{number}。あ</p>' for number, name in enumerate((TRAIN_PAGE, DEV_PAGE, TEST_PAGE))
    }
    debian(ja={**pages, DEV_PAGE: '<p id="par_1">文</p>', TEST_PAGE: '<p id="par_1">字</p>'}, en=ENGLISH)
    get_dataset("libreoffice-help", tmp_path / "out", language="ja")
    assert "warning: Japanese is written without spaces between words; put spaces" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "code"), [("cs", "cs"), ("pt_BR", "pt-br"), ("PT-br", "pt-br"), ("en-us", "en"), ("zh_Hant", "zh-tw")]
)
def test_codes_as_people_write_them(given: str, code: str) -> None:
    assert find_language(given) == code


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("sk", "'sk': Debian's package for Slovak holds the Czech pages; choose another language"),
        ("zh", "do you mean zh-cn (Chinese in simplified script) or zh-tw (Chinese in traditional script)?"),
        ("de-AT", "do you mean de (German)?"),
        ("turkish", "do you mean tr (Turkish)?"),
        ("xx", "choose one of ca, cs, da"),
    ],
)
def test_other_codes_are_refused_with_the_nearest(given: str, answer: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(answer)):
        find_language(given)


def test_every_language_but_british_english_is_parallel_with_english() -> None:
    partners = DATASETS["libreoffice-help"].partners
    assert {language for language, others in partners.items() if others == ("en",)} == set(LANGUAGES) - ENGLISH_CODES
    assert set(partners["en"]) == set(LANGUAGES) - ENGLISH_CODES
    with pytest.raises(ConfigError, match="has no en-gb-en; leave out parallel="):
        get_dataset("libreoffice-help", "nowhere", language="en-gb", parallel="en")
