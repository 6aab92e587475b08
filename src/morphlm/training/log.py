"""The log of a training: one line per evaluation, in the model directory. Its last line says why the training ended.

`--resume` and `train --all` also ask it whether other settings would have ended the training at the same evaluation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from morphlm.errors import FormatError
from morphlm.files import read_regular
from morphlm.schema import SchemaError, parse_json
from morphlm.tables import counted
from morphlm.training.config import TrainingConfig
from morphlm.training.schema import LOG_LINE

LOG_FILE = "log.jsonl"
LOG_FIELDS = ("epoch", "minibatch", "tokens", "seconds", "objective", "development_perplexity", "step", "best", "ended")
LARGEST_LOG = 1 << 26  # bytes
DIVERGED = "diverged"  # the first word of the reason if a number was not finite

Log = list[dict[str, Any]]


def log_text(log: Log) -> str:
    """One line per evaluation, with the fields in a fixed order: a checkpoint does not keep it."""
    lines = ({name: entry[name] for name in LOG_FIELDS if name in entry} for entry in log)
    return "".join(json.dumps(line) + "\n" for line in lines)


def read_log(out: Path | None) -> Log:
    """The evaluations of a training, from the model directory; none if the file is missing or not as it was written."""
    try:
        return [LOG_LINE.parse(line, LOG_FILE) for line in _lines(out)]
    except FormatError:
        return []


def read_edited_log(out: Path) -> list[Any]:
    """What is in the lines of a log that people may have changed: any JSON, and None for a line that is none."""
    return [_json_or_none(line) for line in _lines(out)]


def _lines(out: Path | None) -> list[bytes]:
    try:
        return [] if out is None else read_regular(out / LOG_FILE, LARGEST_LOG).splitlines()
    except (OSError, FormatError):
        return []


def _json_or_none(line: bytes) -> Any:
    try:
        return parse_json(line, LOG_FILE)
    except SchemaError:
        return None


def end_reason(log: Sequence[Any]) -> str:
    """Why a training ended; '' if the log does not say."""
    last = log[-1] if log else None
    return str(last.get("ended", "")) if isinstance(last, dict) else ""


def stopping_reason(training: TrainingConfig, epoch: int, worse: int, tokens: int) -> str:
    """Why training ends after `epoch` epochs, the last `worse` evaluations not being better; '' if it goes on.

    `tokens` is the number of tokens trained on so far, in all epochs.
    """
    if worse >= training.patience:
        return "the development perplexity does not fall any more"
    if 0 < training.stop_after <= tokens:
        return f"{training.stop_after:,} tokens are done"
    if epoch < training.epochs:
        return ""
    return f"{counted(training.epochs, 'epoch')} {'is' if training.epochs == 1 else 'are'} done"


def find_end(log: Sequence[dict[str, Any]], training: TrainingConfig) -> tuple[int, str]:
    """After how many of these evaluations the settings end a training, and why; all of them and '' if it goes on."""
    worse = 0
    for number, entry in enumerate(log, 1):
        worse = 0 if entry["best"] else worse + 1
        reason = stopping_reason(training, entry["epoch"], worse, entry["tokens"])
        if reason:
            return number, reason
    return len(log), ""


def describe_position(epoch: int, minibatch: int) -> str:
    """How far a training has come: complete epochs, and minibatches of the next one."""
    return f"minibatch {minibatch} of epoch {epoch + 1}" if minibatch else f"epoch {epoch}"
