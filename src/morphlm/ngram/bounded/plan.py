"""Before counting begins: how many n-grams a text has, what memory and disk space they take, and where to count.

The number of different n-grams is estimated in one pass over the text, by HyperLogLog (Flajolet et al. 2007), which
errs by about one per cent; memory and disk space follow from it.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.costs import format_size
from morphlm.errors import FileAccessError
from morphlm.files import existing_folder
from morphlm.memory import available_memory, memory_used_up, resident_memory
from morphlm.ngram.bounded import kernels
from morphlm.ngram.bounded.counting import TextStream
from morphlm.ngram.counting import check_number_of_tokens
from morphlm.progress import notify
from morphlm.vocabulary.corpus import Corpus
from morphlm.wording import option

SKETCH_BITS = 14  # 2^14 registers an order
SURVEY_TOKENS = 1 << 20  # looked at in one block
SHARE = 0.9  # of the memory that is available: the rest is for others and for errors of the estimate
MARGIN = 1.05  # the same for the disk
RESERVED_BYTES = 96 << 20  # for kernels that are compiled and for Python itself, while counting on disk
LEAST_BLOCKS = 64 << 20  # bytes that sorting needs at the least


@dataclass(frozen=True)
class CountingLimits:
    """What counting may take, and where what it writes goes."""

    memory: int | None = None  # bytes of the whole process; None: what is available
    temporary: Path | None = None  # folder of temporary files; None: that of the system
    out: Path | None = None  # where the model will be written

    @property
    def folder(self) -> Path:
        """The folder of temporary files."""
        return self.temporary or Path(tempfile.gettempdir())


NO_LIMITS = CountingLimits()


@dataclass(frozen=True)
class Survey:
    """The size of a text and, estimated, of its n-grams."""

    positions: int  # words, ends and begins of sentences
    ngrams: tuple[float, ...]  # of each order

    @property
    def total(self) -> float:
        return sum(self.ngrams)

    @property
    def lower(self) -> float:
        """Of all orders but the highest."""
        return sum(self.ngrams[:-1])

    @property
    def memory_bytes(self) -> float:
        """What counting and estimating take in memory, besides the text: two moments, of which either may be worse."""
        return max(21 * self.positions + 25 * self.total, 5 * self.positions + 66 * self.total)

    @property
    def model_bytes(self) -> float:
        return 12 * self.total + 12 * self.lower

    def temporary_bytes(self, *, is_pruned: bool) -> float:
        """What counting on disk takes there at the worst moment."""
        structure = 12 * self.total + 8 * self.lower
        counting = structure + (28 if len(self.ngrams) > 2 else 20) * self.positions
        highest = self.ngrams[-1]
        estimating = structure + 4 * (self.total + self.lower) + 8 * sum(self.ngrams[-2:]) + 12 * highest
        return MARGIN * max(counting, estimating + is_pruned * (structure + 8 * highest))


@dataclass(frozen=True)
class DiskPlan:
    """Counting on disk: with how much memory for its blocks, and how much disk space."""

    block_bytes: int
    temporary_bytes: float


def survey_text(corpus: Corpus, order: int) -> Survey:
    """Estimate how many different n-grams of each order a text has."""
    stream = TextStream(corpus, SURVEY_TOKENS)
    hashes, registers = np.zeros(order, np.uint64), np.zeros((order, 1 << SKETCH_BITS), np.uint8)
    for _, words, depth in stream.blocks():
        kernels.sketch_ngrams(words, depth, hashes, SKETCH_BITS, registers)
    higher = (min(_estimated(row), float(stream.positions)) for row in registers[1:])
    return Survey(stream.positions, (float(len(corpus.vocabulary)), *higher))


def _estimated(registers: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> float:
    """HyperLogLog's estimate; while it is small, that of linear counting."""
    m = len(registers)
    estimate = 0.7213 / (1 + 1.079 / m) * m * m / float(np.ldexp(1.0, -registers.astype(np.int64)).sum())
    empty = int(np.count_nonzero(registers == 0))
    return float(m * np.log(m / empty)) if empty and estimate <= 2.5 * m else estimate


def plan_counting(corpus: Corpus, order: int, limits: CountingLimits, *, is_pruned: bool = False) -> DiskPlan | None:
    """How to count on disk; None where memory is large enough. Says what it decides, and refuses a disk too small."""
    check_number_of_tokens(len(corpus.tokens), corpus.sentences)
    resident = resident_memory()
    room = available_memory() if limits.memory is None else limits.memory - resident
    most = Survey(len(corpus.tokens) + corpus.sentences, (float(len(corpus.tokens)),) * order)
    share = SHARE if limits.memory is None else 1.0
    if room is None or most.memory_bytes <= share * room:
        return None
    survey = survey_text(corpus, order)
    if survey.memory_bytes <= share * room:
        return None
    allowed = resident + int(share * room) if limits.memory is None else limits.memory
    plan = DiskPlan(_block_bytes(allowed, resident), survey.temporary_bytes(is_pruned=is_pruned))
    _check_disks(plan, survey, limits)
    notify(
        f"counting on disk, as {format_size(survey.memory_bytes)} would not fit into memory: about "
        f"{format_size(plan.temporary_bytes)} of temporary files in {limits.folder}"
    )
    return plan


def _block_bytes(allowed: int, resident: int) -> int:
    left = allowed - resident - RESERVED_BYTES
    if left < LEAST_BLOCKS:
        raise memory_used_up(allowed, resident)
    return left


def _check_disks(plan: DiskPlan, survey: Survey, limits: CountingLimits) -> None:
    """Refuse folders on disks that have too little space."""
    needed, out = plan.temporary_bytes, limits.out
    if out is not None and _is_same_disk(limits.folder, out):
        needed = max(needed, 2 * survey.model_bytes)
    elif out is not None:
        _check_disk(out, survey.model_bytes, "the model", "choose another place")
    _check_disk(
        limits.folder, needed, "counting on disk", f"make room or name another folder by {option('--temporary')}"
    )


def _check_disk(folder: Path, needed: float, what: str, advice: str) -> None:
    free = shutil.disk_usage(existing_folder(folder)).free
    if free < needed:
        raise FileAccessError(
            f"{what} needs about {format_size(needed)} here, and {format_size(free)} are free; {advice}",
            source=str(folder),
        )


def _is_same_disk(one: Path, other: Path) -> bool:
    return existing_folder(one).stat().st_dev == existing_folder(other).stat().st_dev
