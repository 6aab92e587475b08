"""The log-bilinear models as kinds of models: trained on inputs that are ready, by minibatches and with checkpoints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from morphlm.errors import FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.structure import build_structure
from morphlm.modelfile import read_model
from morphlm.progress import notify
from morphlm.training.checkpoint import checkpoint_path, remove_foreign_checkpoint
from morphlm.training.config import LogBilinearOptions
from morphlm.training.inputs import TrainingInputs
from morphlm.training.job import TrainingJob
from morphlm.training.loop import TrainingTask, ended_otherwise, load_trained, train_model


def train_logbilinear(job: TrainingJob) -> LanguageModel:
    """Train, go on with an interrupted training, or take a complete model as it is."""
    task, run, out = training_task(job.kind.name, job.inputs, job.options), job.run, job.out
    if out is not None and run.resume_or_restart:
        remove_foreign_checkpoint(out, task.identity, run.warn)
        run = replace(run, resume=checkpoint_path(out).exists())
    if out is not None and run.keep_complete and _is_trained(task, out):
        otherwise = ended_otherwise(task, out)
        if not otherwise:
            notify(f"{job.kind.name}: found in {out}")
            model = load_trained(out)
            model.threads = run.threads
            return model
        if not run.resume:  # else it is said, or refused, when the training is taken up
            notify(f"{out}: its training {otherwise}; it is trained again")
    return train_model(task, out, resume=run.resume, threads=run.threads, checkpoint_minutes=run.checkpoint_minutes)


def training_task(kind: str, inputs: TrainingInputs, options: LogBilinearOptions) -> TrainingTask:
    """What the training loop takes."""
    config = options.config(kind)
    structure = build_structure(config, inputs.vocabulary, inputs.partition, inputs.factors)
    factors, partition = structure.factors, structure.partition
    record = inputs.record | {
        "factors": None if factors is None else factors.to_json(),
        "classes": None if partition is None else partition.to_json(),
    }
    return TrainingTask(config, structure, options.training, inputs.train, inputs.dev.corpus, record)


def _is_trained(task: TrainingTask, out: Path) -> bool:
    """Whether a model of the same data and settings is there, and its training has ended."""
    try:
        return not checkpoint_path(out).exists() and bool(read_model(out).training.get("identity") == task.identity)
    except FormatError:
        return False
