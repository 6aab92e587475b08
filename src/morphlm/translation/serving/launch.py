"""From the directory of a system to a server that answers: finds the extra, takes the port, loads, makes ready."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from morphlm.extras import import_extra
from morphlm.progress import notify
from morphlm.translation.serving.operations import Translator
from morphlm.translation.system.system import TranslationSystem

NEED = "the translation server needs"


def serve_system(
    directory: str | Path,
    port: int = 8000,
    ready: Callable[[str], None] | None = None,
    *,
    truecase: bool = False,
    recaser: str | Path | None = None,
    **loading: Any,
) -> None:
    """Translate over HTTP at a `port` of this machine (0: any free one) until Ctrl-C.

    `ready` is called with the address once the system in the `directory` is loaded; without it, a message tells it.
    With `truecase`, texts have capital letters, by the recaser of the system or one in the directory `recaser`.
    Further arguments, `loading`, are those of `TranslationSystem.load`.
    """
    serving = import_extra("morphlm.report.explorer.serving", "explore", NEED)
    server = import_extra("morphlm.translation.serving.server", "explore", NEED)
    with serving.bind(port) as bound:  # before the system is loaded, which takes longer
        system = TranslationSystem.load(directory, **loading)
        is_cased = truecase or recaser is not None
        translator = Translator(system, recaser=system.load_recaser(recaser) if is_cased else None)
        translator.warm()
        server.serve(translator, bound, ready or _tell_address)


def _tell_address(address: str) -> None:
    notify(f"translating at {address}api/translate; Ctrl-C ends it", important=True)
