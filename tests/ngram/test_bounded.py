from __future__ import annotations

import errno
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm import load, memory
from morphlm.arrays import Array, is_rising
from morphlm.cli import train_mkn
from morphlm.errors import ConfigError, FileAccessError
from morphlm.memory import parse_memory
from morphlm.ngram import counting
from morphlm.ngram.bounded import plan
from morphlm.ngram.bounded.counting import BlockSizes, count_on_disk
from morphlm.ngram.bounded.estimation import estimate_on_disk
from morphlm.ngram.bounded.storage import TemporaryFolder
from morphlm.ngram.counting import count_ngrams, pruning_thresholds
from morphlm.ngram.discounts import Discounts
from morphlm.ngram.estimation import estimate
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.ngram.trie import NgramTrie
from morphlm.vocabulary import corpus as corpus_module
from morphlm.vocabulary.corpus import Corpus, read_corpus
from tests.conftest import GOLDEN, Outcome
from tests.ngram.test_training import assert_same_arpa
from tests.strategies import texts

KENLM = GOLDEN / "kneser-ney"
TRIE_ARRAYS = ("words", "logprob", "suffix", "backoff", "first_child")
TINY = BlockSizes(tokens=3, records=7, merged=5, merge_bytes=128, place_bits=2, range_bits=3, ngrams=4)
block_sizes = st.builds(
    BlockSizes,
    tokens=st.integers(1, 9),
    records=st.integers(2, 20),
    merged=st.integers(1, 9),
    merge_bytes=st.integers(1, 400),
    place_bits=st.integers(0, 5),
    range_bits=st.integers(0, 6),
    ngrams=st.integers(1, 9),
)


def corpus_of(text: list[list[str]] | Path, kappa: float = 0.0) -> Corpus:
    raw = read_corpus(text)
    return raw.encode(raw.words.vocabulary(kappa, 1))


def on_disk(
    corpus: Corpus, order: int, sizes: BlockSizes, prune: tuple[int, ...] = (), *, is_open: bool = True
) -> tuple[NgramTrie, list[Discounts]]:
    thresholds = pruning_thresholds(prune, order)
    with TemporaryFolder() as folder:
        counts = count_on_disk(corpus, order, thresholds, folder, sizes)
        return estimate_on_disk(counts, open_vocabulary=is_open, folder=folder, sizes=sizes, is_pruned=any(thresholds))


def assert_same_bytes(found: NgramTrie, expected: NgramTrie) -> None:
    assert found.sizes == expected.sizes
    for name in TRIE_ARRAYS:
        one, other = getattr(found, name), getattr(expected, name)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes(), name


@settings(deadline=None)
@given(texts, st.integers(1, 6), block_sizes, st.sampled_from([(), (0, 1), (0, 0, 1), (0, 0, 1, 2), (0, 3)]))
def test_counting_on_disk_gives_the_bytes_of_counting_in_memory(
    text: list[list[str]], order: int, sizes: BlockSizes, prune: tuple[int, ...]
) -> None:
    corpus, prune = corpus_of(text), prune[:order]
    expected = estimate(count_ngrams(corpus, order, prune), open_vocabulary=True)
    found = on_disk(corpus, order, sizes, prune)
    assert_same_bytes(found[0], expected[0])
    assert found[1] == expected[1]


@pytest.mark.parametrize("order", [3, 6])
@pytest.mark.parametrize("prune", [(), (0, 0, 1)])
def test_the_bytes_are_the_same_for_a_real_text_with_many_runs(order: int, prune: tuple[int, ...]) -> None:
    corpus = corpus_of(KENLM / "train.txt", kappa=0.3)
    sizes = BlockSizes(
        tokens=1000, records=3001, merged=777, merge_bytes=1 << 14, place_bits=12, range_bits=11, ngrams=1500
    )
    expected, discounts = estimate(count_ngrams(corpus, order, prune), open_vocabulary=True)
    found, found_discounts = on_disk(corpus, order, sizes, prune)
    assert_same_bytes(found, expected)
    assert found_discounts == discounts
    assert all(np.isfinite(found.logprob[2:]))


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 5))
def test_whether_an_array_rises_does_not_depend_on_the_blocks(numbers: list[int], size: int) -> None:
    assert is_rising(np.array(numbers), size) == (numbers == sorted(numbers))


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fits into memory, and a run has a few hundred records."""
    monkeypatch.setattr(plan, "available_memory", lambda: 1000)
    monkeypatch.setattr(plan, "_block_bytes", lambda *_: 20_000)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("prune", [(), (0, 1)])
def test_a_model_is_the_same_to_the_byte_when_it_is_counted_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: int, prune: tuple[int, ...]
) -> None:
    prune, temporary = prune[:order], tmp_path / "temporary"
    model = train_ngram(KENLM / "train.txt", order, prune=prune, temporary=temporary, out=tmp_path / "on_disk")
    model.write_arpa(tmp_path / "on_disk.arpa")
    assert isinstance(base_of(model.trie.logprob), mmap.mmap)
    monkeypatch.undo()
    expected = train_ngram(KENLM / "train.txt", order, prune=prune, out=tmp_path / "in_memory")
    expected.write_arpa(tmp_path / "in_memory.arpa")
    assert base_of(expected.trie.logprob) is None
    for name in ("manifest.json", "tensors.safetensors", "vocabulary.tsv"):
        assert (tmp_path / "on_disk" / name).read_bytes() == (tmp_path / "in_memory" / name).read_bytes()
    assert (tmp_path / "on_disk.arpa").read_bytes() == (tmp_path / "in_memory.arpa").read_bytes()
    assert load(tmp_path / "on_disk").sentence(["a", "b"]) == expected.sentence(["a", "b"])
    assert list(temporary.iterdir()) == []


def base_of(array: Array) -> object:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base.obj if isinstance(base, memoryview) else base


def test_pruned_models_are_lmplz_s(tmp_path: Path) -> None:
    model = train_ngram(KENLM / "small.txt", 3, prune=(0, 1))
    assert_same_arpa(model, (KENLM / "small.order3.prune01.arpa").read_text(), tmp_path)
    assert model.training["prune"] == (0, 1)
    assert "prune" not in train_ngram(KENLM / "small.txt", 3, prune=(0, 0)).training


@pytest.mark.usefixtures("little_memory")
def test_a_disk_too_small_is_refused_before_counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5000))
    with pytest.raises(FileAccessError, match=r"counting on disk needs about \d+ [kM]B here, and 5 kB are free; make"):
        train_ngram(KENLM / "train.txt", 3, temporary=tmp_path)


@pytest.mark.usefixtures("little_memory")
def test_a_disk_that_fills_up_is_one_line_with_the_space_that_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def write(descriptor: int, data: memoryview, offset: int) -> int:
        nonlocal written
        written += len(data)
        if written > 1_000_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return pwrite(descriptor, data, offset)

    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", write)
    with pytest.raises(FileAccessError) as caught:
        train_ngram(KENLM / "train.txt", 4, temporary=tmp_path, out=tmp_path / "model")
    message = str(caught.value)
    assert re.fullmatch(
        rf"{tmp_path}: the disk is full; counting needs about \d+ MB of temporary files here: make room or name "
        r"another folder by temporary=",
        message,
    )
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys
from collections.abc import Callable
from morphlm.ngram.bounded import plan
from morphlm.ngram.bounded.counting import TextStream
plan.available_memory = lambda: 1000
plan._block_bytes = lambda *_: 20_000
blocks = TextStream.blocks
def announced(self):
    for number, block in enumerate(blocks(self)):
        if number == 100:
            print("counting", flush=True)
        yield block
TextStream.blocks = announced
from morphlm.cli.main import run
run(sys.argv[1:])
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_nothing_is_left_on_any_way_out(tmp_path: Path, number: int, status: int) -> None:
    text, temporary = tmp_path / "text", tmp_path / "temporary"
    text.write_text((KENLM / "train.txt").read_text() * 20)
    command = ["train", "mkn", str(text), "--out", str(tmp_path / "model"), "--temporary", str(temporary)]
    with subprocess.Popen([sys.executable, "-c", KILLED, *command], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"counting\n"
        process.send_signal(number)
        assert process.wait() == status
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("value", "size"), [("512M", 512 << 20), ("4G", 4 << 30), ("1.5 GB", 3 << 29), (1 << 30, 1 << 30), ("2t", 2 << 40)]
)
def test_sizes_of_memory_are_read_as_lmplz_reads_them(value: int | str, size: int) -> None:
    assert parse_memory(value) == size


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("511M", "memory= 511M is too little, the program itself takes a good part of it; give at least 512M"),
        (1000, "memory= 1000 is too little, the program itself takes a good part of it; give at least 512M"),
        ("much", "memory is 'much'; give a size such as 512M or 4G"),
        (True, "memory is True; give a size such as 512M or 4G"),
    ],
)
def test_sizes_that_are_none_are_refused(value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        train_ngram([["a"]], 2, memory=value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("prune", "message"),
    [
        ((0, 2, 1), "the pruning thresholds 0 2 1 fall; each must be at least the one before it"),
        ((1,), "the pruning thresholds 1 begin with 1, but single words are not pruned by their count; begin with 0"),
        ((0, 0, 0, 1), "there are 4 pruning thresholds for an order of 3; give at most one each"),
        ((0, -1), "a pruning threshold is -1; it must be a whole number from 0 on"),
    ],
)
def test_thresholds_that_lmplz_would_not_take_are_refused(prune: tuple[int, ...], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        train_ngram([["a"]], 3, prune=prune)
    assert str(caught.value).startswith(message)


@given(texts, st.integers(2, 5))
def test_the_survey_is_nearly_exact_for_small_texts(text: list[list[str]], order: int) -> None:
    """Of 50 n-grams, one pair or two may share one of 2^14 registers."""
    corpus = corpus_of(text)
    found = plan.survey_text(corpus, order)
    expected = [len(counts) for counts in count_ngrams(corpus, order).orders]
    assert found.ngrams == pytest.approx(expected, abs=2.5)
    assert found.positions == len(corpus.tokens) + corpus.sentences


def test_the_survey_errs_little() -> None:
    """The standard error of 2^14 registers is 1.04 / 128 = 0.8 %; the hashes are fixed, so the text decides."""
    corpus = corpus_of(KENLM / "train.txt")
    expected = [len(counts) for counts in count_ngrams(corpus, 5).orders]
    assert plan.survey_text(corpus, 5).ngrams == pytest.approx(expected, rel=0.02)


def test_memory_of_control_groups_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n",
        "proc/self/cgroup": "4:memory:/outer/inner\n1:cpu:/\n0::/scope\n",
        "groups/memory/outer/memory.limit_in_bytes": "3000000",
        "groups/memory/outer/memory.usage_in_bytes": "1000000",
        "groups/memory/outer/memory.stat": "cache 7\ntotal_inactive_file 200000\n",
        "groups/scope/memory.max": "max\n",
        "groups/scope/memory.current": "5\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "groups")
    assert memory.available_memory() == 2_200_000
    (tmp_path / "groups/memory/outer/memory.limit_in_bytes").write_text(str(2**63 - 4096))
    assert memory.available_memory() == 5000 * 1024
    (tmp_path / "groups/scope/memory.max").write_text("4000005\n")
    (tmp_path / "groups/scope/memory.stat").write_text("inactive_file 0\n")
    assert memory.available_memory() == 4_000_000


def test_more_words_than_the_memory_holds_are_refused_while_the_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "_CHECKED_TOKENS", 1)
    monkeypatch.setattr(corpus_module, "resident_memory", lambda: 600 << 20)
    with pytest.raises(ConfigError, match=r"take 629 MB of the 537 MB that are allowed; give more memory=, or a voc"):
        train_ngram([["a", "b"]], 2, memory="512M")


def test_more_tokens_than_positions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_TOKENS", 5)
    with pytest.raises(ConfigError, match="4 tokens are too many for one model, which takes 5 with the begins"):
        train_ngram([["a"], ["b"]], 2)


def test_too_little_memory_for_the_words_is_refused_before_counting() -> None:
    assert plan._block_bytes(800 << 20, 500 << 20) == (300 << 20) - plan.RESERVED_BYTES
    with pytest.raises(ConfigError, match=r"take 619 MB of the 629 MB that are allowed; give more memory="):
        plan._block_bytes(600 << 20, 590 << 20)


@pytest.mark.parametrize(
    ("arguments", "joined"),
    [
        (["a.txt", "--prune", "0", "0", "1", "b.txt"], ["a.txt", "--prune", "0 0 1", "b.txt"]),
        (["--prune", "0", "1"], ["--prune", "0 1"]),
        (["--prune", "0,1", "2"], ["--prune", "0,1", "2"]),
        (["--prune"], ["--prune"]),
        (["7"], ["7"]),
    ],
)
def test_whole_numbers_after_prune_are_its_value(arguments: list[str], joined: list[str]) -> None:
    assert train_mkn._joined_thresholds(arguments) == joined


def test_the_command_prunes_and_quantises(tmp_path: Path, morphlm_command: Callable[..., Outcome]) -> None:
    """In a process of its own: `--memory` is for all that a process takes, and that of the tests has a history."""
    arguments = [str(KENLM / "small.txt"), "--order", "3", "--out", str(tmp_path / "model"), "--memory", "1G"]
    command = [sys.executable, "-m", "morphlm", "train", "mkn", *arguments, "--prune", "0", "1", "--quantise", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    expected = train_ngram(KENLM / "small.txt", 3, prune=(0, 1), quantise=True)
    found = load(tmp_path / "model")
    assert isinstance(found, NgramModel)
    assert found.trie.sizes == expected.trie.sizes
    assert found.sentence(["a", "b"]) == expected.sentence(["a", "b"])
    for wrong in (["--prune"], ["--prune", "x"]):
        assert morphlm_command("train", "mkn", *arguments, *wrong).status == 2
