"""Modified Kneser-Ney as a kind of model: trained on inputs that are ready."""

from __future__ import annotations

from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import NgramConfig, train_ngram_on
from morphlm.progress import notify
from morphlm.training.job import TrainingJob


def train_mkn(job: TrainingJob) -> LanguageModel:
    """Count and estimate; the development text plays no part."""
    record = job.inputs.record
    config = NgramConfig(job.options.order, record["kappa"] or 0.0, job.options.seed)
    model = train_ngram_on(job.inputs.train, config, record["preparation"])
    for warning in model.warnings:
        notify(f"warning: {warning}")
    model.training |= {name: record[name] for name in ("vocabulary", "development_unknown")}
    return model
