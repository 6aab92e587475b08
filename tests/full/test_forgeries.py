"""Forged artefacts with right hashes are refused or harmless: thousands of them, with bounds of arrays checked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.schema.artefacts import WRITERS, written
from tests.schema.forged_directories import forgeries
from tests.schema.try_forgeries import Tally, try_in_children

pytestmark = pytest.mark.full

EACH = int(os.environ.get("FORGERIES", "300"))  # of a sort of artefact, about; there are some thousand of each


@pytest.fixture(scope="session")
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.mark.parametrize("sort", WRITERS)
def test_forged_artefacts_are_refused_or_harmless(tmp_path: Path, kernel_cache: Path, sort: str) -> None:
    ((_, directory),) = written(tmp_path, [sort])
    total = sum(1 for _ in forgeries(directory))
    tally = Tally()
    try_in_children(directory, sort, max(1, total // EACH), kernel_cache, tally)
    assert not tally.defects, f"{len(tally.defects)} of {tally.outcomes.total()}\n" + "\n".join(tally.defects[:10])
    assert tally.outcomes.total() >= min(total, EACH)
    assert tally.outcomes["refused"] > tally.outcomes.total() / 2
