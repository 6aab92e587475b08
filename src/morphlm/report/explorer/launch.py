"""From the names of models to a page that answers: finds the extra, takes the port, loads, makes ready, serves."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable, Sequence
from types import ModuleType

from morphlm.errors import ConfigError
from morphlm.extras import import_extra
from morphlm.progress import notify
from morphlm.report.explorer.operations import MAX_MODELS, Explorer
from morphlm.scoring.loading import load


def explore(paths: Sequence[str], port: int = 8000, ready: Callable[[str], None] | None = None) -> None:
    """Serve the page at a `port` (0: any free one) until Ctrl-C.

    `ready` is called with its address once all models are loaded; without it, a message tells it.
    """
    server, serving = _module("server"), _module("serving")
    if len(paths) > MAX_MODELS:
        raise ConfigError(f"{len(paths)} models; name at most {MAX_MODELS}")
    with serving.bind(port) as bound:  # before the models are loaded, which takes longer
        explorer = Explorer([(path, load(path)) for path in paths])
        for card in explorer.cards():
            notify(f"{card.name}: {card.signature}")
        explorer.warm()
        server.serve(explorer, bound, ready or _tell_address)


def _tell_address(address: str) -> None:
    notify(f"the page is at {address}; Ctrl-C ends it", important=True)


def _module(name: str) -> ModuleType:
    """A module that needs the extra `explore`."""
    return import_extra(f"morphlm.report.explorer.{name}", "explore", "the explorer needs")


def open_browser(address: str) -> None:
    """Show the page, where there is a screen to show it on; a browser in the terminal would only be in the way."""
    if sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)
