"""`morphlm train cache`, `morphlm cache`, and `--continuous`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load
from tests.cache.small import ngrams, wide_model
from tests.conftest import Outcome
from tests.training.small import sentences

Command = Callable[..., Outcome]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log-bilinear model, n-grams of the same vocabulary, and texts."""
    place = tmp_path_factory.mktemp("caches")
    wide_model().save(place / "clbl++")
    ngrams().save(place / "mkn")
    for name, seed in (("train", 1), ("dev", 2), ("test", 3)):
        text = "".join(" ".join(sentence) + "\n" for sentence in sentences(40, seed))
        (place / f"{name}.txt").write_text(text)
    return place


def test_a_cache_is_trained_mixed_and_scored(folder: Path, tmp_path: Path, morphlm_command: Command) -> None:
    texts = [folder / "train.txt", "--dev", folder / "dev.txt", "--vocab", folder / "mkn" / "vocabulary.tsv"]
    done = morphlm_command("train", "cache", *texts, "--window", "30", "--out", tmp_path / "cache", "--json")
    assert done.status == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["kind"], result["training"]["window"]) == ("cache", 30)
    assert result["training"]["decay"] == load(tmp_path / "cache").training["decay"]
    mixed = ["mix", folder / "mkn", tmp_path / "cache", "--dev", folder / "dev.txt", "--out", tmp_path / "mixture"]
    assert morphlm_command(*mixed).status == 0
    alone, together = (
        [float(line.split("\t")[0]) for line in morphlm_command(*score).stdout.splitlines()]
        for score in (
            ["score", tmp_path / "mixture", folder / "test.txt"],
            ["score", tmp_path / "mixture", folder / "test.txt", "--continuous"],
        )
    )
    assert alone[0] == together[0]
    assert alone[1:] != together[1:]
    ppl = json.loads(morphlm_command("ppl", tmp_path / "mixture", folder / "test.txt", "--json").stdout)
    assert sum(together) == pytest.approx(ppl[0]["logprob"], abs=0.01)


def test_a_neural_cache_is_added_and_measured(folder: Path, tmp_path: Path, morphlm_command: Command) -> None:
    texts = ["--dev", folder / "dev.txt", "--test", folder / "test.txt", "--window", "40"]
    done = morphlm_command("cache", folder / "clbl++", *texts, "--out", tmp_path / "cached", "--json")
    assert (done.status, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    ppl = json.loads(morphlm_command("ppl", tmp_path / "cached", folder / "test.txt", "--json").stdout)
    cached = result["test"]["cache"]["perplexity_including_unknown"]
    assert ppl[0]["perplexity_including_unknown"] == pytest.approx(cached, rel=1e-9)
    development = result["development"]
    assert development["cache"]["logprob"] >= development["model"]["logprob"]
    table = morphlm_command("cache", folder / "clbl++", *texts, "--out", tmp_path / "cached")
    assert f"with the cache {cached:.2f}" in table.stdout


def test_what_has_no_predictions_is_refused(folder: Path, tmp_path: Path, morphlm_command: Command) -> None:
    done = morphlm_command("cache", folder / "mkn", "--dev", folder / "dev.txt", "--out", tmp_path / "cached")
    assert done.status == 2
    assert "a neural cache needs the predictions of a log-bilinear model, which mkn is not" in done.stderr
    assert not (tmp_path / "cached").exists()


def test_all_kinds_are_those_that_stand_alone(morphlm_command: Command) -> None:
    """Caches are of use in mixtures only."""
    listed = morphlm_command("train", "--help").stdout
    assert "morpheme-cache" in listed
    done = morphlm_command("train", "--all", "--kinds", "cach", "--train", "x", "--dev", "y", "--out", "z")
    assert "do you mean" in done.stderr
