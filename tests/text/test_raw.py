"""Text that is prepared while it is read: what is raw, what is prepared already, and what a list of strings is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.text.preparation import PrepareOptions, paper_options
from morphlm.text.prepare import join_tokens, prepare_files, prepare_line, prepare_lines
from morphlm.text.raw import RawText, is_prepared, split_lines_from_tokens
from morphlm.vocabulary.corpus import as_text, describe, preparation_of, read_corpus, token_batches

CZECH = PrepareOptions(language="cs")
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\0")


def tokens(source: object, **reading: bool) -> list[str]:
    batches = token_batches(source, **({"allow_unknown": False} | reading))  # type: ignore[arg-type]
    return [token.decode() for batch in batches for token in batch]


@given(
    st.text(LETTERS, max_size=60),
    st.sampled_from([None, "cs", "tr", "el", "fi", "de", "fr", "uk", "ar", "hi"]),
    st.sampled_from(["lower", "keep"]),
    st.booleans(),
)
def test_preparing_prepared_text_changes_nothing(line: str, language: str | None, case: str, digits: bool) -> None:
    options = PrepareOptions(language=language, case=case, digits=digits)  # type: ignore[arg-type]
    try:
        once = prepare_line(line, options, allow_unknown=True)
    except InputError:
        return
    assert prepare_line(" ".join(once), options, allow_unknown=True) == once


def test_long_sentences_are_split_once_and_for_all() -> None:
    options = PrepareOptions(max_tokens=10)
    once = list(prepare_lines(["slovo , " * 30], options))
    assert all(len(sentence) <= 10 for sentence in once)
    assert list(prepare_lines([" ".join(sentence) for sentence in once], options)) == once


def test_raw_files_are_prepared_and_prepared_ones_are_not(tmp_path: Path) -> None:
    raw, out = tmp_path / "raw.txt", tmp_path / "out.txt"
    raw.write_text("Pro Školu, 12!\n")
    prepare_files([raw], out, CZECH)
    assert is_prepared(out, CZECH) and not is_prepared(raw, CZECH) and not is_prepared(out, paper_options("cs"))
    text = RawText([raw, out], CZECH)
    assert text.raw_paths == [raw]
    assert tokens(text) == 2 * ["pro", "školu", ",", "00", "!", "</s>"]
    assert tokens(raw) == ["Pro", "Školu,", "12!", "</s>"], "a file as it stands"


def test_other_line_ends_and_a_byte_order_mark_do_no_harm_in_raw_text(tmp_path: Path) -> None:
    path = tmp_path / "windows.txt"
    path.write_bytes(b"\xef\xbb\xbfAno.\r\nNe.\r\n")
    assert tokens(RawText([path], CZECH)) == ["ano", ".", "</s>", "ne", ".", "</s>"]
    with pytest.raises(InputError, match="byte order mark"):
        tokens(path)
    path.write_bytes(b"Ano\0.\r\n")
    with pytest.raises(InputError, match="NUL byte"):
        tokens(RawText([path], CZECH))
    path.write_bytes(b"Ano.\n\xe1no\n")
    with pytest.raises(InputError, match=r"windows.txt:2: byte 0xe1 is not UTF-8"):
        tokens(RawText([path], CZECH))


def test_strings_in_a_list_are_raw_lines_and_lists_are_tokens(tmp_path: Path) -> None:
    assert tokens(["Ano, ne."]) == ["ano", ",", "ne", ".", "</s>"]
    assert tokens([["Ano,", "ne."]]) == ["Ano,", "ne.", "</s>"]
    assert tokens(iter(["Ano."])) == ["ano", ".", "</s>"]
    assert tokens(RawText(["Ano."], None)) == ["Ano.", "</s>"]
    assert describe(as_text(["Ano."], CZECH)) == "<lines>"
    assert preparation_of(as_text(["Ano."], CZECH)) == CZECH
    assert preparation_of(as_text([["Ano."]], CZECH)) is None
    (tmp_path / "text").write_text("ano\n")
    with pytest.raises(InputError, match=r"text is a file, and strings in a list are raw lines"):
        read_corpus([str(tmp_path / "text")])
    assert tokens([tmp_path / "text"]) == ["ano", "</s>"]


def test_nothing_is_lost_when_the_first_item_is_looked_at() -> None:
    items, are_lines = split_lines_from_tokens(word for word in ["a", "b"])
    assert list(items) == ["a", "b"] and are_lines
    items, are_lines = split_lines_from_tokens(iter(()))
    assert list(items) == [] and not are_lines


def test_unknown_words_on_purpose_are_kept() -> None:
    assert prepare_line("Ano <unk> , <unk>.", CZECH, allow_unknown=True)[:3] == ["ano", "<unk>", ","]
    assert tokens(RawText(["Ano <unk> !"], CZECH), allow_unknown=True) == ["ano", "<unk>", "!", "</s>"]


def test_tokens_are_put_together_as_the_tokeniser_took_them_apart() -> None:
    sentence = ["ano", ",", "ne", "."]
    assert join_tokens(sentence, CZECH) == join_tokens(sentence, paper_options("cs")) == "ano, ne."
    assert join_tokens(sentence, PrepareOptions(tokeniser="none")) == join_tokens(sentence, None) == "ano , ne ."


def test_lower_case_by_the_language() -> None:
    assert prepare_line("IŞIK İzmir", PrepareOptions(language="tr")) == ["ışık", "izmir"]
    assert prepare_line("IŞIK İzmir", paper_options("tr")) == ["ışık", "izmir"]
    assert prepare_line("İzmir", PrepareOptions(language="cs")) == ["izmir"]
    assert prepare_line("İzmir", paper_options("cs")) == ["i\u0307zmir"], "as the paper's texts were prepared"


def test_moses_needs_a_language() -> None:
    with pytest.raises(ConfigError, match="Moses tokeniser needs the language"):
        PrepareOptions(tokeniser="moses")
