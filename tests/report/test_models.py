"""What the report and the explorer ask of any model."""

from __future__ import annotations

import pytest

from morphlm.report.models import model_names, vectors_of
from tests.report.cases import model


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/a/cs/mkn", "/a/cs/clbl++"], ["mkn", "clbl++"]),
        (["/a/cs/clbl", "/a/de/clbl", "/a/de/mkn/"], ["cs/clbl", "de/clbl", "mkn"]),
        (["/a/x/m", "/b/x/m", "/b/y/m"], ["a/x/m", "b/x/m", "y/m"]),
        (["/x/a/b/c/m", "/y/a/b/c/m"], ["m", "m-2"]),
        (["/x/m", "/x/m"], ["m", "m-2"]),
        (["/x/m", "/x/m", "/y/m"], ["m", "m-2", "y/m"]),
        (["/x/y/../m"], ["m"]),
        (["/"], ["model"]),
        (["-", "/x/m"], ["<stdin>", "m"]),
        (["/x/a\udcff"], ["a\ufffd"]),
    ],
)
def test_names_tell_models_apart_and_are_no_whole_paths(paths: list[str], names: list[str]) -> None:
    assert model_names(paths) == names


def test_a_mixture_has_what_its_parts_have() -> None:
    mixture, plain, ngrams = model("mixture"), model("clbl++"), model("mkn")
    assert len(mixture.parts) > 1
    assert mixture.partition is not None
    assert plain.partition is not None
    assert mixture.partition.to_tsv() == plain.partition.to_tsv()
    assert ngrams.partition is None
    assert vectors_of(ngrams) is None
    assert vectors_of(plain) is not None
