"""Connections of the explorer: who sends a request too slowly, or none at all, cannot keep others out.

A connection that waits for a request is closed when its time is up; if too many wait, the one that has waited longest
is closed for the newest. Import it only where it is used: it needs the extra `explore`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedConnection(H11Protocol):
    """An HTTP connection with a time limit for the header of every request; `connection_class` sets the limits."""

    header_seconds: float  # from the connection's beginning, or the end of the answer before
    most_waiting: int  # connections that have not sent a whole request
    waiting: dict[BoundedConnection, None]  # these connections, shared by all, in the order in which they began to wait

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._update()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._update()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._update()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timer()
        self.waiting.pop(self, None)

    def _update(self) -> None:
        """Start or stop the clock, and make room if too many wait."""
        if self.transport.is_closing():
            return
        awaits_header = self.cycle is None or self.cycle.response_complete
        if not awaits_header:
            self._stop_timer()
        elif self._header_timer is None:
            # Aborted rather than closed, which would wait for a reader who does not take the answer before.
            self._header_timer = self.loop.call_later(self.header_seconds, self.transport.abort)
        if awaits_header or self.cycle.more_body:
            self.waiting.setdefault(self)
            if len(self.waiting) > self.most_waiting:
                longest = next(iter(self.waiting))
                del self.waiting[longest]
                longest.transport.abort()
        else:
            self.waiting.pop(self, None)

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None


def connection_class(header_seconds: float, most_waiting: int) -> type[BoundedConnection]:
    """The class of the connections of one server."""
    limits = {"header_seconds": header_seconds, "most_waiting": most_waiting, "waiting": {}}
    return type("ExplorerConnection", (BoundedConnection,), limits)
