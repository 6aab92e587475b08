"""The operations over HTTP: the page, the JSON API under /api, and the server on this machine only.

Import it only where it is used: it needs the extra `explore`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Annotated

import uvicorn
from fastapi import APIRouter, FastAPI, Query, Response
from pydantic import Field

from morphlm.report.explorer.comparison import ComparisonView
from morphlm.report.explorer.examples import ExamplesView
from morphlm.report.explorer.guard import Guard
from morphlm.report.explorer.maps import MapView
from morphlm.report.explorer.models import ModelCard, TextIs
from morphlm.report.explorer.operations import Explorer, PlaceView
from morphlm.report.explorer.sentences import CompletionView, SentenceView
from morphlm.report.explorer.serving import NO_TELEMETRY, RequestBody, handle_errors, refusals, run_server, server_of
from morphlm.report.explorer.throttle import Throttle
from morphlm.report.explorer.words import MorphemeView, WordView
from morphlm.version import __version__

MODULES = ("explorer", "elements", "asking", "parts", "start", "words", "sentences", "comparisons", "maps")
SCRIPT, STYLE = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
PAGES = {  # address -> folder of this package's parent, file, type; nothing else is ever read
    "/": ("explorer/page", "index.html", "text/html; charset=utf-8"),
    **{f"/{name}.js": ("explorer/page", f"{name}.js", SCRIPT) for name in MODULES},
    "/explorer.css": ("explorer/page", "explorer.css", STYLE),
    "/icon.svg": ("explorer/page", "icon.svg", "image/svg+xml"),
    "/style.css": ("assets", "style.css", STYLE),
    "/map.js": ("assets", "map.js", SCRIPT),
    "/api/docs": ("explorer/page", "api.html", "text/html; charset=utf-8"),
    "/api/docs.js": ("explorer/page", "api.js", SCRIPT),
}
DESCRIPTION = """What the page does, as JSON. A model is named by its name or number in `/api/models`. Every error is
an object with one field, `error`, that says what is wrong and how to mend it."""


# ---------------------------------------------------------------- what is sent


class SentenceRequest(RequestBody):
    """A sentence to score under some models."""

    text: str = Field(description="One sentence; a line end counts as a space.", examples=["Nova domo ."])
    models: list[str] | None = Field(None, description="Names or numbers; all models, if it is left out.")
    text_is: TextIs = Field("raw", description="What the text is: raw, tokenised, or prepared like the model's own.")
    k: int = Field(5, description="How many expected words for each token.")


class CompletionRequest(RequestBody):
    """A text to continue."""

    model: str = Field(examples=["0"])
    text: str = Field(description="The last word is a prefix, unless a space follows it.", examples=["Nova do"])
    text_is: TextIs = "raw"
    k: int = Field(10, description="How many words.")


class ComparisonRequest(RequestBody):
    """A text on which to compare two models."""

    baseline: str = Field(examples=["0"])
    other: str = Field(examples=["1"])
    text: str = Field(description="A sentence a line.", examples=["Nova domo .\nLa domo ."])
    text_is: TextIs = "raw"
    k: int = Field(10, description="How many words, tokens and sentences to show on each side.")


ModelName = Annotated[str, Query(max_length=500, description="Name or number of a model.")]
Count = Annotated[int, Query(description="How many neighbours.")]


# ---------------------------------------------------------------- the application


def make_app(explorer: Explorer, port: int, throttle: Throttle | None = None) -> Guard:
    """The guarded application; `port` is the one that it is reached at."""
    app = FastAPI(
        title="morphlm explorer",
        version=__version__,
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,  # both pages of the framework load scripts from elsewhere
        redoc_url=None,
        telemetry=NO_TELEMETRY,
    )
    app.include_router(_api(explorer, throttle or Throttle(explorer.limits)))
    for address, (folder, name, kind) in PAGES.items():
        app.add_api_route(address, _page(folder, name, kind), methods=["GET", "HEAD"], include_in_schema=False)
    handle_errors(app, "/api/docs")
    return Guard(app, port, explorer.limits)


def _page(folder: str, name: str, kind: str) -> Callable[[], Response]:
    """A file of the package, read once."""
    content = files("morphlm.report").joinpath(*folder.split("/"), name).read_bytes()

    def page() -> Response:
        return Response(content, media_type=kind)

    return page


def _api(explorer: Explorer, throttle: Throttle) -> APIRouter:
    router = APIRouter(prefix="/api", responses=refusals())

    @router.get("/models")
    async def models() -> list[ModelCard]:
        """The models, and what each can do."""
        return explorer.cards()

    @router.get("/examples")
    async def examples(model: ModelName) -> ExamplesView:
        """Words, words never seen, sentences and morphemes that are worth asking for, drawn from the model."""
        return await throttle.run(lambda _: explorer.examples(model))

    _add_words(router, explorer, throttle)
    _add_texts(router, explorer, throttle)
    return router


def _add_words(router: APIRouter, explorer: Explorer, throttle: Throttle) -> None:
    """Operations on a word or a morpheme."""

    @router.get("/word")
    async def word(model: ModelName, word: str, k: Count = 10) -> WordView:
        """A word's morphemes, class and neighbours, and the neighbours of each morpheme; also of words never seen."""
        return await throttle.run(lambda _: explorer.word(model, word, k))

    @router.get("/morpheme")
    async def morpheme(model: ModelName, name: str, k: Count = 10) -> MorphemeView:
        """A morpheme's neighbours, and words that contain it. It is named as in `/api/word`: form/LABEL."""
        return await throttle.run(lambda _: explorer.morpheme(model, name, k))

    @router.get("/map")
    async def map_(model: ModelName) -> MapView:
        """The map of a model's morphemes. While its state is `computing`, ask again."""
        return await throttle.run(lambda _: explorer.map(model))

    @router.get("/place")
    async def place(model: ModelName, word: str) -> PlaceView:
        """Where a word lies on the map; null while there is none."""
        return await throttle.run(lambda _: explorer.place(model, word))


def _add_texts(router: APIRouter, explorer: Explorer, throttle: Throttle) -> None:
    """Operations on a sentence or a text."""

    @router.post("/sentence")
    async def sentence(asked: SentenceRequest) -> SentenceView:
        """Each token's probability under each model, and the words that were expected instead."""
        return await throttle.run(lambda end: explorer.sentence(asked.text, asked.models, asked.text_is, asked.k, end))

    @router.post("/complete")
    async def complete(asked: CompletionRequest) -> CompletionView:
        """The likely next words, or the completions of a word that has been begun."""
        return await throttle.run(lambda _: explorer.complete(asked.model, asked.text, asked.text_is, asked.k))

    @router.post("/compare")
    async def compare(asked: ComparisonRequest) -> ComparisonView:
        """Two models on a text: perplexities, the change with its interval, and where they differ most."""
        return await throttle.run(
            lambda end: explorer.compare(asked.baseline, asked.other, asked.text, asked.text_is, asked.k, end)
        )


# ---------------------------------------------------------------- serving


def make_server(explorer: Explorer, port: int, throttle: Throttle | None = None) -> uvicorn.Server:
    """The server that answers at `port`, once it is given the socket."""
    return server_of(make_app(explorer, port, throttle), explorer.limits)


def serve(explorer: Explorer, bound: socket.socket, ready: Callable[[str], None]) -> None:
    """Answer until Ctrl-C; `ready` is called with the address."""
    run_server(partial(make_server, explorer), explorer.limits, bound, ready)
