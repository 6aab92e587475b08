from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm import load
from morphlm.errors import FormatError, InputError
from morphlm.files import open_binary
from morphlm.ngram.training import train_ngram
from tests.ngram.test_training import parse_arpa
from tests.strategies import WORDS, texts

# A pruned model: "b c" has no entry though "a b c" has one, and "c a" is missing as the context of "c a b".
PRUNED = """\\data\\
ngram 1=6
ngram 2=4
ngram 3=2

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.3
-0.8\t</s>
-0.5\ta\t-0.2
-0.6\tb\t-0.1
-0.7\tc\t-0.4

\\2-grams:
-0.3\t<s> a\t-0.05
-0.4\ta b\t-0.15
-0.25\tb a
-0.2\tb </s>

\\3-grams:
-0.1\ta b c
-0.15\tc a b

\\end\\
"""


def logprob10(model: object, tokens: list[str]) -> list[float]:
    return [score / np.log(10) for score in model.sentence(tokens)]  # type: ignore[attr-defined]


@given(texts, st.integers(1, 4))
def test_round_trip_to_printed_precision(text: list[list[str]], order: int) -> None:
    import tempfile

    model = train_ngram(text, order)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.arpa.xz"
        model.write_arpa(path)
        read = load(path)
        for sentence in [*text, WORDS, ["never"]]:
            assert read.sentence(sentence) == pytest.approx(model.sentence(sentence), abs=2e-6)
        read.write_arpa(Path(folder) / "again.arpa")  # type: ignore[attr-defined]
        written, again = parse_arpa(_text(path)), parse_arpa(_text(Path(folder) / "again.arpa"))
        assert written.keys() == again.keys()
        for ngram, numbers in written.items():
            assert again[ngram] == pytest.approx(numbers, abs=1e-6)


def _text(path: Path) -> str:
    with open_binary(path) as file:
        return file.read().decode()


def test_a_pruned_model_backs_off_by_hand_computed_numbers(tmp_path: Path) -> None:
    (tmp_path / "pruned.arpa").write_text(PRUNED)
    model = load(tmp_path / "pruned.arpa")
    expected = [
        -0.3,  # p(a | <s>)
        -0.05 - 0.4,  # b(<s> a) p(b | a)
        -0.1,  # p(c | a b)
        -0.4 - 0.5,  # b(b c) = 1, b(c) p(a)
        -0.15,  # p(b | c a)
        -0.15 - 0.2,  # b(a b) p(</s> | b)
    ]
    assert logprob10(model, ["a", "b", "c", "a", "b"]) == pytest.approx(expected, abs=1e-6)
    assert logprob10(model, ["never"]) == pytest.approx([-0.3 - 1.0, -0.8], abs=1e-6)


def test_a_model_without_unk_has_a_closed_vocabulary(tmp_path: Path) -> None:
    (tmp_path / "closed.arpa").write_text(PRUNED.replace("-1.0\t<unk>\n", "").replace("ngram 1=6", "ngram 1=5"))
    assert load(tmp_path / "closed.arpa").sentence(["never"])[0] == -np.inf


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("-0.8\t</s>\n", "-0.8\tx\n", 24, "the unigram </s> is missing"),
        ("ngram 1=6", "ngram 1=9999999999999", 2, "`ngram 1=NUMBER`"),
        ("ngram 2=4", "ngram 3=4", 3, "`ngram 2=NUMBER`"),
        ("ngram 1=6", "ngram 1=7", 13, "this has 0 fields"),
        ("ngram 1=6", "ngram 1=5", 12, "does the header give the right number of 1-grams"),
        ("-0.4\ta b\t-0.15", "-0.4\ta", 16, "this has 2 fields"),
        ("-0.4\ta b", "0.4\ta b", 16, "at most 0"),
        ("-0.4\ta b", "minus\ta b", 16, "not a number"),
        ("-0.4\ta b", "-0.4\ta x", 16, "x is not among the unigrams"),
        ("-0.15\tc a b", "-0.15\tc a b\t0", 22, "this has 5 fields"),
        ("\\end\\\n", "", 24, "the file ends before"),
    ],
)
def test_damaged_files_are_refused_with_their_line(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    assert old in PRUNED
    (tmp_path / "bad.arpa").write_text(PRUNED.replace(old, new))
    with pytest.raises(InputError) as caught:
        load(tmp_path / "bad.arpa")
    assert f"bad.arpa:{line}: " in str(caught.value)
    assert what in str(caught.value)


def test_words_of_any_length_fit_the_buffer(tmp_path: Path) -> None:
    long_word = "ž" * 100_000
    model = train_ngram([[long_word, "a", long_word]] * 3, 3)
    model.write_arpa(tmp_path / "long.arpa")
    assert load(tmp_path / "long.arpa").sentence([long_word]) == pytest.approx(model.sentence([long_word]), abs=2e-6)


def test_a_repeated_ngram_is_refused(tmp_path: Path) -> None:
    for old, new in (("-0.4\ta b\t-0.15", "-0.4\ta b\t-0.15\n-0.5\ta b"), ("-0.6\tb\t-0.1", "-0.6\tb\t-0.1\n-0.7\tb")):
        n = 2 if "a b" in old else 1
        size = {1: ("ngram 1=6", "ngram 1=7"), 2: ("ngram 2=4", "ngram 2=5")}[n]
        (tmp_path / "bad.arpa").write_text(PRUNED.replace(old, new).replace(*size))
        with pytest.raises(FormatError, match=f"a {n}-gram twice"):
            load(tmp_path / "bad.arpa")


def test_what_other_tools_write_is_read(tmp_path: Path) -> None:
    other = PRUNED.replace("<unk>", "<UNK>").replace("ngram 1=6", "ngram  1 =  6").replace("-0.1\t", "-1.0e-01\t")
    (tmp_path / "other.arpa").write_text("# made by another program\n\n" + other)
    (tmp_path / "ours.arpa").write_text(PRUNED)
    sentence = ["a", "b", "c", "never"]
    model = load(tmp_path / "other.arpa")
    assert model.sentence(sentence) == load(tmp_path / "ours.arpa").sentence(sentence)
    assert model.signature.value("model") == "arpa"
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").kind == "arpa"


def test_a_text_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "bad.arpa").write_text(PRUNED.replace("\\data\\", "data"))
    with pytest.raises(InputError, match=r"bad\.arpa: this is no model: no folder with one, and no ARPA file"):
        load(tmp_path / "bad.arpa")


@pytest.mark.parametrize("kind", ["probing", "trie"])
def test_a_kenlm_binary_is_refused_with_the_cure(tmp_path: Path, kind: str) -> None:
    """The first bytes are those of KenLM's `build_binary`; a trie and a hash table differ behind them."""
    sanity = np.array([0, 1, -0.5], "<f4").tobytes() + bytes([1, 0, 0, 0, 255, 255, 255, 255]) + kind.encode()
    head = b"mmap lm http://kheafield.com/code format version 5\n\0"
    (tmp_path / "model.binary").write_bytes(head.ljust(56, b"\0") + sanity * 50)
    with pytest.raises(InputError) as caught:
        load(tmp_path / "model.binary")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'model.binary'}:1: a binary file of KenLM")
    assert "give the ARPA file that it was built from" in message and "\n" not in message
