"""Every source of mu: what it gives, exactly, and what it refuses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.segmentation.analyser import analyser_from_files
from morphlm.segmentation.morphemes import Morpheme, Segmentation, keep_letters_whole, letters
from morphlm.segmentation.sources.conllu import read_conllu
from morphlm.segmentation.sources.factorisation import from_mapping, from_segmentation
from morphlm.segmentation.sources.morfessor import read_morfessor
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.segmentation.sources.pieces import MODEL as PIECE_MODEL
from morphlm.segmentation.sources.pieces import PieceAnalyser, train_pieces
from morphlm.segmentation.sources.table import read_table


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "source.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


READERS: list[Callable[[Path], Any]] = [read_morfessor, read_conllu, read_table]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("content", "where"),
    [(b"", "source.txt: the file is empty"), (b"\xff\n", "source.txt:1: byte 0xff"), (b"a\r\n", "source.txt:1: ")],
)
def test_bad_text_is_refused(tmp_path: Path, read: Callable[[Path], Any], content: bytes, where: str) -> None:
    with pytest.raises(InputError) as error:
        read(write(tmp_path, content))
    assert where in str(error.value)


# ---------------------------------------------------------------- Morfessor and FlatCat


def test_morfessor_and_flatcat_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "# Output from Morfessor\n3 un/PRE + happy/STM\n\n1 š + kol + ou\n2 +\n1 1/2 + x/ZZZ\n")
    assert dict(read_morfessor(path).analyses) == {
        "unhappy": (Morpheme("un", "PRE"), Morpheme("happy", "STM")),
        "škol" + "ou": (Morpheme("š"), Morpheme("kol"), Morpheme("ou")),
        "+": (Morpheme("+"),),
        "1/2x": (Morpheme("1/2"), Morpheme("x", "ZZZ")),
    }


@pytest.mark.parametrize(
    "line",
    ["un + happy", "3", "3 ", "3 un +", "3 un + ", "3 un happy", "3 un  + happy", "3 a\tb", "x a + b", "3 a + + b"],
)
def test_a_line_that_morfessor_does_not_write_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"source\.txt:2: not `count morph \+ morph`; write"):
        read_morfessor(write(tmp_path, f"1 a + b\n{line}\n"))


def test_a_word_with_two_segmentations_is_refused_but_a_repeated_line_is_not(tmp_path: Path) -> None:
    assert len(read_morfessor(write(tmp_path, "1 a + b\n1 a + b\n"))) == 1
    with pytest.raises(InputError, match=r"source\.txt:2: ab came before"):
        read_morfessor(write(tmp_path, "1 a + b\n1 ab\n"))


def test_combining_marks_stay_with_their_letter(tmp_path: Path) -> None:
    segmentation = read_morfessor(write(tmp_path, "1 x/STM + \u0301yz/SUF\n1 s + \u030c + k\n"))
    assert segmentation["x\u0301yz"] == (Morpheme("x\u0301", "STM"), Morpheme("yz", "SUF"))
    assert segmentation["šk"] == (Morpheme("š"), Morpheme("k"))


@given(st.lists(st.text("abš\u0301\u093e", min_size=1, max_size=4), min_size=1, max_size=5))
def test_moving_marks_keeps_the_word_and_cuts_between_letters(forms: list[str]) -> None:
    moved = keep_letters_whole([Morpheme(form, "STM") for form in forms])
    word = letters("".join(forms))
    assert [letter for morpheme in moved for letter in letters(morpheme.form)] == word
    assert len(moved) <= len(forms)
    assert all(morpheme.form for morpheme in moved)


# ---------------------------------------------------------------- segmentations and mappings


def test_a_segmentation_gives_labelled_or_plain_names() -> None:
    segmentation = Segmentation({"inin": (Morpheme("in", "PRE"), Morpheme("in", "STM"))})
    assert from_segmentation(segmentation)["inin"] == ("in/PRE", "in/STM")
    assert from_segmentation(segmentation, labels=False)["inin"] == ("in", "in")
    assert from_segmentation(segmentation)["other"] == ()
    assert from_segmentation(segmentation, labels=False)["other"] == ()


def test_a_mapping_may_be_given() -> None:
    assert from_mapping({"a": ["x", Morpheme("y", "STM")]}, "mine")["a"] == ("x", "y/STM")


# ---------------------------------------------------------------- a table


def test_a_table(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "skola\tškol/STM a/SUF\ns\u030ckola\tx  y\tz x\n<s>\tmark\n"))
    assert table["skola"] == ("škol/STM", "a/SUF")
    assert table["škola"] == ("x", "y", "z", "x")
    assert table["<s>"] == ("mark",)
    assert table["nope"] == ()
    assert table.source.startswith("table ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("word", "not `word TAB factor factor ...`"),
        ("\tfactor", "not `word TAB factor factor ...`"),
        ("two words\tfactor", "not `word TAB factor factor ...`"),
        ("", "not `word TAB factor factor ...`"),
        ("word\t", "there is no factor"),
        ("word\t  ", "there is no factor"),
        ("a\tb", "a is here for the second time"),
    ],
)
def test_a_malformed_table(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_table(write(tmp_path, f"a\tb\n{line}\n"))
    assert f"source.txt:2: {message}" in str(error.value)


# ---------------------------------------------------------------- character n-grams


def test_ngrams_have_marks_at_the_edges() -> None:
    ngrams = character_ngrams(3, 4)
    assert ngrams["banán"] == ("<ba", "ban", "aná", "nán", "án>", "<ban", "baná", "anán", "nán>")
    assert ngrams["a"] == ("<a>",)
    assert character_ngrams()["škol"] == ("<šk", "ško", "kol", "ol>", "<ško", "škol", "kol>", "<škol", "škol>")
    assert character_ngrams(1, 2)["aa"] == ("a", "a", "<a", "aa", "a>")
    assert character_ngrams(4)["a"] == ()


def test_ngrams_keep_letters_whole() -> None:
    assert character_ngrams(2, 2)["x\u0301y"] == ("<x\u0301", "x\u0301y", "y>")
    assert character_ngrams(1, 1)["कि"] == ("कि",)


@pytest.mark.parametrize(("shortest", "longest"), [(0, 3), (4, 3), (-1, -1)])
def test_impossible_lengths_are_refused(shortest: int, longest: int) -> None:
    with pytest.raises(ConfigError, match="1 <= shortest <= longest"):
        character_ngrams(shortest, longest)


@given(st.text("abž-\u0301", min_size=1), st.integers(2, 3), st.integers(0, 2))
def test_there_are_as_many_ngrams_as_places(word: str, shortest: int, more: int) -> None:
    length = len(letters(word)) + 2
    found = character_ngrams(shortest, shortest + more)[word]
    assert len(found) == sum(max(0, length - n + 1) for n in range(shortest, shortest + more + 1))


# ---------------------------------------------------------------- CoNLL-U


def conllu(*words: str) -> str:
    """Lines of `ID FORM LEMMA UPOS FEATS`."""
    lines = []
    for word in words:
        number, form, lemma, pos, features = word.split()
        lines.append(f"{number}\t{form}\t{lemma}\t{pos}\t_\t{features}\t_\t_\t_\t_\n")
    return "".join(lines) + "\n"


def test_the_most_frequent_analysis_counts_and_of_equals_the_first(tmp_path: Path) -> None:
    noun, verb = "1 Stát stát NOUN Case=Nom|Number=Sing", "1 stát Stát VERB VerbForm=Inf"
    path = write(tmp_path, "# text = x\n" + conllu(noun) + conllu(verb) + conllu(verb) + conllu("1 a a CCONJ _"))
    assert read_conllu(path)["stát"] == ("lemma=stát", "pos=VERB", "VerbForm=Inf")
    assert read_conllu(path)["a"] == ("lemma=a", "pos=CCONJ")
    assert read_conllu(path)["b"] == ()
    assert read_conllu(path, lowercase=False)["Stát"] == ("lemma=stát", "pos=NOUN", "Case=Nom", "Number=Sing")
    tie = write(tmp_path, conllu(noun) + conllu(verb))
    assert read_conllu(tie)["stát"] == ("lemma=stát", "pos=NOUN", "Case=Nom", "Number=Sing")


def test_a_token_of_several_words_has_the_factors_of_all(tmp_path: Path) -> None:
    words = ("1 in in ADP _", "2 dem der DET Case=Dat", "2.1 x x X _", "3 Dorf Dorf NOUN Case=Dat")
    found = read_conllu(write(tmp_path, conllu("1-2 im _ _ _", *words).rstrip("\n")))
    assert found["im"] == ("lemma=in", "pos=ADP", "lemma=der", "pos=DET", "Case=Dat")
    assert found["dorf"] == ("lemma=dorf", "pos=NOUN", "Case=Dat")
    assert found["dem"] == found["in"] == found["x"] == ()


def test_spaces_never_reach_a_factor(tmp_path: Path) -> None:
    line = "1\ta\ta b\tX\t_\t_\t_\t_\t_\t_\n2\tc d\tc\tX\t_\t_\t_\t_\t_\t_\n"
    found = read_conllu(write(tmp_path, line))
    assert found["a"] == ("lemma=a_b", "pos=X")
    assert found["c d"] == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plain text", "1 column; CoNLL-U has ten"),
        ("1\ta\ta\tX\t_\t_\t_\t_\t_", "9 columns; CoNLL-U has ten"),
        ("1\t\ta\tX\t_\t_\t_\t_\t_\t_", "10 columns; CoNLL-U has ten, with TABs between them and _"),
        ("x\ta\ta\tX\t_\t_\t_\t_\t_\t_", "x is no number of a word"),
        (f"1-{'9' * 5000}\ta\ta\tX\t_\t_\t_\t_\t_\t_", "1-999"),
        ("1\ta\ta\tX\t_\tCase\t_\t_\t_\t_", "Case are no features"),
        ("1\ta\ta\tX\t_\tCase=\t_\t_\t_\t_", "Case= are no features"),
        ("1-2\ta\ta\tX\t_\t_\t_\t_\t_\t_", "the token 1-2 spans words"),
        ("2-1\ta\ta\tX\t_\t_\t_\t_\t_\t_", "the token 2-1 spans words"),
        ("1-999999999999\ta\ta\tX\t_\t_\t_\t_\t_\t_", "the token 1-999999999999 spans words"),
    ],
)
def test_malformed_conllu(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_conllu(write(tmp_path, f"# a comment\n{line}\n"))
    assert f"source.txt:2: {message}" in str(error.value)


def test_conllu_without_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"source\.txt: there is no word"):
        read_conllu(write(tmp_path, "# a comment\n\n"))


# ---------------------------------------------------------------- sentencepiece

WORDS = {
    stem + ending: 1 + len(stem) for stem in ("škol", "měst", "prac", "hrad") for ending in ("a", "ou", "ách", "ami")
}


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def pieces(request: pytest.FixtureRequest) -> PieceAnalyser:
    pytest.importorskip("sentencepiece")
    return train_pieces(WORDS, model=request.param, size=40)


def test_pieces_give_the_word_again(pieces: PieceAnalyser) -> None:
    for word in [
        *WORDS,
        "neznámé",
        "漢字",
        "a",
        "x\u0301y",
        "▁▁x",
        "a▁b",
        "x▁",
        "▁",
        "\u3000",
        "<unk>",
        "ﬁ",
        "hrad-hrad",
        "š" * 500,
    ]:
        segmented = pieces.segment(word)
        assert "".join(morpheme.form for morpheme in segmented) == word
        assert all(morpheme.form and morpheme.label is None for morpheme in segmented)
        assert "".join(pieces.factorisation()[word]) == "▁" + word


def test_pieces_are_shared_between_words(pieces: PieceAnalyser) -> None:
    distinct = {name for word in WORDS for name in pieces.pieces_of(word)}
    assert len(distinct) <= 40
    assert pieces.factorisation()["školou"] == ("▁škol", "ou")
    assert dict(pieces.segmentation(["městami"]).analyses) == {"městami": (Morpheme("měst"), Morpheme("ami"))}


@pytest.mark.parametrize("model", ["unigram", "bpe"])
@pytest.mark.parametrize("counts", ["types", "tokens"])
def test_training_twice_gives_the_same_bytes(model: Any, counts: Any) -> None:
    pytest.importorskip("sentencepiece")
    first, second = (train_pieces(WORDS, model=model, size=40, counts=counts) for _ in range(2))
    assert first == second
    assert first.source == f"sentencepiece {model} 40 {counts}"


def test_counts_of_tokens_matter() -> None:
    pytest.importorskip("sentencepiece")
    often = dict.fromkeys(WORDS, 1) | {"městách": 1000}
    by_tokens = train_pieces(often, model="bpe", size=27, counts="tokens")
    by_types = train_pieces(often, model="bpe", size=27)
    assert len(by_tokens.pieces_of("městách")) < len(by_types.pieces_of("městách"))


def test_sentencepiece_needs_words_and_room_for_their_letters() -> None:
    pytest.importorskip("sentencepiece")
    with pytest.raises(ConfigError, match="there are no words"):
        train_pieces({})
    with pytest.raises(
        ConfigError, match=r"^sentencepiece refuses 3 pieces \(Vocabulary size is smaller .*\); ask for another number$"
    ):
        train_pieces(WORDS, size=3)


def test_sentencepiece_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ConfigError, match=r"pip install 'morphlm\[sentencepiece\]'"):
        train_pieces(WORDS)


@pytest.mark.parametrize("model", [b"", b"garbage", b"\x0a\xff\xff\xff\xff\x7f", bytes(100)])
def test_a_model_that_sentencepiece_cannot_read_is_refused_at_once(model: bytes) -> None:
    pytest.importorskip("sentencepiece")
    texts, tensors = PieceAnalyser(model, "x").to_texts(), {PIECE_MODEL: np.frombuffer(model, np.uint8)}
    with pytest.raises(FormatError, match=r"^analyser\.model: sentencepiece cannot read it"):
        analyser_from_files(texts, tensors)
    with pytest.raises(FormatError, match=r"^analyser\.model: sentencepiece cannot read it"):
        PieceAnalyser(model, "x").pieces_of("word")
