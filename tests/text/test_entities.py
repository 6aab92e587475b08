"""HTML entities in raw text: replaced and counted once, and never made by preparing."""

from __future__ import annotations

import time
from collections import Counter
from html.entities import name2codepoint
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from morphlm.learning.collecting import collect
from morphlm.learning.request import LearnRequest
from morphlm.text.documents import read_documents
from morphlm.text.entities import REPAIR, replace_entities
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_files, prepare_line


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("Novák &amp; syn", "Novák & syn", 1),
        ("AT&amp;T &lt;b&gt; &quot;x&quot; it&apos;s", 'AT&T <b> "x" it\'s', 6),
        ("&#8222;ano&#x201C; 5&nbsp;km", "„ano“ 5\u00a0km", 3),
        ("&Auml;&auml; &NBSP;&Amp;", "Ää \u00a0&", 4),
        ("&amp;nbsp; &amp;amp;lt;", "\u00a0 <", 2),  # escaped twice and three times
        ("Q&A; R&D; a && b; &foo; & amp; &amp", "Q&A; R&D; a && b; &foo; & amp; &amp", 0),
        ("a&#0;b&#xD800;c&#1114112;d&#10;e", "a b c d e", 4),
    ],
)
def test_entities_become_their_characters(text: str, expected: str, count: int) -> None:
    repairs: Counter[str] = Counter()
    assert replace_entities(text, repairs) == expected
    assert repairs[REPAIR] == count


_PIECES = ["&", "#", ";", "amp", "nbsp", "Nbsp", "lt", "İexcl", "x", "D800", "38", "٣", "59", "a", " ", "<", "s", ">"]
_ENTITIES = [f"&{name};" for name in ["amp", "AMP", "lt", "gt", "shy", "#38", "#59", "#x26", "#xd800", "thetasym"]]


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(_PIECES + _ENTITIES), max_size=12).map("".join),
    st.sampled_from(["cs", "tr", None]),
    st.booleans(),
)
@example("&İexcl;", "tr", True)  # lowercasing makes an entity of it
@example("&#xD800;", None, False)  # and zeros for digits
@example("&nbsp&#59;", None, False)
def test_preparing_prepared_text_changes_nothing(text: str, language: str | None, small: bool) -> None:
    options = PrepareOptions(language, case="lower" if small else "keep")
    once = prepare_line(text, options, Counter())
    assert prepare_line(" ".join(once), options, Counter()) == once
    names = {name.lower() for name in name2codepoint}
    assert not any(token[:1] == "&" and token[1:-1].lower() in names for token in once)


def test_what_is_escaped_endlessly_ends_soon() -> None:
    begin = time.process_time()
    for text in ("&" + "amp;" * 100_000, "&nbsp" + "&#5" * 50_000 + "9;" * 50_000):
        replaced = replace_entities(text)
        assert replace_entities(replaced) == replaced
    assert time.process_time() - begin < 10


def test_moses_tokens_and_given_tokens_stay_as_they_are() -> None:
    for options in (PrepareOptions("cs", tokeniser="moses"), PrepareOptions(tokeniser="none")):
        assert "amp" in " ".join(prepare_line("a &amp; b", options))


def test_they_are_counted_where_text_is_prepared(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("Pan Novák &amp; syn.&nbsp;Dobrý den.\n")
    for split, expected in ((False, 1), (True, 2)):
        prepared = prepare_files([tmp_path / "raw"], tmp_path / "out", PrepareOptions("cs"), split=split)
        assert (tmp_path / "out").read_text().splitlines()[-1].endswith("dobrý den .")
        assert prepared.counts.sentences == expected  # the sentence splitter sees the space
        assert "&amp;" not in (tmp_path / "out").read_text()
    assert (
        "mended: 2 HTML entities replaced"
        in prepare_files([tmp_path / "raw"], tmp_path / "out", PrepareOptions("cs")).format()
    )


def test_learn_counts_them_in_files_and_lines(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("Novák &amp; syn.\n")
    said: list[str] = []
    assert [document.paragraphs for document in read_documents([tmp_path / "raw"], say=said.append)] == [
        ("Novák & syn.",)
    ]
    assert said == ["mended: 1 HTML entity replaced"]
    said.clear()
    request = LearnRequest(iter(["Novák &amp; syn.", "&lt;p&gt;"]), tmp_path / "out", "cs")
    with (tmp_path / "collected").open("wb") as out:
        collected = collect(request, out, said.append)
    assert "mended: 3 HTML entities replaced" in said and "mended: 3 HTML entities replaced" in collected.notes
    assert not collected.lost
