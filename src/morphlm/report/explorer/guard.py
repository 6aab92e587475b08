"""What every request passes before anything reads it: who asks, how much is sent, and how the answer may be used.

The page is for the person at this machine. Other pages in the same browser can send requests to it too; so it answers
only to its own names (else a foreign name that resolves to this machine would do), and to no other page's requests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from morphlm.report.explorer.limits import Limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

HOST = "127.0.0.1"
POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
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
    """A request that is not let in."""

    def __init__(self, status: int, what: str) -> None:
        """The HTTP status and what the answer says."""
        super().__init__(what)
        self.status, self.what = status, what


def own_hosts(port: int) -> tuple[str, ...]:
    """What the Host header may say."""
    names = (HOST, "localhost")
    return tuple(f"{name}:{port}" for name in names) + (names if port == 80 else ())


def error_body(what: str) -> bytes:
    """The body of every answer that is an error; ASCII, so that it can hold anything."""
    return json.dumps({"error": what}).encode()


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: App, port: int, limits: Limits) -> None:
        """`port` is the one that is listened on."""
        self._app, self._limits = app, limits
        self._hosts = own_hosts(port)
        self._origins = tuple(f"http://{host}" for host in self._hosts)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            return
        guarded = _with_headers(send)
        try:
            self._check_sender(scope)
            body = await self._read(scope, receive)
        except RefusalError as refusal:
            await _answer(guarded, refusal)
            return
        await self._app(scope, _replayed(body, receive), guarded)

    def _check_sender(self, scope: MutableMapping[str, Any]) -> None:
        headers = _headers(scope)
        if headers.get("host", "").lower() not in self._hosts:
            raise RefusalError(403, f"this answers only to http://{self._hosts[0]}/; use that address")
        if "origin" in headers and headers["origin"].lower() not in self._origins:
            raise RefusalError(403, "this does not answer to other pages")
        if scope["path"].startswith("/api/") and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise RefusalError(403, "this does not answer to other pages")

    async def _read(self, scope: MutableMapping[str, Any], receive: Receive) -> bytes:
        """The whole body; no more of it is read than is allowed, and nobody is waited for for long."""
        most = self._limits.body_bytes
        announced = _headers(scope).get("content-length", "0")
        if announced.isascii() and announced.isdecimal() and int(announced[:18]) > most:
            raise _too_large(most)
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await _collect(receive, most)
        except TimeoutError as error:
            raise RefusalError(408, "the request did not arrive in time; send it again") from error


def _headers(scope: MutableMapping[str, Any]) -> dict[str, str]:
    """By name in small letters; if one comes twice, that is no value that is let in."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


async def _collect(receive: Receive, most: int) -> bytes:
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusalError(400, "the request is not complete")
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _too_large(most: int) -> RefusalError:
    return RefusalError(413, f"a request of more than {most:,} bytes; send less, or use `morphlm analyse` on a file")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body that was read, then whatever comes."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _with_headers(send: Send) -> Send:
    """Adds our headers to every answer."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sending


async def _answer(send: Send, refusal: RefusalError) -> None:
    body = error_body(refusal.what)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # what is left of the request is not read
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
