"""`python -m morphlm` and the command `morphlm`."""

from __future__ import annotations

import atexit
import gc
import os
import sys

OBJECTS = 50_000  # made before Python looks for cycles: modules are many objects and no garbage


def start() -> None:
    """Import and run; an interrupt while the imports are under way is one like any other."""
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)  # at the end, memory goes as a whole: nobody needs cycles to be found in it
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")  # colours that nobody sees take time
    try:
        from morphlm import command  # noqa: PLC0415
        from morphlm.cli.main import run  # noqa: PLC0415

        command.arguments = tuple(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    start()
