"""What servers on this machine share: the form of their errors, a socket that no other machine reaches, and limits.

Import it only where it is used: it needs the extra `explore`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from morphlm.errors import ConfigError, MorphlmError
from morphlm.report.explorer.connections import connection_class
from morphlm.report.explorer.guard import HOST, error_response
from morphlm.report.explorer.limits import RequestLimits, TooBusyError, TooSlowError
from morphlm.report.explorer.throttle import Throttle
from morphlm.wording import option

CONNECTIONS = 64  # at a time, of those that wait for a request
REFUSALS = {
    400: "What was asked for cannot be answered",
    403: "Asked by another page, or under another name of this machine",
    413: "The request is too large",
    422: "The request has not the form that is described here",
    503: "Too many requests at a time",
    504: "It would take too long",
}
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}  # to no other host


class RequestBody(BaseModel):
    """What is sent: exactly the fields that are declared, of exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True)
class ErrorBody:
    """The body of every error."""

    error: str


def refusals() -> dict[int | str, dict[str, Any]]:
    """The errors of every operation, for its description."""
    return {status: {"model": ErrorBody, "description": description} for status, description in REFUSALS.items()}


# ---------------------------------------------------------------- errors


def handle_errors(app: FastAPI, description: str) -> None:
    """Turn every exception into an `ErrorBody`; `description` is the address that describes the operations."""

    @app.exception_handler(MorphlmError)
    async def refused(request: Request, error: MorphlmError) -> Response:
        status = 504 if isinstance(error, TooSlowError) else 503 if isinstance(error, TooBusyError) else 400
        return error_response(status, str(error), {"Retry-After": "1"} if status == 503 else None)

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        return error_response(422, "; ".join(_problem(problem) for problem in error.errors()[:3]))

    @app.exception_handler(HTTPException)
    async def not_there(request: Request, error: HTTPException) -> Response:
        messages = {
            404: f"there is nothing at this address; see {description}",
            405: f"this address does not take {request.method[:20]}; see {description}",
        }
        return error_response(error.status_code, messages.get(error.status_code, str(error.detail)), error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        return error_response(500, "internal error; the terminal shows the cause")


def _problem(problem: dict[str, Any]) -> str:
    """Which field, and what is wrong with it; what was sent is not repeated."""
    if problem["type"] in ("json_invalid", "model_attributes_type"):
        return "the body is no object in JSON; send one, with the header `Content-Type: application/json`"
    field = ".".join(str(part)[:50] for part in problem["loc"] if part not in ("body", "query"))
    return f"{field}: {problem['msg']}" if field else str(problem["msg"])


# ---------------------------------------------------------------- serving


def bind(port: int) -> socket.socket:
    """A socket at a port of this machine that no other machine reaches; 0: any free port."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # a port that was used a moment ago is free; elsewhere it would mean something else
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((HOST, port))
        bound.listen(CONNECTIONS)
    except OSError as error:
        bound.close()
        raise ConfigError(
            f"port {port} cannot be had ({error.strerror}); choose another by {option('--port')}, or 0 for "
            "any that is free"
        ) from error
    return bound


def server_of(app: ASGIApp, limits: RequestLimits) -> uvicorn.Server:
    """The server of a guarded application, once it is given the socket."""
    config = uvicorn.Config(
        app,
        http=connection_class(limits.header_seconds, CONNECTIONS),
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=2 * CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def run_server(
    make_server: Callable[[int, Throttle], uvicorn.Server],
    limits: RequestLimits,
    bound: socket.socket,
    ready: Callable[[str], None],
) -> None:
    """Answer until Ctrl-C; `ready` is called with the address."""
    throttle = Throttle(limits)
    port = bound.getsockname()[1]
    server = make_server(port, throttle)
    ready(f"http://{HOST}:{port}/")
    try:
        server.run(sockets=[bound])
    finally:
        throttle.stop()
