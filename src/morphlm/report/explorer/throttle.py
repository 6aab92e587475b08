"""Limits how many operations run at a time, how long others wait for a thread, and how long each may take."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from morphlm.report.explorer.limits import Deadline, RequestLimits, TooBusyError, TooSlowError

Result = TypeVar("Result")


class Throttle:
    """Runs operations in a few threads, so that the event loop stays free."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._free_threads = asyncio.Semaphore(limits.concurrent)
        self._threads = ThreadPoolExecutor(limits.concurrent, thread_name_prefix="explore")
        self._stopped = threading.Event()

    async def run(self, operation: Callable[[Deadline], Result]) -> Result:
        """The operation's result, or TooBusyError if no thread becomes free, or TooSlowError if it takes too long."""
        limits = self._limits
        try:
            await asyncio.wait_for(self._free_threads.acquire(), limits.patience)
        except TimeoutError as error:
            raise TooBusyError("other requests are being answered; try again in a moment") from error
        deadline = Deadline.after(limits.seconds, self._stopped)
        future = asyncio.get_running_loop().run_in_executor(self._threads, operation, deadline)
        # The thread is free when it has ended, even if nobody waits for its result any more.
        future.add_done_callback(self._ended)
        done, _ = await asyncio.wait([future], timeout=limits.seconds)
        if not done:
            raise TooSlowError(deadline.message)
        return future.result()

    def _ended(self, future: asyncio.Future[Result]) -> None:
        self._free_threads.release()
        if not future.cancelled():
            future.exception()  # looked at, or asyncio would complain

    def stop(self) -> None:
        """Let operations that look at their deadline end now."""
        self._stopped.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
