"""Threads for the engine's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from morphlm.threads import Workers, workers


@pytest.fixture(scope="module")
def one() -> Iterator[Workers]:
    with workers(1) as single:
        yield single
