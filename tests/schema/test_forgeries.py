"""A sample of the forgeries of tests/full/test_forgeries.py, in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.schema.artefacts import WRITERS, use, written
from tests.schema.forged_directories import forgeries
from tests.schema.try_forgeries import DEFECT, attempt, chosen

EACH = 10


@pytest.mark.parametrize("sort", WRITERS)
def test_an_artefact_that_is_not_forged_is_used(tmp_path: Path, sort: str) -> None:
    ((_, directory),) = written(tmp_path, [sort])
    use(directory, sort)


@pytest.mark.parametrize("sort", WRITERS)
def test_forged_artefacts_are_refused_or_harmless(tmp_path: Path, sort: str) -> None:
    ((_, directory),) = written(tmp_path, [sort])
    total = sum(1 for _ in forgeries(directory))
    results = [
        (forgery.description, *attempt(directory, sort, forgery)) for _, forgery in chosen(directory, 7, total // EACH)
    ]
    assert len(results) >= EACH - 1
    assert [result for result in results if result[1] == DEFECT] == []
