"""The standard streams of the command: streams that a shell has closed, and standard output that tells of its errors.

Data goes to a pipe or a file as it is. On a terminal its control characters are written out, as `ls` and git do it.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from pathlib import Path
from typing import Any

from morphlm.errors import InputError
from morphlm.files import NamedOutput
from morphlm.progress import escaped

STDOUT_NAME = "<stdout>"


class StandardOutput(NamedOutput):
    """Descriptor 1. After an error nothing more is written, so that Python does not complain again when it exits."""

    def __init__(self, descriptor: int, encoding: str) -> None:
        super().__init__(descriptor, "wb", STDOUT_NAME, closefd=False)
        self.name = STDOUT_NAME
        self._has_failed = False
        self._encoding = encoding
        # Characters may come in pieces; what is no character of the encoding passes as it is.
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogateescape") if self.isatty() else None

    def write(self, data: Any) -> int:
        if self._has_failed:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except InputError:
            self._has_failed = True
            raise

    def _put(self, data: Any) -> int:
        if self._decoder is None:
            return super()._put(data)
        shown = memoryview(escaped(self._decoder.decode(data)).encode(self._encoding, "surrogateescape"))
        while shown:
            shown = shown[super()._put(shown) :]
        return memoryview(data).nbytes


def open_streams() -> None:
    """Give the command its streams; whoever has replaced them, as tests do, keeps their own."""
    # Numba would have colorama end our output with an escape sequence, which a terminal would be shown written out.
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the shell (`<&-`): then it is empty
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    plain = sys.stdout
    if plain is sys.__stdout__ and isinstance(plain, io.TextIOWrapper):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(StandardOutput(plain.fileno(), plain.encoding)),
            encoding=plain.encoding,
            errors=plain.errors,
            line_buffering=plain.line_buffering,
        )
