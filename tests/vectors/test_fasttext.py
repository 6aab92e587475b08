"""fastText's .bin files: its own answers, gensim's, and files that are damaged or forged."""

from __future__ import annotations

import ast
import copy
import gzip
import pickle
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm import load_vectors
from morphlm.errors import ConfigError, FormatError, MorphlmError
from morphlm.vectors import fasttext as fasttext_vectors
from morphlm.vectors.fasttext import FastTextVectors
from morphlm.vectors.fasttext_reading import LONGEST_NGRAM
from tests.conftest import GOLDEN as ALL_GOLDEN

GOLDEN = ALL_GOLDEN / "fasttext"
UNSUPERVISED = ["skipgram", "single", "words"]
NAMES = [*UNSUPERVISED, "supervised"]
SETTINGS_AT, SIZES_AT = 8, 8 + 12 * 4 + 8  # bytes before the settings, and before the dictionary


def answers(name: str, kind: str) -> Iterator[tuple[str, list[str]]]:
    for line in (GOLDEN / f"{name}.tsv").read_text().splitlines():
        if line.startswith(f"{kind}\t"):
            asked, _, answer = line.partition("\t")[2].rpartition("\t")
            yield asked, answer.split()


def model(name: str) -> FastTextVectors:
    vectors = load_vectors(GOLDEN / f"{name}.bin")
    assert isinstance(vectors, FastTextVectors)
    return vectors


# ---------------------------------------------------------------- fastText's answers


@pytest.mark.parametrize("name", NAMES)
def test_vectors_of_known_and_unknown_words_are_fasttext_s(name: str) -> None:
    vectors = model(name)
    ((_, words),) = answers(name, "words")
    assert vectors.index_to_key == words
    asked = [*answers(name, "word")]
    expected = np.array([numbers for _, numbers in asked], np.float32)
    assert np.array_equal(vectors.rows([word for word, _ in asked]), expected)
    for (word, _), row in zip(asked, expected, strict=True):
        assert np.array_equal(vectors.get_word_vector(word), row)


@pytest.mark.parametrize("name", NAMES)
def test_subwords_are_fasttext_s(name: str) -> None:
    vectors = model(name)
    for word, subwords in answers(name, "subwords"):
        assert [part for part in vectors.get_subwords(word) if part != word] == subwords, word


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_sentences_and_neighbours_are_fasttext_s(name: str) -> None:
    vectors = model(name)
    for sentence, numbers in answers(name, "sentence"):
        expected = np.array(numbers, np.float32)
        np.testing.assert_allclose(vectors.get_sentence_vector(ast.literal_eval(sentence)), expected, atol=3e-7)
    for word, flat in answers(name, "neighbours"):
        if vectors.origin(word) == "unknown":  # any word is as near to zeros
            with pytest.raises(KeyError, match="neither a vector nor subwords"):
                vectors.get_nearest_neighbors(word, k=5)
            continue
        found = vectors.get_nearest_neighbors(word, k=5)
        np.testing.assert_allclose([one for one, _ in found], np.array(flat[1::2], float), atol=1e-6)
        assert [one for _, one in found] == flat[::2]


def test_known_composed_and_unknown_words_are_told_apart() -> None:
    vectors = model("skipgram")
    assert "domu" in vectors and "nedomem" not in vectors
    assert [vectors.origin(word) for word in ("domu", "nedomem", "</s>")] == ["known", "composed", "known"]
    assert vectors.composable("nedomem") and not vectors.composable("domu")
    assert vectors.most_similar("nedomem", topn=2).origins == {"nedomem": "composed"}
    closed = vectors.using(compose=False)
    assert (closed.origin("nedomem"), closed.origin("domu")) == ("unknown", "known")
    assert not closed.rows(["nedomem"]).any()
    assert np.array_equal(closed["domu"], vectors["domu"])
    assert model("words").origin("nedomem") == "unknown"
    assert "n-grams of 2 to 4" in repr(vectors)


def test_long_words_are_added_up_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = model("skipgram")
    words = ["domu", "nedomem" * 20, "", "školou", "ž" * 50]
    expected = vectors.rows(words)
    for size in (1, 3, 7):
        monkeypatch.setattr(fasttext_vectors, "ROWS_A_BLOCK", size)
        assert np.array_equal(vectors.rows(words), expected)


def test_the_matrix_is_a_map_of_the_file_and_survives_pickling() -> None:
    vectors = model("skipgram")
    assert not vectors.matrix.flags.owndata
    assert not vectors.matrix.flags.writeable
    for other in (pickle.loads(pickle.dumps(vectors)), copy.deepcopy(vectors)):
        assert np.array_equal(other.rows(["domu", "nedomem"]), vectors.rows(["domu", "nedomem"]))


def test_compressed_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "model.bin.gz").write_bytes(gzip.compress((GOLDEN / "skipgram.bin").read_bytes()))
    vectors = load_vectors(tmp_path / "model.bin.gz")
    assert np.array_equal(vectors["nedomem"], model("skipgram")["nedomem"])


# ---------------------------------------------------------------- gensim's


def gensim_module() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("gensim.models.fasttext")


@pytest.mark.parametrize("name", ["skipgram", "words"])
def test_answers_are_those_of_gensim_s_reader(name: str) -> None:
    theirs, ours = gensim_module().load_facebook_vectors(str(GOLDEN / f"{name}.bin")), model(name)
    np.testing.assert_allclose(ours.vectors[1:], theirs.vectors[1:], atol=1e-6)  # it gives </s> subwords
    if name == "skipgram":
        for word in ("nedomem", "školou"):
            np.testing.assert_allclose(ours[word], theirs[word], atol=1e-6)
            found, expected = ours.most_similar(word, topn=4), theirs.most_similar(word, topn=4)
            assert [one for one, _ in found] == [one for one, _ in expected]
        assert ours.similarity("nedomem", "domu") == pytest.approx(
            float(theirs.similarity("nedomem", "domu")), abs=1e-6
        )


@given(st.text(max_size=8), st.integers(0, 3), st.integers(0, 5))
def test_rows_of_subwords_are_those_of_gensim(word: str, shortest: int, longest: int) -> None:
    hashes = gensim_module().ft_ngram_hashes
    try:
        word.encode()
    except UnicodeEncodeError:
        return
    vectors = FastTextVectors(
        ["</s>"], np.zeros((1 + 97, 2), np.float32), fasttext_vectors.Subwords(shortest, longest, 97)
    )
    rows, ends = vectors._find_rows([word])
    expected = [] if word == "</s>" else [1 + row for row in hashes(word, shortest, longest, 97)]
    if not word.encode().count(b"\0"):
        assert rows.tolist() == ([0] if word == "</s>" else expected)
        assert ends.tolist() == [len(rows)]


def test_what_gensim_writes_is_read(tmp_path: Path) -> None:
    gensim = gensim_module()
    theirs = gensim.FastText(
        [["domu", "škola", "les"]] * 5, vector_size=4, min_count=1, min_n=2, max_n=3, bucket=50, epochs=1, workers=1
    )
    gensim.save_facebook_model(theirs, str(tmp_path / "model.bin"))
    ours = load_vectors(tmp_path / "model.bin")
    for word in ("domu", "les", "lesem", "ž"):
        np.testing.assert_allclose(ours[word], theirs.wv[word], atol=1e-6)


# ---------------------------------------------------------------- what is refused


def forged(tmp_path: Path, offset: int, layout: str, *values: Any) -> Path:
    data = bytearray((GOLDEN / "skipgram.bin").read_bytes())
    struct.pack_into(layout, data, offset, *values)
    (tmp_path / "forged.bin").write_bytes(data)
    return tmp_path / "forged.bin"


@pytest.mark.parametrize(
    ("offset", "layout", "values", "what"),
    [
        (4, "<i", [13], "version 13"),
        (SETTINGS_AT, "<i", [0], "out of range"),  # dimensions
        (SETTINGS_AT, "<i", [6], "a matrix of"),
        (SETTINGS_AT + 4 * 8, "<i", [-1], "out of range"),  # buckets
        (SETTINGS_AT + 4 * 8, "<i", [2**31 - 1], "a matrix of"),
        (SETTINGS_AT + 4 * 10, "<i", [LONGEST_NGRAM + 1], "out of range"),  # letters of an n-gram
        (SIZES_AT, "<i", [2**31 - 1], "cut off"),
        (SIZES_AT, "<3i", [2**31 - 1, 2**31 - 1, 0], "cut off"),
        (SIZES_AT, "<3i", [-2, -1, -1], "cut off"),
        (SIZES_AT + 20, "<q", [0], "a pruned model.*quantised from"),
        (SIZES_AT + 20, "<q", [2**62], "a pruned model"),
    ],
)
def test_forged_headers_are_refused(tmp_path: Path, offset: int, layout: str, values: list[Any], what: str) -> None:
    with pytest.raises(FormatError, match=what):
        load_vectors(forged(tmp_path, offset, layout, *values))


def matrix_at() -> int:
    """Where the shape of the matrix stands: five numbers for each row and 16 bytes follow it, then the outputs."""
    vectors, size = model("skipgram"), (GOLDEN / "skipgram.bin").stat().st_size
    return size - (16 + 4 * 5 * len(vectors)) - 1 - (16 + vectors.matrix.nbytes)


@pytest.mark.parametrize("shape", [(2**40, 5), (2**62, 2**62), (-1, 5), (139, -5), (1, 5)])
def test_matrices_of_terabytes_and_of_other_shapes_are_refused(tmp_path: Path, shape: tuple[int, int]) -> None:
    with pytest.raises(FormatError, match=r"cut off|a matrix of|behind its end"):
        load_vectors(forged(tmp_path, matrix_at(), "<2q", *shape))


def test_quantised_models_are_refused_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"pruned\.ftz: .*take the \.bin file it was"):
        load_vectors(GOLDEN / "pruned.ftz")
    with pytest.raises(FormatError, match=r"quantised model \(\.ftz\).*take the \.bin"):
        load_vectors(forged(tmp_path, matrix_at() - 1, "<b", 1))


def test_numbers_that_are_not_finite_are_refused_when_they_are_used(tmp_path: Path) -> None:
    vectors = load_vectors(forged(tmp_path, matrix_at() + 16, "<f", float("nan")))
    with pytest.raises(FormatError, match=r"forged\.bin: some numbers are not finite"):
        vectors[vectors.index_to_key[0]]


def test_every_cut_is_refused(tmp_path: Path) -> None:
    data = (GOLDEN / "single.bin").read_bytes()
    for length in range(4, len(data), 7):
        (tmp_path / "cut.bin").write_bytes(data[:length])
        with pytest.raises(MorphlmError, match=r"cut\.bin"):
            load_vectors(tmp_path / "cut.bin")
    (tmp_path / "long.bin").write_bytes(data + b"x")
    with pytest.raises(FormatError, match="1 bytes behind its end"):
        load_vectors(tmp_path / "long.bin")


def test_words_that_are_not_utf_8_are_shown_with_their_bytes(tmp_path: Path) -> None:
    data = (GOLDEN / "skipgram.bin").read_bytes().replace("řeku\0".encode(), b"\xffeku\0".rjust(6, b"\xc5"))
    (tmp_path / "broken.bin").write_bytes(data)
    vectors = load_vectors(tmp_path / "broken.bin")
    assert "\\xc5\\xffeku" in vectors
    assert np.isfinite(vectors["\\xc5\\xffeku"]).all()


def test_the_format_is_found_by_content_or_said(tmp_path: Path) -> None:
    assert isinstance(load_vectors(GOLDEN / "words.bin", "fasttext"), FastTextVectors)
    (tmp_path / "v.bin").write_bytes(b"1 2\na " + np.ones(2, "<f4").tobytes() + b"\n")
    assert load_vectors(tmp_path / "v.bin").index_to_key == ["a"]
    with pytest.raises(FormatError, match=r"no \.bin file of fastText"):
        load_vectors(tmp_path / "v.bin", "fasttext")
    with pytest.raises(ConfigError, match="fasttext"):
        load_vectors(tmp_path / "v.bin", "bin")
