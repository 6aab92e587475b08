from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load
from morphlm.training.loop import TrainingRun
from tests.conftest import Outcome

MODELS = ("mkn 2-gram", "mkn 3-gram", "mkn 4-gram", "clbl", "clbl++")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No apt-get on this machine, and a small generated language."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("morphlm.text.datasets.registry.DEFAULT_SENTENCES", 400)


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
    assert [Path(model).name for model in result["models"]] == [
        *["gen.segmenter", "gen.classes.tsv", "gen.mkn2", "gen.mkn3", "gen.mkn4", "gen.clbl", "gen.clbl++"]
    ]
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


@pytest.mark.usefixtures("small")
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
    assert again.stderr.count("not trained again") == 2


@pytest.mark.usefixtures("small")
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
    assert "gen.clbl.checkpoint: this is of a demo with other data or another seed; it is removed" in outcome.stderr
    assert load(tmp_path / "demo" / "gen.clbl").training["seed"] == 2
    assert not (tmp_path / "demo" / "gen.clbl.checkpoint").exists()


def test_a_wrong_language_is_not_a_reason_to_fall_back(tmp_path: Path, morphlm_command: Callable[..., Outcome]) -> None:
    outcome = morphlm_command("demo", tmp_path / "demo", "--language", "xx")
    assert outcome.status == 2
    assert "not to be had in 'xx'" in outcome.stderr
