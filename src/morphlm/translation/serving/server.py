"""The translation server: JSON over HTTP on this machine only, with the guards of the explorer.

Import it only where it is used: it needs the extra `explore`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial

import uvicorn
from fastapi import APIRouter, FastAPI
from pydantic import Field

from morphlm.report.explorer.guard import Guard
from morphlm.report.explorer.serving import NO_TELEMETRY, RequestBody, handle_errors, refusals, run_server, server_of
from morphlm.report.explorer.throttle import Throttle
from morphlm.translation.serving.operations import SystemView, TranslationQuery, TranslationView, Translator
from morphlm.version import __version__

OPENAPI = "/api/openapi.json"
DESCRIPTION = """Translates text. Every error is an object with one field, `error`, that says what is wrong and how to
mend it."""


class TranslationRequest(RequestBody):
    """A text to translate."""

    text: str = Field(description="A sentence a line, as people write it.", examples=["Good morning, Europe."])
    kbest: int = Field(0, description="How many of the best translations of each line, with their features.")
    prefix: str | None = Field(None, description="Of a single line: the translation begins with these words.")
    incomplete: bool = Field(False, description="The last word of the prefix may go on.")
    target: str | None = Field(None, description="Of a single line: the translation, whose score is wanted.")


def make_app(translator: Translator, port: int, throttle: Throttle | None = None) -> Guard:
    """The guarded application; `port` is the one that it is reached at."""
    app = FastAPI(
        title="morphlm translation",
        version=__version__,
        description=DESCRIPTION,
        openapi_url=OPENAPI,
        docs_url=None,  # both pages of the framework load scripts from elsewhere
        redoc_url=None,
        telemetry=NO_TELEMETRY,
    )
    app.include_router(_api(translator, throttle or Throttle(translator.limits)))
    handle_errors(app, OPENAPI)
    return Guard(app, port, translator.limits, "use `morphlm translate decode` on a file")


def _api(translator: Translator, throttle: Throttle) -> APIRouter:
    router = APIRouter(prefix="/api", responses=refusals())

    @router.get("/system")
    async def system() -> SystemView:
        """The languages, models and weights of the system, and how much it takes at once."""
        return translator.view_system()

    @router.post("/translate")
    async def translate(asked: TranslationRequest) -> TranslationView:
        """Translate a text line by line, as `morphlm translate decode` does."""
        query = TranslationQuery(asked.text, asked.kbest, asked.prefix, asked.incomplete, asked.target)
        return await throttle.run(lambda deadline: translator.translate(query, deadline))

    return router


def make_server(translator: Translator, port: int, throttle: Throttle | None = None) -> uvicorn.Server:
    """The server that answers at `port`, once it is given the socket."""
    return server_of(make_app(translator, port, throttle), translator.limits)


def serve(translator: Translator, bound: socket.socket, ready: Callable[[str], None]) -> None:
    """Answer until Ctrl-C; `ready` is called with the address."""
    run_server(partial(make_server, translator), translator.limits, bound, ready)
