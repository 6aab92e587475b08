"""What a word's vector is made of: which of its morphemes have vectors, and whether a stem is among them.

A word that was never seen gets the sum of its known morphemes. If those are affixes alone, the vector tells what kind
of word it is and nothing of what it means, so whoever shows it has to say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from morphlm.display import dataclass_repr
from morphlm.segmentation.morphemes import PREFIX, STEM, SUFFIX, split_name

# Where a vector comes from: the word itself; its morphemes, a stem among them; its affixes alone; nowhere (UNK's).
Origin = Literal["known", "composed", "affixes", "unknown"]


@dataclass(frozen=True)
class Composition:
    """The parts of a word, in its order, and where its vector comes from."""

    word: str
    origin: Origin
    parts: tuple[tuple[str, bool], ...]  # names of morphemes (`ung/SUF`), and whether each has a vector

    __repr__ = dataclass_repr

    @property
    def known(self) -> tuple[str, ...]:
        """The morphemes whose vectors are added."""
        return tuple(name for name, known in self.parts if known)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The morphemes that were never seen, and add nothing."""
        return tuple(name for name, known in self.parts if not known)

    @property
    def stem_known(self) -> bool | None:
        """Whether the vector has a stem in it. A word that was seen counts; None: its parts have no labels."""
        if self.origin in ("known", "unknown"):
            return self.origin == "known"
        return None if _without_labels(self.known) else self.origin == "composed"

    def format(self) -> str:
        """In plain words: `only its affixes are known: ne- -ami`."""
        shown = " ".join(map(shown_morpheme, self.known)) or "its subwords"
        return {
            "known": "seen in training",
            "composed": f"never seen; composed of {shown}",
            "affixes": f"only its affixes are known: {shown}",
            "unknown": "never seen, and no part of it is known",
        }[self.origin]

    def to_json(self) -> dict[str, Any]:
        return {"known": list(self.known), "unknown": list(self.unknown), "stem_known": self.stem_known}


def origin_of(parts: tuple[tuple[str, bool], ...]) -> Origin:
    """Where the vector of a word that was never seen comes from."""
    labels = {split_name(name)[1] for name, known in parts if known}
    if not labels:
        return "unknown"
    return "affixes" if labels <= {PREFIX, SUFFIX} else "composed"


def _without_labels(names: tuple[str, ...]) -> bool:
    return all(split_name(name)[1] is None for name in names)


def shown_morpheme(name: str) -> str:
    """A morpheme as grammars write it: `ne-` before a stem, `-ami` after one."""
    form, label = split_name(name)
    return {PREFIX: f"{form}-", STEM: form, SUFFIX: f"-{form}"}.get(label or "", form)
