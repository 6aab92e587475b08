"""What NumPy alone says of a sentence is what the compiled queries say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from morphlm.logbilinear import plain
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.kernels.query import log_probability
from morphlm.logbilinear.plain import score_plainly
from morphlm.logbilinear.query import compile_model, new_cache
from morphlm.threads import workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID

from .cases import Case, make_case

WORDS = [7, 20, 7, UNK_ID, 31, END_ID]


def asked(case: Case, words: list[int]) -> list[float]:
    with workers(1) as pool:
        model = compile_model(case.config, case.structure, case.parameters, pool)
    before = [*words[::-1], *[BEGIN_ID] * case.config.distances]
    contexts = [np.array(before[len(words) - i :][: case.config.distances], np.int32) for i in range(len(words))]
    queries = zip(contexts, words, strict=True)
    return [log_probability(model, new_cache(model, 0), context, word) for context, word in queries]


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
@pytest.mark.parametrize("words", [WORDS, [END_ID], [5, END_ID]], ids=["long", "empty", "short"])
def test_numpy_and_queries_agree(kind: str, diagonal: bool, words: list[int]) -> None:
    case = make_case(kind, diagonal, words=40, classes=6, width=5)
    scores = score_plainly(case.config, case.structure, case.parameters, words)
    np.testing.assert_allclose(scores, asked(case, words), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["lbl++", "clbl++"])
def test_the_size_of_blocks_changes_nothing(kind: str, monkeypatch: Any) -> None:
    case = make_case(kind, words=40, classes=2, width=5)
    whole = score_plainly(case.config, case.structure, case.parameters, WORDS)
    monkeypatch.setattr(plain, "BLOCK", 7)
    np.testing.assert_allclose(score_plainly(case.config, case.structure, case.parameters, WORDS), whole, rtol=1e-6)
