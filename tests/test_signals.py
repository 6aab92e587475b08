"""Interrupts that come at a bad moment take effect a little later."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from morphlm.extras import import_extra
from morphlm.signals import interrupts_deferred

INTERRUPTED_WHILE_IMPORTED = """
import signal
try:
    signal.raise_signal(signal.SIGINT)
    for _ in range(1000):
        pass
except KeyboardInterrupt:
    raise ImportError("a part failed to import") from None
"""


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        reached.append(True)
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_import_is_no_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules in C turn an interrupt into an ImportError of their own; the message was that they are not installed."""
    (tmp_path / "interrupted_extra.py").write_text(INTERRUPTED_WHILE_IMPORTED)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        import_extra("interrupted_extra", "pictures", "pictures need")


def test_other_threads_and_ignored_interrupts_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with interrupts_deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
    code = (
        "import signal; from morphlm.signals import interrupts_deferred; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with interrupts_deferred():\n    signal.raise_signal(signal.SIGINT)\nprint('alive')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "alive\n"
