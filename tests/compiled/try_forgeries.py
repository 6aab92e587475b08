"""Uses forged compiled files in a process that may crash: `python -m tests.compiled.try_forgeries FILE FOLDER STEP`.

Each forgery has a line on standard output before it is used; the last line tells how many were refused and used.
"""

from __future__ import annotations

import sys
import warnings
from itertools import islice
from pathlib import Path

import numpy as np

import morphlm
from morphlm.errors import MorphlmError
from morphlm.language_model.base import LanguageModel
from tests.compiled.forging import forgeries
from tests.compiled.models import text


def use(model: LanguageModel) -> None:
    """What people do with a model; any error but MorphlmError is a defect."""
    assert not np.isnan(model.score_tokens(text())).any(), "ln p is NaN"
    state = model.begin()
    for word in ("w1", "w5", "unknown", "w1"):
        logprob, state = model.score(state, word)
        assert logprob <= 1e-3, f"ln p is {logprob}"
    assert not np.isnan(model.distribution(state)).any(), "a distribution has NaN"
    model.score_many([state, model.begin(sentence=False)], ["w2", "w3"])
    str(model.signature)


def try_all(path: Path, folder: Path, step: int) -> tuple[int, int]:
    """How many were refused, and how many used."""
    refused = used = 0
    for description, raw in islice(forgeries(path.read_bytes()), 0, None, step):
        print(description, flush=True)
        forged = folder / "forged"
        forged.write_bytes(raw)
        try:
            use(morphlm.load(forged))
            used += 1
        except MorphlmError as error:
            assert "\n" not in str(error), str(error)
            refused += 1
    return refused, used


if __name__ == "__main__":
    warnings.simplefilter("error")
    print(*try_all(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
