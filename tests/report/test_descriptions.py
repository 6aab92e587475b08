"""What a model is, in plain words."""

from __future__ import annotations

import pytest

from morphlm.logbilinear.config import VARIANTS
from morphlm.ngram.training import train_ngram
from morphlm.report.descriptions import describe_model
from tests.report.cases import KINDS, model
from tests.segmentation.small import model_with


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_sentence(kind: str) -> None:
    text = describe_model(model(kind))
    assert text[0].isupper()
    assert text.endswith(".")


def test_what_is_said_of_each() -> None:
    assert "modified Kneser-Ney smoothing: it counts which words follow the word before" in describe_model(model("mkn"))
    assert "follow the 2 words before" in describe_model(train_ngram([["a", "b"]], 3))
    assert describe_model(model("mixture")).startswith("A mixture of clbl++ and lbl: ")
    classes = model("clbl").partition
    assert classes is not None
    assert f"first its class ({classes.classes} classes), then the word" in describe_model(model("clbl"))


def test_variants_differ_in_what_they_know_of_parts() -> None:
    said = {kind: describe_model(model_with(kind=kind)) for kind in VARIANTS}
    assert len(set(said.values())) == len(VARIANTS)
    assert [kind for kind, text in said.items() if "words that it has never seen" in text] == ["lbl++", "clbl++"]
