"""Which command this process is, if it is the command `morphlm`: nobody else's code runs in it then."""

from __future__ import annotations

arguments: tuple[str, ...] | None = None  # of the command line; None in other programs
