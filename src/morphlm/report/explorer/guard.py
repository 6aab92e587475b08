"""Middleware of the explorer: checks the sender and size of every request, and adds headers to every response.

The page is for the person at this machine. Other pages in the same browser can send requests to it too; so it answers
only to its own names (else a foreign name that resolves to this machine would do), and to no other page's requests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from morphlm.report.explorer.limits import RequestLimits

HOST = "127.0.0.1"
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
OWN_SITES = ("same-origin", "none")  # of the header Sec-Fetch-Site
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class RefusalError(Exception):
    """A request that is refused: the HTTP status and the message of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def own_hosts(port: int) -> tuple[str, ...]:
    """The values of the Host header that are accepted."""
    names = (HOST, "localhost")
    return tuple(f"{name}:{port}" for name in names) + (names if port == 80 else ())


def error_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """The form of every error; in ASCII, so that the message may hold anything, even half a surrogate pair."""
    return Response(json.dumps({"error": message}), status, headers, JSONResponse.media_type)


class Guard:
    """ASGI middleware around the application that is reached at `port`."""

    def __init__(
        self, app: ASGIApp, port: int, limits: RequestLimits, advice: str = "use `morphlm analyse` on a file"
    ) -> None:
        """`advice` tells whoever sends too much what to do instead."""
        self._app, self._limits, self._advice = app, limits, advice
        self._hosts = own_hosts(port)
        self._origins = tuple(f"http://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        guarded = _with_headers(send)
        try:
            self._check_sender(scope)
            body = await self._read(scope, receive)
        except RefusalError as refusal:
            # What is left of the request is not read, so the connection ends.
            response = error_response(refusal.status, refusal.message, {"connection": "close"})
            await response(scope, receive, guarded)
            return
        await self._app(scope, _replayed(body, receive), guarded)

    def _check_sender(self, scope: Scope) -> None:
        if _header(scope, "host", "") not in self._hosts:
            raise RefusalError(403, f"this answers only to http://{self._hosts[0]}/; use that address")
        if _header(scope, "origin", self._origins[0]) not in self._origins:
            raise RefusalError(403, "this does not answer to other pages")
        if scope["path"].startswith("/api/") and _header(scope, "sec-fetch-site", "none") not in OWN_SITES:
            raise RefusalError(403, "this does not answer to other pages")

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, read within the limits of size and time."""
        limit, body = self._limits.body_bytes, bytearray()
        announced = _header(scope, "content-length", "0")
        if announced.isascii() and announced.isdecimal() and int(announced[:18]) > limit:
            raise self._too_large(limit)
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for chunk in Request(scope, receive).stream():
                    body += chunk
                    if len(body) > limit:
                        raise self._too_large(limit)
        except ClientDisconnect as error:
            raise RefusalError(400, "the request is not complete") from error
        except TimeoutError as error:
            raise RefusalError(408, "the request did not arrive in time; send it again") from error
        return bytes(body)

    def _too_large(self, limit: int) -> RefusalError:
        return RefusalError(413, f"a request of more than {limit:,} bytes; send less, or {self._advice}")


def _header(scope: Scope, name: str, default: str) -> str:
    """The value in lower case. If the header comes twice, both are joined, which no check accepts."""
    return ", ".join(Headers(scope=scope).getlist(name) or [default]).lower()


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read, then whatever comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _with_headers(send: Send) -> Send:
    """Adds HEADERS to every response."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sending
