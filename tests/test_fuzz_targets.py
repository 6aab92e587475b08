"""The fuzz targets of `make fuzz` on a small fixed sample of inputs, and on what fuzzing has found."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzz.artefacts import make_artefacts
from fuzz.child import Findings, checked_run, folder_in_memory
from fuzz.mutations import mutate
from fuzz.targets import NumbaBoundsError, Target, make_targets, passes

from morphlm.errors import FormatError

pytestmark = pytest.mark.filterwarnings("ignore")  # of NumPy, about numbers too large for float32

MUTATIONS = 200
TARGETS = [
    *("text", "compressed", "prepare", "documents", "parallel", "parallel-pairs", "vocabulary", "help-page", "package"),
    *("classes", "conllu", "tagged", "morfessor", "gold", "factor-table", "similarity", "word-list", "analogies"),
    *(
        "vectors-word2vec",
        "vectors-fasttext",
        "vectors-npy",
        "vectors-safetensors",
        "arpa",
        "kbest",
        "weights",
        "pharaoh",
        "grammar",
    ),
    *("kbest-conversion", "segments", "tuning-lists"),
    *("recipe", "training-log", "preparation", "dataset", "experiment"),
]
# What lies behind hashes reaches kernels: mutations of it run in processes that check bounds (tests/full/test_fuzz.py).
BEHIND_HASHES = [
    *("tensors", "manifest", "model-mkn", "model-clbl++", "model-mixture", "model-compiled", "checkpoint", "segmenter"),
    *("analyser-morphemes", "analyser-ngrams", "analyser-pieces"),
    *("system", "bitext"),
]


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Target]]:
    artefacts = make_artefacts(tmp_path_factory.mktemp("fuzz") / "artefacts")
    with folder_in_memory() as scratch:
        yield make_targets(artefacts, scratch)


def test_every_target_is_listed(targets: dict[str, Target]) -> None:
    assert {name for name, target in targets.items() if target.behind_hashes} == set(BEHIND_HASHES)
    assert {*targets} == {*TARGETS, *BEHIND_HASHES}


@pytest.mark.parametrize("name", [*TARGETS, *BEHIND_HASHES])
def test_seeds_are_read(targets: dict[str, Target], name: str) -> None:
    for seed in targets[name].seeds:
        assert passes(targets[name], seed)


@pytest.mark.parametrize("name", TARGETS)
def test_mutations_are_read_or_refused(targets: dict[str, Target], name: str) -> None:
    target, rng = targets[name], random.Random(1)
    for _ in range(MUTATIONS):
        data = mutate(rng, rng.choice(target.seeds), target.tokens)
        try:
            passes(target, data)
        except Exception as error:
            raise AssertionError(f"{name} neither reads nor refuses {data!r}") from error


def test_mutations_are_the_same_every_time() -> None:
    first, second = ([mutate(rng, b'{"a": [1, 2]}\n', [b"x"]) for _ in range(50)] for rng in map(random.Random, (1, 1)))
    assert first == second
    assert len(set(first)) > 25


def test_mutations_get_behind_the_hashes(targets: dict[str, Target]) -> None:
    target = targets["model-mkn"]
    (vocabulary,) = (seed for seed in target.seeds if seed.endswith(b"\n") and b"<unk>\t" in seed)
    assert passes(target, vocabulary.replace(b"<unk>\t0", b"<unk>\t7"))
    with pytest.raises(FormatError, match=r"vocabulary\.tsv has \d+ lines, not \d+"):
        target.run(vocabulary + b"more\t1\n")


def test_an_overrun_that_became_an_error_of_morphlm_is_a_finding() -> None:
    def overrun(_: bytes) -> None:
        try:
            raise IndexError("index is out of bounds")  # as compiled code raises it
        except IndexError as error:
            raise FormatError("parts do not fit") from error

    with pytest.raises(NumbaBoundsError):
        passes(Target(overrun, []), b"")


def test_the_smallest_input_of_a_finding_is_kept(tmp_path: Path) -> None:
    def read(data: bytes) -> None:
        json.loads(data)

    run = checked_run(Target(read, []), Findings(tmp_path / "findings"))
    assert run(b"[]")
    assert not list(tmp_path.iterdir())
    for data in (b"[[1,", b"[", b"[,,,"):
        assert not run(data)
    finding, explanation = sorted((tmp_path / "findings").iterdir())
    assert finding.read_bytes() == b"["
    assert "JSONDecodeError" in finding.name
    assert "Traceback" in explanation.read_text()
