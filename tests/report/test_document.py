"""The page as a whole: well-formed, self-contained, the same every time, whatever the models and words are."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.report.document import POLICY, SCRIPTS, STYLES, make_report, make_sections, page, write_report
from morphlm.report.headline import headline_of
from morphlm.report.scored_models import ScoredModels
from tests.report.cases import HOSTILE, KINDS, hostile_scored_models, model, scored_models
from tests.report.wellformed import Page, parsed

ASSETS = Path(__file__).parents[2] / "src" / "morphlm" / "report" / "assets"
TITLES = (
    "Models",
    "Word by word",
    "What comes next",
    "Made-up sentences",
    "Rare and frequent words",
    "Morphemes",
    "Nearest words",
    "Map of morphemes",
    "Word classes",
    "Learning curves",
    "Texts",
)


def made(given: ScoredModels) -> tuple[str, Page]:
    text = page(given, make_sections(given), headline_of(given))
    return text, parsed(text)


@pytest.mark.parametrize("kinds", [("mkn",), ("lbl",), ("clbl++",), ("mixture",), ("mkn", "clbl"), KINDS])
def test_models_of_any_kind_and_number_have_all_sections(kinds: tuple[str, ...]) -> None:
    text, document = made(scored_models(*kinds))
    assert tuple(heading.text for heading in document.all("h2")) == TITLES
    links = [(link.text, link.attributes["href"]) for link in document.all("a")]
    assert links == [
        (title, f"#{s.attributes['id']}") for title, s in zip(TITLES, document.all("section"), strict=True)
    ]
    assert document.all("h1")[0].text == f"Report on {', '.join(kinds)}"
    assert document.all("p", class_="headline")[0].text == f"{headline_of(scored_models(*kinds)).format()}."
    assert len(text) < 300_000


def test_a_text_of_one_line_will_do() -> None:
    for line in ("škola", "nic", "škola domem " * 20 + "řekou"):
        _, document = made(scored_models("mkn", "clbl++", lines=[line]))
        assert len(document.all("section")) == len(TITLES)


def test_equal_subjects_give_equal_bytes() -> None:
    assert made(scored_models("mkn", "clbl++"))[0] == made(scored_models("mkn", "clbl++"))[0]


def test_the_page_forbids_all_requests() -> None:
    text, document = made(scored_models("mkn"))
    (policy,) = document.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy.attributes["content"] == POLICY
    assert POLICY == "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    first = [element.name for element in document.elements[:4]]
    assert first == ["html", "head", "meta", "meta"], "the policy comes before anything that it could forbid"
    assert set(re.findall(r"https?://[^\s\"']*", text)) == {"http://www.w3.org/2000/svg"}  # a name, not a request
    for forbidden in ("url(", "@import", "fetch(", "XMLHttpRequest", "innerHTML", "eval(", "import("):
        assert forbidden not in text


def test_assets_cannot_end_the_element_around_them() -> None:
    for name in (*STYLES, *SCRIPTS):
        content = (ASSETS / name).read_text().lower()
        assert not re.search(r"</(script|style)|<!--|<script", content)


def test_words_that_are_html_are_harmless() -> None:
    text, document = made(hostile_scored_models())
    plain = made(scored_models("mkn", "clbl++"))[1]
    assert {element.name for element in document.elements} <= {element.name for element in plain.elements}
    assert len(document.all("script")) == len(SCRIPTS) + 1
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    shown = [
        column.attributes["data-token"]
        for column in document.all("li", class_="column")
        if "data-token" in column.attributes
    ]
    clean = [re.sub("[\x01\x7f\u202e]", "\ufffd", word) for word in HOSTILE]
    assert shown[: len(HOSTILE) + 1] == [*clean, "<b>neznámé</b>"]
    assert document.all("h1")[0].text == 'Report on <i>&, "clbl++"'
    points = json.loads(document.one("map-data").text)["points"]
    assert "<sc" in {point["name"] for point in points}
    examples = {re.sub("[\x01\u202e]", "\ufffd", word) for point in points for word in point["examples"]}
    assert examples <= {*clean, "slovo"}


def test_words_are_marked_with_their_language_if_it_is_known() -> None:
    given = scored_models("mkn")
    assert made(given)[1].all("span", dir="auto")[0].attributes["lang"] == ""
    record = given.first.model.training | {"preparation": {"tokeniser": "moses.cs", "normalisation": "lc"}}
    changed = train_like(given, record)
    assert made(changed)[1].all("span", dir="auto")[0].attributes["lang"] == "cs"


def train_like(given: ScoredModels, record: dict[str, object]) -> ScoredModels:
    other = copy.copy(given.first.model)
    other.training = record
    return replace(given, models=(replace(given.first, model=other),))


# ---------------------------------------------------------------- writing


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a model and a text."""
    model("mkn").save(tmp_path / "mkn")
    (tmp_path / "test.txt").write_text("škola domem\n")
    return tmp_path


def test_a_report_is_written_and_named(place: Path) -> None:
    written = make_report([place / "mkn"], place / "test.txt", place / "report.html")
    content = (place / "report.html").read_bytes()
    assert (written.out, written.bytes) == (str(place / "report.html"), len(content))
    assert written.to_json()["perplexities"][0]["name"] == "mkn"
    assert written.to_json()["headline"]["text"] == written.headline.format()
    assert written.perplexities[0][1].including_unknown == pytest.approx(
        model("mkn").perplexity([["škola", "domem"]]).including_unknown
    )
    assert str(place).encode() not in content, "the page does not tell where it was made"
    parsed(content.decode())


def test_a_place_that_cannot_be_written_is_refused_before_any_work(place: Path) -> None:
    for out in (place, place / "nowhere" / "report.html"):
        with pytest.raises(InputError):
            make_report([place / "no model"], place / "no text", out)


def test_a_full_disk_is_told(place: Path) -> None:
    with pytest.raises(
        InputError, match=r"^/dev/full: cannot write here \(No space left on device\); make room or choose"
    ):
        make_report([place / "mkn"], place / "test.txt", "/dev/full")


def test_what_was_there_stays_if_writing_fails(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = place / "report.html"
    out.write_text("precious")
    before = sorted(place.iterdir())

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("morphlm.files.os.fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_report(scored_models("mkn"), out)
    assert out.read_text() == "precious"
    assert sorted(place.iterdir()) == before


def test_what_cannot_be_reported_on_is_refused(place: Path) -> None:
    with pytest.raises(ConfigError, match="no model is named"):
        make_report([], place / "test.txt", place / "report.html")
    (place / "empty.txt").write_text("\n\n")
    with pytest.raises(InputError, match=r"empty\.txt: the text has no words; give at least one sentence"):
        make_report([place / "mkn"], place / "empty.txt", place / "report.html")
    assert not (place / "report.html").exists()


def test_an_arpa_file_without_unknown_words(place: Path) -> None:
    (place / "a.arpa").write_text(
        "\\data\\\nngram 1=4\n\n\\1-grams:\n-0.5\t</s>\n-99\t<s>\n-0.5\tškola\n-0.5\tdomem\n\n\\end\\\n"
    )
    (place / "test.txt").write_text("škola neznámou\ndomem\n")
    models = [place / "a.arpa", place / "mkn"]
    for given in (models, models[::-1], models[:1]):
        make_report(given, place / "test.txt", place / "report.html")
        document = parsed((place / "report.html").read_text())
        assert "∞" in [cell.text for cell in document.all("td")]
        assert "a.arpa: ∞ bits, unknown" in [cell.text for cell in document.all("span", class_="token")]
