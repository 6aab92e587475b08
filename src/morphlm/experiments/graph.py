"""The steps of an experiment: what each one is, what it needs, and the key under which its result is kept.

The key is a hash of everything that the result depends on, so that it is known before anything is run: equal keys mean
equal results, in whatever recipe a step stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from morphlm.modelfile import canonical_json

SHORT = 8  # digits of a key in the name of a folder
LONG = 16  # ... of a file of results


@dataclass(frozen=True)
class Step:
    """One piece of work with one result."""

    kind: str  # "texts", "stages", "model", ...: which function does it
    version: int  # of what that function makes; raised when it makes something else from the same input
    name: str  # for people: "cs clbl++"
    settings: Mapping[str, Any]
    inputs: tuple[Step, ...] = ()  # whose results it depends on
    files: Mapping[str, str] = field(default_factory=dict)  # role -> SHA-256 of files from outside
    after: tuple[Step, ...] = ()  # what saves it time when it is done before; its result does not depend on it
    hints: Mapping[str, Any] = field(default_factory=dict, compare=False)  # for estimates and places only

    @cached_property
    def key(self) -> str:
        """The SHA-256 of all that the result depends on."""
        content = {
            "kind": self.kind,
            "version": self.version,
            "settings": dict(self.settings),
            "inputs": [step.key for step in self.inputs],
            "files": dict(self.files),
        }
        return hashlib.sha256(canonical_json(content)).hexdigest()

    @property
    def short(self) -> str:
        """The beginning of the key, for names that people read."""
        return self.key[:SHORT]

    @property
    def needs(self) -> tuple[Step, ...]:
        """What must have been done before."""
        return (*self.inputs, *self.after)


@dataclass(frozen=True)
class Done:
    """What a step gives."""

    result: dict[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)  # that belong to it, with their hashes
    fresh: bool = True  # all of the work was done now


def in_order(wanted: Iterable[Step]) -> list[Step]:
    """The steps and all that they need, each once, what is needed before what needs it."""
    found: dict[str, Step] = {}
    for step in wanted:
        for each in _with_needs(step, found):
            found[each.key] = each
    return list(found.values())


def _with_needs(step: Step, done: Mapping[str, Step]) -> Iterator[Step]:
    if step.key in done:
        return
    for need in step.needs:
        yield from _with_needs(need, done)
    yield step
