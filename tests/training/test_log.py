"""The log of a training, as it was written and as people have changed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from morphlm.training.config import TrainingConfig
from morphlm.training.log import LOG_FILE, end_reason, find_end, log_text, read_edited_log, read_log

GOOD = {
    "epoch": 1,
    "minibatch": 0,
    "tokens": 9,
    "seconds": 0.5,
    "objective": -1.5,
    "development_perplexity": 3.5,
    "step": 0.05,
    "best": True,
    "ended": "1 epochs",
}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    (tmp_path / LOG_FILE).write_text(log_text([GOOD, GOOD]))
    assert read_log(tmp_path) == read_edited_log(tmp_path) == [GOOD, GOOD]
    assert end_reason(read_log(tmp_path)) == "1 epochs"


@pytest.mark.parametrize(
    "line", ["3", "[]", "null", '{"epoch": 1}', '{"best": true, "epoch": "x"}', "{}", "{", "[" * 100_000, '"\\ud800"']
)
def test_a_changed_log_counts_as_none(tmp_path: Path, line: str) -> None:
    (tmp_path / LOG_FILE).write_text(f"{log_text([GOOD])}{line}\n")
    log = read_log(tmp_path)
    assert log == []
    assert log_text(log) == ""
    assert find_end(log, TrainingConfig()) == (0, "")
    assert end_reason(log) == ""
