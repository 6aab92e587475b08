from __future__ import annotations

import mmap
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import InputError
from morphlm.vocabulary import corpus as corpus_module
from morphlm.vocabulary.corpus import add_counts, count_words, encode_text, read_corpus
from morphlm.vocabulary.statistics import corpus_statistics, format_statistics
from tests.strategies import texts


def decode(tokens: np.ndarray, words: tuple[str, ...]) -> str:
    return " ".join(words[token] for token in tokens).replace("</s> ", "</s>\n")


@given(texts)
def test_counts_and_ids_agree_with_a_plain_reading(text: list[list[str]]) -> None:
    raw = read_corpus(text)
    expected = Counter(token for sentence in text for token in sentence)
    assert dict(zip(raw.words.forms[3:], raw.words.counts[3:], strict=True)) == expected
    assert raw.words.sentences == len(text)
    assert raw.words.tokens == sum(map(len, text))
    assert raw.words.singletons == list(expected.values()).count(1)
    vocabulary = raw.words.vocabulary(kappa=0, seed=1)
    encoded = raw.encode(vocabulary)
    assert decode(encoded.tokens, vocabulary.words) == "\n".join(" ".join([*sentence, "</s>"]) for sentence in text)
    assert encoded.sentences == len(text)
    np.testing.assert_array_equal(encode_text(text, vocabulary).tokens, encoded.tokens)


@given(texts, st.integers(1, 5))
def test_words_are_counted_alike_without_the_text(text: list[list[str]], block: int) -> None:
    expected = read_corpus(text).words
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "BLOCK_ITEMS", block)
        found = count_words(text)
    assert found.forms == expected.forms
    np.testing.assert_array_equal(found.counts, expected.counts)


def test_counting_words_takes_less_than_6_bytes_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, tokens = tmp_path / "text", 3_000_000
    path.write_bytes(b"a b c d e f g h i\n" * (tokens // 10))
    monkeypatch.setattr(corpus_module, "BLOCK_ITEMS", 1 << 18)
    count_words([["a"]])
    tracemalloc.start()
    try:
        assert count_words(path).tokens == tokens * 9 // 10
        assert tracemalloc.get_traced_memory()[1] < 6 * tokens
    finally:
        tracemalloc.stop()


def test_files_and_lists_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("pro  novou\tškolu\n\nformfeed\fis no\u00a0separator \n")
    from_file, from_list = (
        read_corpus(path),
        read_corpus([["pro", "novou", "školu"], [], ["formfeed\fis", "no\u00a0separator"]]),
    )
    assert from_file.words.forms == from_list.words.forms
    assert from_file.tokens.tolist() == from_list.tokens.tolist()


def test_a_large_corpus_is_mapped_and_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = [["a", "b", str(k)] for k in range(40_000)]
    in_memory = read_corpus(text)
    monkeypatch.setattr(corpus_module, "IN_MEMORY_BYTES", 1000)
    mapped = read_corpus(text)
    base: Any = mapped.tokens.base
    assert isinstance(base, mmap.mmap)
    np.testing.assert_array_equal(mapped.tokens, in_memory.tokens)
    vocabulary = mapped.words.vocabulary(0.2, 1)
    np.testing.assert_array_equal(mapped.encode(vocabulary).tokens, in_memory.encode(vocabulary).tokens)


def test_unknown_words_become_unk() -> None:
    vocabulary = read_corpus([["a", "b"]]).words.vocabulary(0, 1)
    assert encode_text([["b", "c", "a"]], vocabulary).tokens.tolist() == [4, 0, 3, 2]


def test_unk_in_the_text_counts_as_unknown_where_it_is_allowed() -> None:
    raw = read_corpus([["a", "<unk>", "a"]], allow_unknown=True)
    assert raw.words.vocabulary(0, 1).counts.tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("sentences", "what"),
    [
        ([["a", "<s>"]], "<s> is a mark"),
        ([["a"], ["b", "<unk>"]], "<sentences>:2: <unk> is a mark"),
        ([["a b"]], "white space inside"),
        ([["a", ""]], "empty"),
        ([[""]], "empty"),
        ([["a\n"]], "white space inside"),
        (iter([["a"], "a b c"]), "not a string"),
        (iter(["a b c", ["a"]]), "<lines>:2: the lines before were strings"),
        (5, "is no text"),
        ([[]], "no words"),
        ([], "no words"),
    ],
)
def test_bad_sentences_are_refused(sentences: list[list[str]], what: str) -> None:
    with pytest.raises(InputError, match=what):
        read_corpus(sentences)


def test_a_given_record_of_preparation_allows_unk(tmp_path: Path) -> None:
    from morphlm.text.preparation import paper_options
    from morphlm.text.prepare import prepare_files

    (tmp_path / "raw").write_text("слово latin слово\n")
    prepare_files([tmp_path / "raw"], tmp_path / "text", paper_options("ru"))
    assert (tmp_path / "text").read_text() == "слово <unk> слово\n"
    assert read_corpus(tmp_path / "text").words.counts[0] == 1


def test_statistics_are_those_of_the_paper_s_table() -> None:
    words = [read_corpus(text).words for text in ([["a", "a", "b"]], [["b", "c"], ["d"]])]
    both = corpus_statistics("both", add_counts(words), kappa=0.5)
    assert (both.sentences, both.tokens, both.types, both.singletons, both.vocabulary) == (3, 6, 4, 2, 3)
    assert format_statistics([both]).splitlines() == [
        "      sentences  tokens  types  singletons  of types  |V| at kappa 0.5",
        "both          3       6      4           2    50.0 %                 3",
    ]


def test_training_text_that_looks_raw_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from morphlm.ngram.training import train_ngram

    path = tmp_path / "text"
    path.write_text("Pes, kočka, a pes!\nAno.\n" * 5)
    train_ngram(path, 2)
    assert "it looks like raw text, 60 % of the words end in a comma or the like" in capsys.readouterr().err
    path.write_text("pes , kočka , a pes !\nano .\n" * 5)
    train_ngram(path, 2)
    assert "raw text" not in capsys.readouterr().err
    train_ngram(["Pes, kočka, a pes!"], 2)
    assert "raw text" not in capsys.readouterr().err, "raw lines are prepared"
