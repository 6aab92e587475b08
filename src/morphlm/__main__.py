"""`python -m morphlm` and the command `morphlm`."""

from __future__ import annotations

import sys


def start() -> None:
    """Import and run; an interrupt while the imports are under way is one like any other."""
    try:
        from morphlm import threads  # noqa: PLC0415
        from morphlm.cli.main import run  # noqa: PLC0415

        threads.runs_command = True
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    start()
