"""The compiled reader of ARPA files next to a plain one: the same arrays to the last bit."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm import load
from morphlm.errors import InputError
from morphlm.ngram.arpa import kernels
from morphlm.ngram.arpa.linking import hash_table
from morphlm.ngram.arpa.reading import read_arpa
from morphlm.text import reading as text_reading
from tests.ngram.arpa_reference import reference_arpa
from tests.ngram.test_arpa import PRUNED

WORDS = ["</s>", "a", "b", "ж", "školu", "-1", "1e5"]
plain_numbers = st.floats(0, 120).map(lambda number: f"{-number:.7g}")
other_numbers = st.sampled_from(
    ["-1e-3", "-.5", "-7.", "-0", "0", "-0.30102999566398119521", "-inf", "-1.5E+01", "+0.0"]
)
logprobs = st.one_of(plain_numbers, other_numbers)
backoffs = st.one_of(st.floats(-999, 999).map(repr), st.sampled_from(["-1e-3", "3", "-0", "+.25"]))


@st.composite
def arpa_texts(draw: st.DrawFn) -> str:
    """Files from which contexts and suffixes may be missing, in any order."""
    order = draw(st.integers(1, 4))
    used = ["<s>", *WORDS]
    sections = []
    for n in range(1, order + 1):
        words = st.tuples(*[st.sampled_from(used)] * n)
        ngrams = [(word,) for word in used] if n == 1 else draw(st.lists(words, min_size=1, max_size=8, unique=True))
        lines = [_line(draw, ngram, n == order) for ngram in ngrams]
        sections.append((len(lines), f"\\{n}-grams:\n" + "".join(lines)))
    header = "".join(f"ngram {n}={size}\n" for n, (size, _) in enumerate(sections, 1))
    return "\n".join([f"\\data\\\n{header}", *(section for _, section in sections), "\\end\\\n"])


def _line(draw: st.DrawFn, ngram: tuple[str, ...], highest: bool) -> str:
    backoff = "" if highest or draw(st.booleans()) else "\t" + draw(backoffs)
    logprob = "-1" if ngram == ("</s>",) else draw(logprobs)
    return f"{logprob}\t{' '.join(ngram)}{backoff}\n"


@given(text=arpa_texts(), block=st.sampled_from([1, 40, 1 << 19]))
def test_every_array_is_that_of_a_plain_reader(text: str, block: int) -> None:
    expected = reference_arpa(text)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(text_reading, "BLOCK_BYTES", block)
        path = Path(folder) / "model.arpa"
        path.write_text(text)
        trie, vocabulary = read_arpa(path)
    assert list(vocabulary.words) == expected.vocabulary
    assert list(trie.sizes) == expected.sizes
    for name in ("words", "suffix", "first_child"):
        assert getattr(trie, name).tolist() == getattr(expected, name), name
    for name in ("logprob", "backoff"):
        assert getattr(trie, name).tobytes() == np.array(getattr(expected, name), np.float32).tobytes(), name


@given(
    st.one_of(logprobs, backoffs, st.text("0123456789.+-e", max_size=24), st.floats(-1e9, 1e9).map("{:.17f}".format))
)
def test_plain_numbers_are_python_s_to_the_last_bit(text: str) -> None:
    value = kernels.parse_decimal(np.frombuffer(b" " + text.encode() + b"\n", np.uint8), 1, 1 + len(text))
    if not math.isnan(value):
        assert (value, math.copysign(1, value)) == (float(text), math.copysign(1, float(text)))


@pytest.mark.parametrize("text", ["0", "-0.3010300", "-99", "12.5", "+1", ".5", "5.", "-1234567.8901234"])
def test_usual_numbers_need_no_python(text: str) -> None:
    assert kernels.parse_decimal(np.frombuffer(text.encode() + b"\n", np.uint8), 0, len(text)) == float(text)


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=6), unique=True, max_size=40))
def test_words_are_found_by_their_bytes(words: list[str]) -> None:
    words = [word for word in words if _is_proper(word)]
    lengths = [len(word.encode()) + 1 for word in words]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    forms = np.frombuffer("".join(f"{word}\n" for word in words).encode(), np.uint8)
    table = kernels.WordTable(forms, starts, *hash_table(len(words), np.int64))
    kernels.fill_word_table(table)
    for text in (words, [f"{word}x" for word in words], [word[1:] for word in words]):
        data = np.frombuffer("".join(f"{word}\n" for word in text).encode(), np.uint8)
        ends = np.cumsum([0, *(len(word.encode()) + 1 for word in text)])
        spans = np.stack([ends[:-1], ends[1:] - 1], axis=1).astype(np.int32)[:, None]
        expected = [words.index(word) if word in words else None for word in text]
        unknown = expected.index(None) if None in expected else len(text)
        found = np.empty((len(text), 1), np.int32)
        assert kernels.find_words(data, spans, table, found) == unknown
        assert found[:unknown, 0].tolist() == expected[:unknown]


def _is_proper(word: str) -> bool:
    try:
        return bool(word.encode() or True)
    except UnicodeEncodeError:
        return False


def test_the_first_line_that_is_wrong_is_named_whatever_else_is(tmp_path: Path) -> None:
    wrong = (
        PRUNED.replace("-0.4\ta b\t-0.15", "0.4\ta b").replace("-0.25\tb a", "-1\tb x").replace("-0.2\tb <", "\tb <")
    )
    for line, what in ((16, "at most 0"), (17, "x is not among the unigrams"), (18, "this has 2 fields")):
        (tmp_path / "bad.arpa").write_text(wrong)
        with pytest.raises(InputError, match=f"bad.arpa:{line}: .*{what}"):
            load(tmp_path / "bad.arpa")
        lines = wrong.split("\n")
        lines[line - 1] = "-0.4\t" + {16: "a b", 17: "b a", 18: "b b"}[line]
        wrong = "\n".join(lines)
    (tmp_path / "good.arpa").write_text(wrong)
    load(tmp_path / "good.arpa")


def test_a_header_may_promise_more_than_memory_holds(tmp_path: Path) -> None:
    (tmp_path / "bad.arpa").write_text(PRUNED.replace("ngram 3=2", "ngram 3=2147483647"))
    with pytest.raises(InputError, match=r"bad.arpa:23: this has 0 fields"):
        load(tmp_path / "bad.arpa")
