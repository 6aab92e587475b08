"""Who is answered when: a few operations at a time in threads, others wait for a moment, and none takes for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from morphlm.report.explorer.limits import Deadline, Limits, TooBusyError, TooSlowError

Result = TypeVar("Result")


class Turns:
    """Runs operations in threads, so that the server can go on listening."""

    def __init__(self, limits: Limits) -> None:
        """No thread is started yet."""
        self._limits = limits
        self._free = asyncio.Semaphore(limits.concurrent)
        self._threads = ThreadPoolExecutor(limits.concurrent, thread_name_prefix="explore")
        self._stopped = threading.Event()

    async def run(self, operation: Callable[[Deadline], Result]) -> Result:
        """The operation's result, or TooBusyError if no thread becomes free, or TooSlowError if it takes too long."""
        limits = self._limits
        try:
            await asyncio.wait_for(self._free.acquire(), limits.patience)
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
        self._free.release()
        if not future.cancelled():
            future.exception()  # looked at, or asyncio would complain

    def stop(self) -> None:
        """Let operations that look at their deadline end now."""
        self._stopped.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
