"""Files of vectors: there and back exactly, in gensim, and what is refused."""

from __future__ import annotations

import struct
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import load_file

from morphlm.errors import ConfigError, FormatError, InputError, MorphlmError
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.factorisation import from_mapping
from morphlm.text.reading import RESERVED
from morphlm.vectors.export import Exported, export_vectors
from morphlm.vectors.reading import load_vectors
from morphlm.vectors.vectors import SideVectors, WordVectors
from morphlm.vectors.writing import FORMATS, words_file
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.segmentation.small import KNOWN, model_with

NAMES = {"word2vec": "v.vec", "word2vec-binary": "v.bin", "npy": "v.npy", "safetensors": "v.safetensors"}
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
WORDS = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5), unique=True, max_size=6)


def gensim_vectors() -> Any:
    """gensim's class; its import warns of what it uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("gensim.models").KeyedVectors


def vectors_of(words: list[str], matrix: np.ndarray) -> WordVectors:
    """Some words with these vectors, half of each on either side."""
    vocabulary = Vocabulary((*RESERVED, *words), np.ones(len(words) + 3, np.int64))
    rows = np.concatenate([np.zeros((3, matrix.shape[1]), np.float32), matrix])
    half = matrix.shape[1] // 2
    return WordVectors(vocabulary, SideVectors(rows[:, :half], None), SideVectors(rows[:, half:], None))


@pytest.mark.parametrize("file_format", FORMATS)
@settings(max_examples=20)
@given(words=WORDS, data=st.data())
def test_vectors_come_back_exactly(
    file_format: str, words: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    words = [word for word in words if word not in RESERVED]
    matrix = data.draw(arrays(np.float32, (len(words), 4), elements=NUMBERS))
    path = tmp_path_factory.mktemp("export") / NAMES[file_format]
    exported = export_vectors(vectors_of(words, matrix), path, file_format)
    again = load_vectors(path, file_format)
    assert again.index_to_key == words
    assert np.array_equal(again.vectors, matrix)
    assert again.vectors.dtype == np.float32
    assert exported == Exported(str(path), file_format, len(words), 4, 0, ())


@pytest.mark.parametrize("file_format", ["npy", "safetensors"])
def test_half_precision_is_the_nearest(file_format: str, tmp_path: Path) -> None:
    vectors = model_with().vectors
    export_vectors(vectors, tmp_path / NAMES[file_format], file_format, half=True)
    again = load_vectors(tmp_path / NAMES[file_format])
    assert again.vectors.dtype == np.float16
    assert np.array_equal(again.vectors, vectors.matrix[3:].astype(np.float16))
    assert again.most_similar("domu", topn=1)[0][0] == vectors.neighbours("domu", 1)[0].name


@pytest.mark.parametrize("file_format", FORMATS)
def test_all_words_and_some_that_are_composed(file_format: str, tmp_path: Path) -> None:
    vectors = model_with().vectors.using(side="output", normalise=True)
    path = tmp_path / NAMES[file_format]
    extra = ["domou", "domu", "brouk", "xxxem", "domou", "<s>"]
    exported = export_vectors(vectors, path, file_format, extra_words=extra)
    assert exported == Exported(str(path), file_format, len(KNOWN) + 2, 4, 2, ("brouk",))
    again = load_vectors(path)
    assert again.index_to_key == [*KNOWN, "domou", "xxxem"]
    assert np.array_equal(again.vectors, vectors.rows(again.index_to_key))
    assert exported.to_json()["left_out"] == ["brouk"]
    lines = exported.format().splitlines()
    assert lines[0] == f"{path}: 31 vectors of 4 dimensions, 2 of them composed"
    assert lines[1] == "left out, nothing is known of them: brouk"


def test_extra_words_are_lowercased_like_the_model_s_text(tmp_path: Path) -> None:
    model = model_with().vectors
    lowercased, kept = (replace(model, record={"norm": norm}) for norm in ("lc+digits", "digits"))
    for vectors, prepared, found in (
        (kept, False, []),
        (lowercased, False, ["domou"]),
        (lowercased, True, []),
    ):
        export_vectors(vectors, tmp_path / "v.vec", extra_words=["DOMOU"], prepared=prepared)
        assert load_vectors(tmp_path / "v.vec").index_to_key[len(KNOWN) :] == found


def test_the_bytes_are_those_of_word2vec(tmp_path: Path) -> None:
    vectors = vectors_of(["škola", "b"], np.array([[0.1, -2.0], [0.75, 5.0]], np.float32))
    export_vectors(vectors, tmp_path / "v", "word2vec")
    assert (tmp_path / "v").read_text() == "2 2\nškola 0.100000001 -2\nb 0.75 5\n"
    export_vectors(vectors, tmp_path / "v", "word2vec-binary")
    packed = [struct.pack("<2f", *row) for row in ((0.1, -2.0), (0.75, 5.0))]
    assert (tmp_path / "v").read_bytes() == b"2 2\n" + "škola ".encode() + packed[0] + b"\nb " + packed[1] + b"\n"


def test_the_safetensors_library_and_numpy_read_the_same(tmp_path: Path) -> None:
    vectors = model_with().vectors
    export_vectors(vectors, tmp_path / "v.safetensors", "safetensors")
    tensors = load_file(tmp_path / "v.safetensors")
    assert np.array_equal(tensors["vectors"], vectors.matrix[3:])
    assert tensors["words"].tobytes().decode().split() == KNOWN
    export_vectors(vectors, tmp_path / "v.npy", "npy")
    assert np.array_equal(np.load(tmp_path / "v.npy"), vectors.matrix[3:])
    assert words_file(tmp_path / "v.npy").read_text().split() == KNOWN


@pytest.mark.parametrize("binary", [False, True])
def test_gensim_reads_our_files_and_we_read_gensim_s(binary: bool, tmp_path: Path) -> None:
    vectors = model_with().vectors
    export_vectors(vectors, tmp_path / "ours", "word2vec-binary" if binary else "word2vec", extra_words=["domou"])
    theirs = gensim_vectors().load_word2vec_format(str(tmp_path / "ours"), binary=binary)
    assert theirs.index_to_key == [*KNOWN, "domou"]
    assert np.array_equal(theirs.vectors, vectors.rows(theirs.index_to_key))
    theirs.save_word2vec_format(str(tmp_path / "theirs"), binary=binary)
    again = load_vectors(tmp_path / "theirs")
    assert again.index_to_key == theirs.index_to_key
    assert np.array_equal(again.vectors, theirs.vectors)


def test_compressed_text_is_read_and_written(tmp_path: Path) -> None:
    export_vectors(model_with().vectors, tmp_path / "v.vec.gz")
    assert (tmp_path / "v.vec.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert np.array_equal(load_vectors(tmp_path / "v.vec.gz").vectors, model_with().vectors.matrix[3:])


def test_lines_as_fasttext_writes_them(tmp_path: Path) -> None:
    (tmp_path / "v.vec").write_bytes("2 3\nza\u00a0u 1 2 3 \nb -1e-3 0 .5 \n".encode())
    found = load_vectors(tmp_path / "v.vec")
    assert found.index_to_key == ["za\u00a0u", "b"]
    assert found.vectors.tolist() == [[1, 2, 3], pytest.approx([-0.001, 0, 0.5])]


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_blocks_of_rows_change_nothing(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.vectors.reading.ROWS_A_BLOCK", block)
    monkeypatch.setattr("morphlm.vectors.export.BLOCK_WORDS", block)
    export_vectors(model_with().vectors, tmp_path / "v.vec", extra_words=["domou", "xxxem", "polyou"])
    found = load_vectors(tmp_path / "v.vec")
    assert np.array_equal(found.vectors, model_with().vectors.rows([*KNOWN, "domou", "xxxem", "polyou"]))


def test_of_a_word_that_comes_twice_the_first_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.vec").write_text("3 1\na 1\nb 2\na 3\n")
    found = load_vectors(tmp_path / "v.vec")
    assert (found.index_to_key, found.vectors.tolist()) == (["a", "b"], [[1], [2]])
    assert "1 repeated word; the first vector of each counts" in capsys.readouterr().err


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "v.vec:1: not a file of vectors"),
        (b"pro novou\n", "v.vec:1: not a file of vectors"),
        (b"1 0\na\n", "v.vec:1: not a file of vectors"),
        (b"1 2", "v.vec:1: not a file of vectors"),
        (b"1 2 3\n", "v.vec:1: not a file of vectors"),
        (b"9" * 100 + b" 2\n", "v.vec:1: not a file of vectors"),
        (b"2 2\na 1 2\nb 1\n", "v.vec:3: 1 number behind 'b', not 2"),
        (b"2 2\na 1 2\nb 1 2 3\n", "v.vec:3: 3 numbers behind 'b', not 2"),
        (b"2 2\na 1 2\nb 1 x\n", "v.vec:3: not `word number number ...`"),
        (b"2 2\na 1 2\nb\xff 1 2\n", "v.vec:3: not `word number number ...` in UTF-8"),
        (b"2 2\na 1 2\n 1 2\n", "v.vec:3: 2 numbers behind ''"),
        (b"3 2\na 1 2\nb 1 2\n", "v.vec: 2 words, where 3 are announced"),
        (b"1 2\na 1 2\nb 1 2\n", "v.vec: 2 words, where 1 are announced"),
        (b"1 2\na 1 nan\n", "v.vec: some numbers are not finite"),
        (b"2 1\na \x00\x00\x80\x3fb \x00\x00\x80", "v.vec: cut off"),
        (b"99999999999 1\na \x00\x00\x80\x3f", "v.vec: cut off"),
        (b"1 1\na \x00\x00\x80\x3fb \x00\x00\x80\x3f", "v.vec: there is more behind 1 word"),
        (b"1 1\n\xff\xfe \x00\x00\x80\x3f", "v.vec: a word is not UTF-8"),
        (b"1 1\na \x00\x00\xc0\x7f", "v.vec: some numbers are not finite"),
        (b"2 1\naaaaaaaaaaaa\x00\x00\x80\x3f", "v.vec: cut off after 0 of 2 words"),
    ],
)
def test_damaged_word2vec_files(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "v.vec").write_bytes(content)
    with pytest.raises(MorphlmError) as error:
        load_vectors(tmp_path / "v.vec")
    assert message in str(error.value)
    assert ";" in str(error.value)


@pytest.mark.parametrize("file_format", FORMATS)
def test_files_cut_at_any_length_are_refused(file_format: str, tmp_path: Path) -> None:
    path = tmp_path / NAMES[file_format]
    export_vectors(vectors_of(["škola", "b"], np.array([[0.1, -2.0], [3e-9, 5.5]], np.float32)), path, file_format)
    whole = path.read_bytes()
    expected = load_vectors(path)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        try:
            found = load_vectors(path, file_format)
        except MorphlmError:
            continue
        # Nobody can tell that a last number has lost its last digits; and the end of the last line is not missed.
        assert file_format.startswith("word2vec")
        assert found.index_to_key == expected.index_to_key
        assert length >= len(whole) - (len("5.5\n") - 1 if file_format == "word2vec" else 1)


def test_damaged_matrices(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"v\.words\.txt: there is no such file"):
        load_vectors(tmp_path / "v.npy")
    (tmp_path / "v.words.txt").write_text("a\nb\nc\n")
    with pytest.raises(FormatError, match=r"v\.npy: 3 words, where 2 are announced"):
        load_vectors(tmp_path / "v.npy")
    for text in ("a\nb", "a\n\n"):
        (tmp_path / "v.words.txt").write_text(text)
        with pytest.raises(FormatError, match=r"v\.words\.txt: not a word a line"):
            load_vectors(tmp_path / "v.npy")
    (tmp_path / "v.words.txt").write_text("a\nb\n")
    for wrong in (np.zeros(2), np.zeros((2, 3), np.int32), np.array([["a"], ["b"]])):
        np.save(tmp_path / "v.npy", wrong)
        with pytest.raises(FormatError, match=r"v\.npy: not a matrix of vectors"):
            load_vectors(tmp_path / "v.npy")
    np.save(tmp_path / "v.npy", np.array([[1], ["a"]], object), allow_pickle=True)
    with pytest.raises(FormatError, match=r"v\.npy: not a matrix of vectors"):
        load_vectors(tmp_path / "v.npy")
    with pytest.raises(InputError, match=r"no\.safetensors: there is no such file"):
        load_vectors(tmp_path / "no.safetensors")


def test_what_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    vectors = model_with().vectors
    for file_format in ("word2vec", "word2vec-binary"):
        with pytest.raises(ConfigError, match="holds float32; leave float16 out, or write npy or safetensors"):
            export_vectors(vectors, tmp_path / "v", file_format, half=True)
    for file_format, name in (("npy", "v.vec"), ("safetensors", "-"), ("npy", "v.npy.gz")):
        with pytest.raises(ConfigError, match=r"a file whose name ends in \."):
            export_vectors(vectors, tmp_path / name, file_format)
    for file_format, name, promised in (
        ("word2vec", "v.npy", "npy"),
        ("word2vec", "v.bin", "word2vec-binary"),
        ("word2vec-binary", "v.safetensors", "safetensors"),
    ):
        with pytest.raises(ConfigError, match=f"the name says {promised}, the format is {file_format}; change one"):
            export_vectors(vectors, tmp_path / name, file_format)
    with pytest.raises(ConfigError, match="no format of vectors; choose one of word2vec"):
        export_vectors(vectors, tmp_path / "v", "glove")
    with pytest.raises(ConfigError, match="no format of vectors; choose one of word2vec"):
        load_vectors(tmp_path / "v", "glove")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("file_format", FORMATS)
def test_words_with_spaces_are_refused_and_nothing_is_written(file_format: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'za u' holds white space"):
        export_vectors(vectors_of(["za u"], np.zeros((1, 2), np.float32)), tmp_path / NAMES[file_format], file_format)
    assert not [*tmp_path.iterdir()]


def test_an_interrupted_export_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file_format, name in NAMES.items():
        (tmp_path / name).write_text("precious")
        monkeypatch.setattr(WordVectors, "of_range", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            export_vectors(model_with().vectors, tmp_path / name, file_format)
        assert (tmp_path / name).read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} <= {*NAMES.values(), "v.words.txt"}


def test_factors_of_a_table_compose_nothing(tmp_path: Path) -> None:
    vocabulary = Vocabulary((*RESERVED, "domu"), np.ones(4, np.int64))
    factors = build_factors(vocabulary, from_mapping({"domu": ["dom", "u"]}, "table"))
    side = SideVectors(np.ones((len(factors), 2), np.float32), factors)
    exported = export_vectors(WordVectors(vocabulary, side, side), tmp_path / "v", extra_words=["domx"])
    assert (exported.words, exported.left_out) == (1, ("domx",))
