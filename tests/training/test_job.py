"""The key of a model: another one for whatever its training depends on, the same for how it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.kinds import ModelKind
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.settings import Settings, setting
from morphlm.training.inputs import InputOptions, TrainingInputs, prepare_inputs
from morphlm.training.job import RunOptions, TrainingJob
from morphlm.vocabulary.vocabulary import Vocabulary

SENTENCES = [["na", "dom"], ["dom"], ["škola", "na"]] * 4


@dataclass(frozen=True)
class Options(Settings):
    alpha: float = setting(0.1, "Added to every count.", above=0)


KIND = ModelKind("own", "A kind.", "somewhere:read", "somewhere:train", needs_factors=True, needs_classes=True)


@pytest.fixture(scope="module")
def job() -> TrainingJob:
    options = InputOptions(kappa=0.0, factors=character_ngrams(2, 2), classes=2, class_method="frequency")
    return TrainingJob(KIND, prepare_inputs(SENTENCES, SENTENCES[:2], options), Options(), RunOptions())


def with_inputs(job: TrainingJob, **changes: Any) -> TrainingJob:
    return replace(job, inputs=replace(job.inputs, **changes))


def with_vocabulary(job: TrainingJob, change: Callable[[Vocabulary], Vocabulary]) -> TrainingJob:
    return with_inputs(job, train=replace(job.inputs.train, vocabulary=change(job.inputs.vocabulary)))


def other_dev(inputs: TrainingInputs) -> Any:
    corpus = replace(inputs.dev.corpus, tokens=inputs.dev.corpus.tokens[::-1].copy())
    return replace(inputs.dev, corpus=corpus)


def other_factors(inputs: TrainingInputs) -> Any:
    return build_factors(inputs.vocabulary, character_ngrams(3, 3))


def other_classes(inputs: TrainingInputs) -> Any:
    assert inputs.partition is not None
    return replace(inputs.partition, class_of=1 - inputs.partition.class_of)


CHANGES: dict[str, Callable[[TrainingJob], TrainingJob]] = {
    "kind": lambda job: replace(job, kind=replace(KIND, name="other")),
    "revision": lambda job: replace(job, kind=replace(KIND, revision=2)),
    "options": lambda job: replace(job, options=Options(alpha=0.2)),
    "training text": lambda job: with_inputs(
        job, train=replace(job.inputs.train, tokens=np.roll(job.inputs.train.tokens, 1))
    ),
    "development text": lambda job: with_inputs(job, dev=other_dev(job.inputs)),
    "words": lambda job: with_vocabulary(job, lambda v: replace(v, words=(*v.words[:-1], "město"))),
    "counts": lambda job: with_vocabulary(job, lambda v: replace(v, counts=v.counts + 1)),
    "record": lambda job: with_inputs(job, record=job.inputs.record | {"kappa": 0.5}),
    "factors": lambda job: with_inputs(job, factors=other_factors(job.inputs)),
    "classes": lambda job: with_inputs(job, partition=other_classes(job.inputs)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_key_depends_on_what_the_training_depends_on(change: str, job: TrainingJob) -> None:
    assert replace(job).identity == job.identity
    assert CHANGES[change](job).identity != job.identity


def test_the_key_does_not_depend_on_how_the_training_is_run(job: TrainingJob) -> None:
    run = RunOptions(resume=True, threads=3, checkpoint_minutes=1.0, keep_complete=True)
    assert replace(job, run=run, out=Path("elsewhere")).identity == job.identity


@pytest.mark.parametrize("change", ["factors", "classes"])
def test_inputs_that_a_kind_does_not_need_are_no_part_of_its_key(change: str, job: TrainingJob) -> None:
    plain = replace(job, kind=replace(KIND, needs_factors=False, needs_classes=False))
    assert CHANGES[change](plain).identity == plain.identity
