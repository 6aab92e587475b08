"""Translating by ranks of MPI: rank 0 reads and writes, all translate, each with the system that it loads by itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from morphlm.ranks import Communicator, portable_error
from morphlm.text.reading import UntilRefused
from morphlm.translation.decoder.translation import Translation
from morphlm.translation.system.output import OutputOptions, Rendered, renderer
from morphlm.translation.system.segments import Segment
from morphlm.translation.system.system import SystemOrigin, TranslationSystem
from morphlm.translation.system.truecasing import TextWriter

SEGMENTS, SEGMENTS_OF_THREAD = 16, 4  # that a rank is given at a time, at least

NumberedSegment = tuple[int, Segment]  # with its line in the text, from 0
Answer = tuple[bool, Rendered]  # whether there is no translation, and what is written
Answers = Generator[tuple[NumberedSegment, Answer], None, None]


class SystemAtRank:
    """A system that each rank loads once, when it first has something to do with it; it travels as its origin."""

    def __init__(self, origin: SystemOrigin, system: TranslationSystem | None = None) -> None:
        self.origin, self._system = origin, system

    def __reduce__(self) -> tuple[type[SystemAtRank], tuple[SystemOrigin]]:
        return SystemAtRank, (self.origin,)

    def loaded(self) -> TranslationSystem:
        if self._system is None:
            self._system = self.origin.load()
        return self._system


@dataclass(frozen=True, eq=False)
class RankedDecoding:
    """What all ranks need to know to translate."""

    system: SystemAtRank
    wanted: OutputOptions
    writer: TextWriter
    threads: int


@dataclass(frozen=True)
class TranslatedChunk:
    """What became of some segments."""

    answers: Sequence[Answer]  # of the segments before the one that failed
    error: BaseException | None
    met_features: frozenset[str]  # of the grammars that segments named


def translate_chunk(decoding: RankedDecoding, segments: Sequence[Segment]) -> TranslatedChunk:
    """What a rank does with some segments; as in one process, those before one that fails are answered."""
    system, render = decoding.system.loaded(), renderer(decoding.wanted, decoding.writer)

    def task(segment: Segment, found: Translation | None) -> Answer:
        return found is None, render(segment, found)

    answers: list[Answer] = []
    error = None
    try:
        for answer in system.map_segments(task, segments, threads=decoding.threads):
            answers.append(answer)  # those before an error stay
    except Exception as problem:
        error = portable_error(problem)
    return TranslatedChunk(answers, error, system.met_features)


def translate_apart(comm: Communicator, decoding: RankedDecoding, lines: Iterable[NumberedSegment]) -> Answers:
    """Each segment with its answer, in order; ranks take the next segments as they become free."""
    system, readable = decoding.system.loaded(), UntilRefused(lines)
    size = max(SEGMENTS, SEGMENTS_OF_THREAD * decoding.threads)
    asked: deque[list[NumberedSegment]] = deque()

    def chunks() -> Iterator[list[Segment]]:
        while chunk := list(islice(readable, size)):
            asked.append(chunk)
            yield [system.announced(segment) for _, segment in chunk]

    with closing(comm.farm_out(f"{__name__}:translate_chunk", chunks(), decoding)) as outcomes:
        for outcome in outcomes:
            translated: TranslatedChunk = outcome.result()
            system.meet_features(translated.met_features)
            yield from zip(asked.popleft(), translated.answers, strict=False)  # fewer answers if one has failed
            if translated.error is not None:
                raise translated.error
    readable.check()
