from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm import load
from morphlm.training.loop import TrainingRun
from tests.conftest import Outcome

MODELS = ("mkn2", "mkn3", "mkn4", "clbl", "clbl++", "mkn4 + clbl++")
PLACES = ("segmenter", "classes.tsv", "mkn2", "mkn3", "mkn4", "clbl", "clbl++", "mixture")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No apt-get on this machine, and a small generated language."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # else scikit-learn runs a program to count the cores
    monkeypatch.setattr("morphlm.text.datasets.registry.DEFAULT_SENTENCES", 400)


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what does not look at it: its map of morphemes takes longer than all trainings."""
    monkeypatch.setattr("morphlm.experiments.demo.write_report", lambda scored, out: None)


@pytest.mark.usefixtures("small")
def test_the_demo_falls_back_to_the_generated_language_and_says_so(
    tmp_path: Path, morphlm_command: Callable[..., Outcome]
) -> None:
    outcome = morphlm_command("demo", tmp_path / "demo", "--json")
    assert outcome.status == 0
    assert "apt-get is not on this machine" in outcome.stderr
    assert "generated language" in outcome.stderr
    result = json.loads(outcome.stdout)
    assert result["data"] == "generated"
    assert [row["sentences"] for row in result["corpus"]] == [360, 20, 20]
    assert len(result["morphemes"]) == 10
    assert all(" + " in line and "/STM" in line for line in result["morphemes"])
    assert len(result["classes"]) == 5
    assert (tmp_path / "demo" / "gen.classes.tsv").is_file()
    assert [Path(model).name for model in result["models"]] == [f"gen.{name}" for name in PLACES]
    names = [f"{model}, {part}" for model in MODELS for part in ("dev", "test")]
    assert [row["name"] for row in result["perplexities"]] == names
    for place, (dev, test) in zip(
        result["models"][2:], zip(*[iter(result["perplexities"])] * 2, strict=True), strict=True
    ):
        model = load(place)
        for part, row in (("dev", dev), ("test", test)):
            text = tmp_path / "demo" / f"{part}.gen.prepared.txt"
            assert model.perplexity(text).including_unknown == pytest.approx(row["perplexity_including_unknown"])
            assert row["signature"] == str(model.signature)
    check_mixture(result)
    check_vectors(result)
    check_report(result)


def check_mixture(result: dict[str, Any]) -> None:
    """Mixed by context, and better than its parts on the text that its weights were fitted to."""
    dev = {row["name"]: row["perplexity_including_unknown"] for row in result["perplexities"][::2]}
    assert dev["mkn4 + clbl++, dev"] < min(dev["mkn4, dev"], dev["clbl++, dev"])
    mixture = load(result["models"][-1])
    assert mixture.signature.value("weights") == "context"
    assert result["weights"] == dict(zip(("mkn4", "clbl++"), mixture.training["weights"], strict=True))


def check_report(result: dict[str, Any]) -> None:
    """A page in the demo's folder, with the figures of the four models on the test text."""
    place = Path(result["report"])
    assert place == Path(result["models"][0]).parent / "report.html"
    page = place.read_text()
    test = {row["name"]: row["perplexity_including_unknown"] for row in result["perplexities"][1::2]}
    for name in ("mkn4", "clbl", "clbl++", "mkn4 + clbl++"):
        assert f">{name}</th>" in page
        assert f">{test[f'{name}, test']:,.2f}</td>" in page


def check_vectors(result: dict[str, Any]) -> None:
    """Neighbours of three frequent words, and of two that only the test text has, of morphemes that are known."""
    place = Path(result["models"][0]).parent
    train, test = (set((place / f"{part}.gen.prepared.txt").read_text().split()) for part in ("train", "test"))
    vectors = load(place / "gen.clbl++").vectors
    known, new = result["neighbours"], result["composed"]
    assert [(answer["understood"], answer["query"] in train) for answer in known] == [("known", True)] * 3
    assert [(answer["understood"], answer["query"] in train) for answer in new] == [("composed", False)] * 2
    for answer in [*known, *new]:
        nearest = vectors.neighbours(answer["query"], 6)
        assert [near["name"] for near in answer["neighbours"]] == [near.name for near in nearest]
        assert [near["similarity"] for near in answer["neighbours"]] == pytest.approx([near[1] for near in nearest])
    for answer in new:
        assert answer["query"] in test
        assert answer["query"] == "".join(name.partition("/")[0] for name in answer["morphemes"])
        assert len(answer["morphemes"]) > 1
        total = sum(vectors.morpheme(name) for name in answer["morphemes"])
        np.testing.assert_allclose(vectors[answer["query"]], total, rtol=1e-5, atol=1e-6)
    assert not {*new[0]["morphemes"]} & {*new[1]["morphemes"]}


@pytest.mark.usefixtures("small", "no_report")
def test_an_interrupted_demo_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Callable[..., Outcome]
) -> None:
    evaluations = 0
    original = TrainingRun._evaluate

    def interrupt(self: TrainingRun) -> None:
        nonlocal evaluations
        evaluations += 1
        self._interrupted = evaluations == 2  # as Ctrl-C would
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_evaluate", interrupt)
        assert morphlm_command("demo", tmp_path / "demo").status == 130
    assert (tmp_path / "demo" / "gen.clbl.checkpoint").is_dir()
    outcome = morphlm_command("demo", tmp_path / "demo")
    assert outcome.status == 0
    assert "resuming after epoch" in outcome.stderr
    again = morphlm_command("demo", tmp_path / "demo")
    assert again.stdout == outcome.stdout
    assert again.stderr.count(f": found in {tmp_path / 'demo'}/gen.") == 5


@pytest.mark.usefixtures("small", "no_report")
def test_a_demo_with_another_seed_does_not_go_on_with_an_interrupted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Callable[..., Outcome]
) -> None:
    original = TrainingRun._evaluate

    def interrupt(self: TrainingRun) -> None:
        self._interrupted = True  # as Ctrl-C would
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_evaluate", interrupt)
        assert morphlm_command("demo", tmp_path / "demo").status == 130
    outcome = morphlm_command("demo", tmp_path / "demo", "--seed", "2", "--json")
    assert outcome.status == 0
    assert "gen.clbl.checkpoint: this is a training of other data or settings; it is removed" in outcome.stderr
    assert load(tmp_path / "demo" / "gen.clbl").training["seed"] == 2
    assert not (tmp_path / "demo" / "gen.clbl.checkpoint").exists()


def test_a_wrong_language_is_not_a_reason_to_fall_back(tmp_path: Path, morphlm_command: Callable[..., Outcome]) -> None:
    outcome = morphlm_command("demo", tmp_path / "demo", "--language", "xx")
    assert outcome.status == 2
    assert "no text in 'xx'" in outcome.stderr
