"""The log of a training, a line an evaluation, and what it says of the end: why, and whether other settings end there.

It lies in the model directory as a file for people. The field `ended` stands in the last line of a training that has
ended.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from morphlm.training.config import TrainingConfig

LOG_FILE = "log.jsonl"
LOG_FIELDS = ("epoch", "minibatch", "tokens", "seconds", "objective", "development_perplexity", "step", "best", "ended")
DIVERGED = "diverged"  # how the reason begins if a training ended because something was not finite

Log = list[dict[str, Any]]


def log_text(log: Log) -> str:
    """One line an evaluation; what comes from a checkpoint has its fields in another order."""
    lines = ({name: entry[name] for name in LOG_FIELDS if name in entry} for entry in log)
    return "".join(json.dumps(line) + "\n" for line in lines)


def read_log(out: Path | None) -> Log:
    """The evaluations of a training, from the model directory; none if people have changed the file or removed it."""
    try:
        return [] if out is None else [json.loads(line) for line in (out / LOG_FILE).read_text().splitlines()]
    except (OSError, ValueError):
        return []


def reason_of(log: Log) -> str:
    """Why a training ended; '' if the log does not say."""
    return str(log[-1].get("ended", "")) if log else ""


def reason_to_end(training: TrainingConfig, epoch: int, worse: int) -> str:
    """Why training ends after so many epochs and so many evaluations that were not better; '' if it goes on."""
    if worse >= training.patience:
        return "the development perplexity does not fall any more"
    return f"{training.epochs} epochs are done" if epoch >= training.epochs else ""


def end_by(log: Sequence[dict[str, Any]], training: TrainingConfig) -> tuple[int, str]:
    """After how many of these evaluations a training ends, and why; all of them and '' if it goes on."""
    worse = 0
    for number, entry in enumerate(log, 1):
        worse = 0 if entry["best"] else worse + 1
        reason = reason_to_end(training, entry["epoch"], worse)
        if reason:
            return number, reason
    return len(log), ""


def place_in_words(epoch: int, minibatch: int) -> str:
    """After what something happens: so many complete epochs, and so many minibatches of the next."""
    return f"minibatch {minibatch} of epoch {epoch + 1}" if minibatch else f"epoch {epoch}"
