from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm import load
from morphlm.errors import FormatError
from morphlm.modelfile import TENSORS, read_model, write_model
from morphlm.ngram.bounded import plan
from morphlm.ngram.model import NgramModel
from morphlm.ngram.quantised import FINE_BINS, LEVELS, choose_levels, pack, quantise, round_to_levels, unpack
from morphlm.ngram.training import train_ngram
from morphlm.schema import SchemaError
from tests.conftest import GOLDEN
from tests.strategies import texts

KENLM = GOLDEN / "kneser-ney"
TRIE_ARRAYS = ("words", "logprob", "suffix", "backoff", "first_child")
values = st.lists(
    st.floats(-30, 3, width=32).filter(lambda x: x == 0 or abs(x) > 1e-5) | st.sampled_from([0.0, -np.inf]), min_size=1
)


@settings(deadline=None)
@given(texts, st.integers(1, 5))
def test_packing_and_unpacking_give_the_trie_again(text: list[list[str]], order: int) -> None:
    trie = quantise(train_ngram(text, order).trie)
    found = unpack(pack(trie), trie.sizes)
    for name in TRIE_ARRAYS:
        assert getattr(found, name).dtype == getattr(trie, name).dtype
        assert getattr(found, name).tobytes() == getattr(trie, name).tobytes(), name


@given(values)
def test_few_values_are_their_own_levels(numbers: list[float]) -> None:
    given_values = np.array(numbers, np.float32)
    rounded = round_to_levels(given_values, choose_levels(given_values))
    finite = np.isfinite(given_values)
    np.testing.assert_array_equal(finite, np.isfinite(rounded))
    np.testing.assert_array_equal(given_values == 0, rounded == 0)
    # Only values that share one of 2^16 bins are joined.
    width = float(np.ptp(given_values[finite])) / FINE_BINS if finite.any() else 0.0
    np.testing.assert_allclose(rounded[finite], given_values[finite], atol=2 * width + 1e-6)


def test_many_values_err_as_little_as_lloyd_s_levels_do() -> None:
    """Of a uniform distribution the best 254 levels have a mean squared error of (1/254)^2 / 12."""
    numbers = -np.random.default_rng(1).random(200_000).astype(np.float32)
    levels = choose_levels(numbers)
    error = float(np.mean((round_to_levels(numbers, levels) - numbers) ** 2))
    assert len(levels) <= LEVELS - 2
    assert (np.diff(levels) > 0).all()
    assert error == pytest.approx(1 / 254**2 / 12, rel=0.03)


def test_a_quantised_model_is_small_and_nearly_as_good(tmp_path: Path) -> None:
    exact = train_ngram(KENLM / "train.txt", 4, out=tmp_path / "exact")
    model = train_ngram(KENLM / "train.txt", 4, quantise=True, out=tmp_path / "quantised")
    loaded = load(tmp_path / "quantised")
    assert isinstance(loaded, NgramModel)
    assert loaded.is_quantised
    perplexities = [one.perplexity(KENLM / "test.txt").including_unknown for one in (exact, model, loaded)]
    assert perplexities[1] == perplexities[2]
    assert perplexities[1] == pytest.approx(perplexities[0], rel=0.002)
    for n, (begin, size) in enumerate(zip(np.cumsum([0, *model.trie.sizes]), model.trie.sizes, strict=False), 1):
        if n > 1:
            assert len(np.unique(model.trie.logprob[begin : begin + size])) <= LEVELS
    sizes = [(tmp_path / name / TENSORS).stat().st_size for name in ("exact", "quantised")]
    assert sizes[1] < 0.32 * sizes[0]
    # Saved again it is the same.
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / TENSORS).read_bytes() == (tmp_path / "quantised" / TENSORS).read_bytes()


def test_back_off_weights_of_nothing_stay_nothing() -> None:
    trie = train_ngram(KENLM / "train.txt", 3).trie
    np.testing.assert_array_equal(quantise(trie).backoff == 0, trie.backoff == 0)


def test_counted_on_disk_the_quantised_model_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_ngram(KENLM / "train.txt", 3, quantise=True, out=tmp_path / "in_memory")
    monkeypatch.setattr(plan, "available_memory", lambda: 1000)
    monkeypatch.setattr(plan, "_block_bytes", lambda *_: 20_000)
    train_ngram(KENLM / "train.txt", 3, quantise=True, temporary=tmp_path / "temporary", out=tmp_path / "on_disk")
    for name in ("manifest.json", TENSORS):
        assert (tmp_path / "on_disk" / name).read_bytes() == (tmp_path / "in_memory" / name).read_bytes()


@pytest.mark.parametrize(
    ("tensor", "place", "value", "message"),
    [
        ("words", 0, 255, "a word is not in the vocabulary"),
        ("words", 1, 0, "the words after a context are not sorted"),
        ("children", 3, 255, "there are not as many large numbers of children as n-grams with them"),
        ("children", 3, 200, "the n-grams of an order are not the children of those of the order below"),
        ("many_children", None, [7], "there are not as many large numbers of children as n-grams with them"),
    ],
)
def test_files_that_are_no_trie_are_refused(
    tmp_path: Path, tensor: str, place: int | None, value: int | list[int], message: str
) -> None:
    train_ngram([["a", "b", "a"], ["b", "a"], ["c"]], 3, quantise=True, out=tmp_path / "model")
    files = read_model(tmp_path / "model")
    tensors = {name: np.array(array) for name, array in files.tensors.items()}
    if place is None:
        tensors[tensor] = np.array(value)
    else:
        tensors[tensor][place] = value
    write_model(tmp_path / "model", files.__class__(**{**vars(files), "tensors": tensors, "parts": {}, "digest": ""}))
    with pytest.raises(FormatError, match=message):
        load(tmp_path / "model")


def test_a_missing_suffix_is_refused(tmp_path: Path) -> None:
    train_ngram([["a", "b", "a"], ["b", "a"], ["c"]], 3, quantise=True, out=tmp_path / "model")
    trie = load(tmp_path / "model").trie  # type: ignore[attr-defined]
    sizes = trie.sizes
    children = np.diff(trie.first_child)
    # The first trigram, a, moves to another word: no bigram ends so.
    packed = pack(trie)
    context = int(np.searchsorted(np.cumsum(children), sizes[1], side="right"))
    assert context >= sizes[0]
    place = int(trie.first_child[context]) - sizes[0]
    packed["words"] = packed["words"].copy()
    packed["words"][place] = 0
    with pytest.raises(SchemaError, match="the suffix of an n-gram is missing"):
        unpack(packed, sizes)


def test_plain_models_are_what_they_were(tmp_path: Path) -> None:
    model = train_ngram(KENLM / "small.txt", 3, out=tmp_path / "model")
    manifest = json.loads((tmp_path / "model/manifest.json").read_text())
    assert manifest["configuration"] == {"order": 3, "sizes": list(model.trie.sizes)}
    assert not {"prune", "quantise"} & manifest["training"].keys()


def test_an_extended_model_is_not_packed(tmp_path: Path) -> None:
    """Its new words are members of UNK, which the compact file cannot say."""
    model = train_ngram([["a", "b", "a"], ["b", "a"], ["c"]], 2, quantise=True)
    extended = model.extended(["d"])
    extended.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, NgramModel)
    assert not loaded.is_quantised
    assert loaded.sentence(["a", "d", "b"]) == extended.sentence(["a", "d", "b"])
