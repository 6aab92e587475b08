"""The log-bilinear models as kinds of models: trained on inputs that are ready, by minibatches and with checkpoints."""

from __future__ import annotations

from dataclasses import replace

from morphlm.artefacts import find
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.structure import build_structure
from morphlm.training.checkpoint import checkpoint_path, remove_checkpoint, remove_foreign_checkpoint
from morphlm.training.config import LogBilinearOptions
from morphlm.training.inputs import TrainingInputs
from morphlm.training.job import TrainingJob
from morphlm.training.loop import EndedTraining, TrainingTask, train_model


def train_logbilinear(job: TrainingJob) -> LanguageModel:
    """Train, go on with an interrupted training, or take a complete model as it is."""
    task, run, out = training_task(job.kind.name, job.inputs, job.options), job.run, job.out
    if out is not None and run.resume_or_restart:
        remove_foreign_checkpoint(out, task.identity, run.warn)
        run = replace(run, resume=checkpoint_path(out).exists())
    if out is not None and run.restart and checkpoint_path(out).exists():
        remove_checkpoint(checkpoint_path(out))
    if out is not None and run.keep_complete and not run.resume:
        shelf = EndedTraining(task, out)
        shelf.found_message = run.complete_message(out)
        model = find(job.kind.producer, task.identity, shelf)
        if model is not None:
            model.threads = run.threads
            return model
    return train_model(
        task,
        out,
        resume=run.resume,
        threads=run.threads,
        checkpoint_minutes=run.checkpoint_minutes,
        deadline=run.deadline,
        comm=run.comm,
    )


def training_task(kind: str, inputs: TrainingInputs, options: LogBilinearOptions) -> TrainingTask:
    """What the training loop takes."""
    config = options.config(kind) if inputs.start is None else inputs.start.config
    structure = build_structure(config, inputs.vocabulary, inputs.partition, inputs.factors)
    factors, partition = structure.factors, structure.partition
    record = inputs.record | {
        "factors": None if factors is None else factors.to_json(),
        "classes": None if partition is None else partition.to_json(),
    }
    return TrainingTask(
        config, structure, options.training, inputs.train, inputs.dev.corpus, record, inputs.start, inputs.replay
    )
