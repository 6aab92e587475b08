"""Small models to explore, and a server for them in a thread."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import train_ngram
from morphlm.report.explorer.limits import RequestLimits
from morphlm.report.explorer.operations import Explorer
from morphlm.report.explorer.server import make_server
from morphlm.report.explorer.serving import bind
from morphlm.scoring.mixture import MixtureModel, as_components
from tests.segmentation.small import model_with
from tests.training.small import sentences

MODELS = ("mkn", "lbl", "clbl++", "mixture")
PREPARATION = {"tokeniser": "moses.cs", "normalisation": "lc+digits"}


@cache
def model(kind: str) -> LanguageModel:
    """`clbl++` has morphemes, which `lbl` has not; `mkn` is an n-gram model; all have a record of how text is prepared.

    Known words are a stem and an ending of `tests.training.small`; only `domou` is no word of the log-bilinear ones.
    """
    return prepared(_mixture() if kind == "mixture" else _plain(kind))


def _plain(kind: str) -> LanguageModel:
    return train_ngram(sentences(60, 1), 3) if kind == "mkn" else model_with(kind=kind)


def _mixture() -> MixtureModel:
    components = as_components([_plain("lbl"), _plain("clbl++")], [None, None])
    return MixtureModel(components, np.array([[0.25, 0.75]]), "none", {})


def prepared(plain: LanguageModel, record: dict[str, str] | None = PREPARATION) -> LanguageModel:
    """The same as if its training text had been prepared so; others use the model too, so it is a copy."""
    changed = copy.copy(plain)
    changed.training = plain.training | {"preparation": record}
    return changed


def explorer(*kinds: str, **limits: float) -> Explorer:
    """Models of these kinds, all of them if none is named."""
    return Explorer([(kind, model(kind)) for kind in kinds or MODELS], RequestLimits(**limits))  # type: ignore[arg-type]


@contextmanager
def running(explored: Explorer) -> Iterator[str]:
    """The address of a server that answers."""
    bound = bind(0)
    port = bound.getsockname()[1]
    server = make_server(explored, port)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()
