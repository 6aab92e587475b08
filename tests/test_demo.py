from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load
from tests.conftest import Outcome


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
    for model, (_, test) in zip(
        result["models"][2:], zip(*[iter(result["perplexities"])] * 2, strict=True), strict=True
    ):
        text = tmp_path / "demo" / "test.gen.prepared.txt"
        assert load(model).perplexity(text).including_unknown == pytest.approx(test["perplexity_including_unknown"])


def test_a_wrong_language_is_not_a_reason_to_fall_back(tmp_path: Path, morphlm_command: Callable[..., Outcome]) -> None:
    outcome = morphlm_command("demo", tmp_path / "demo", "--language", "xx")
    assert outcome.status == 2
    assert "not to be had in 'xx'" in outcome.stderr
