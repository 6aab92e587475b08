"""Run by tests under mpirun: small trainings of several kinds, by all ranks together.

`python -m tests.training.rank_runs FOLDER THREADS CASE...`; a case is a kind with settings: `clbl++,wide=5`. The model
of each is in FOLDER/CASE. Trainings go on from the checkpoints that are there. Each rank writes its process id into
FOLDER/ranks, so that a test can kill it.
"""

from __future__ import annotations

import ast
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from morphlm.cli.ranked import started_rank
from morphlm.logbilinear.continuing import StartingPoint
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.ranks import ALONE, world
from morphlm.training.batches import Replay
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.loop import TrainingTask, train_model
from morphlm.vocabulary.vocabulary import END_ID
from tests.training.small import task

CASES = (
    *("lbl", "lbl+c", "lbl+o", "lbl++", "clbl", "clbl+c", "clbl+o", "clbl++"),
    *("clbl++,diagonal=False", "lbl++,diagonal=False", "clbl++,wide=5", "lbl+c,wide=5,diagonal=False"),
    "clbl++,surface_dropout=0.3,context_dropout=0.2,prediction_dropout=0.2",
    "lbl++,surface_dropout=0.3,noise='token'",
    "clbl++,l2_in_gradient=True,evaluate_every=2",
    "clbl++,gather=20,batch=40,surface_dropout=0.2,prediction_dropout=0.2",
    "clbl,gather=20,batch=40,diagonal=False",
    *("clbl++,continued=0.3", "lbl++,continued=0.3"),
)


def task_of(case: str) -> TrainingTask:
    """The training that a case names."""
    kind, *settings = case.split(",")
    values = {name: ast.literal_eval(value) for name, value in (setting.split("=") for setting in settings)}
    wide = values.pop("wide", 0)
    share = values.pop("continued", 0.0)
    made = task(kind, **values)
    made = replace(made, config=replace(made.config, wide=wide))
    return continued(made, share) if share else made


def continued(made: TrainingTask, share: float) -> TrainingTask:
    """A training that begins with other parameters, and whose last sentences are old text."""
    begin = int(np.flatnonzero(made.train.tokens == END_ID)[-40]) + 1
    start = StartingPoint(made.config, initial_parameters(made.config, made.structure, 5, 0.2), "a digest")
    return replace(made, start=start, replay=Replay(begin, share))


def run(folder: Path, threads: int, cases: list[str]) -> None:
    comm = world() if started_rank()[1] > 1 else ALONE
    (folder / "ranks").mkdir(parents=True, exist_ok=True)
    (folder / "ranks" / str(comm.rank)).write_text(str(os.getpid()))
    if not comm.is_first:
        comm.serve()
        return
    for case in cases:
        out = folder / case
        resume = checkpoint_path(out).exists()
        train_model(task_of(case), out, resume=resume, threads=threads, checkpoint_minutes=0.0, comm=comm)
    comm.dismiss()


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
