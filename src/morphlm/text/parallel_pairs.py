"""Preparing parallel text: both sides of a pair are prepared alike, and a pair is kept or dropped as a whole.

A pair goes when either side is empty or too long, or when the sides differ so much in length that they can hardly be
translations of each other. Line n of one output stays the translation of line n of the other.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError, located
from morphlm.files import source_name
from morphlm.processes import ordered_map
from morphlm.progress import ProgressOption, reports_progress
from morphlm.text.preparation import Counts, Preparation, PrepareOptions
from morphlm.text.prepare import (
    PIECE_BYTES,
    Prepared,
    check_streams,
    drop_reason,
    keep_record,
    make_preparation,
    prepare_line,
    total_bytes,
    write_prepared,
)
from morphlm.text.reading import Block, Mending, read_blocks
from morphlm.wording import either, option

MAX_RATIO = 3.0
ALWAYS_CLOSE = 5  # tokens of difference that are always accepted: `Ano .` may be `Yes , that is right .`

Paths = tuple[str | Path, str | Path]


@dataclass(frozen=True)
class PairOptions:
    """How both sides of parallel text are prepared."""

    source: PrepareOptions
    target: PrepareOptions
    max_ratio: float = MAX_RATIO  # most tokens of the longer side for each of the shorter; 0 keeps all

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        if self.max_ratio and not self.max_ratio >= 1:
            raise ConfigError(f"max-ratio {self.max_ratio:g} is below 1; 0 keeps pairs of any lengths")

    @property
    def sides(self) -> tuple[PrepareOptions, PrepareOptions]:
        """Both sides, the source first."""
        return self.source, self.target


def pair_options(
    languages: tuple[str | None, str | None],
    *,
    cyrillic_share: float | None = None,
    max_ratio: float = MAX_RATIO,
    **steps: Any,  # the other fields of PrepareOptions
) -> PairOptions:
    """Equal steps for both sides, each in its language; `steps` are other fields of `PrepareOptions`.

    Only a Russian side is filtered for Cyrillic, by `cyrillic_share`. Pairs whose longer side has more than `max_ratio`
    times the tokens of the shorter are dropped.
    """
    if cyrillic_share and "ru" not in languages:
        raise ConfigError("cyrillic-share is for Russian and neither side is ru; prepare the other side by itself")
    if steps.get("tokeniser", "words") != "none" and None in languages:
        named = either("--languages en,cs", "languages=('en', 'cs')")
        raise ConfigError(
            f"the tokeniser needs both languages; give them ({named}) or say {option('--tokeniser', 'none')}"
        )
    source, target = (
        PrepareOptions(
            language=language,
            cyrillic_share=cyrillic_share if language == "ru" else 0.0,
            long_sentences="drop",  # a pair that is split would no longer be one
            **steps,
        )
        for language in languages
    )
    return PairOptions(source, target, max_ratio)


def pair_drop_reason(source: int, target: int, options: PairOptions) -> str | None:
    """The field of `Counts` under which a pair of such lengths is dropped; None if it is kept."""
    reasons = [
        drop_reason(source, options.source.max_tokens),
        drop_reason(target, options.target.max_tokens),
        "length_ratio" if _differ_too_much(source, target, options.max_ratio) else None,
    ]
    return next(
        (reason for name in ("empty", "too_long", "length_ratio") for reason in reasons if reason == name), None
    )


def _differ_too_much(source: int, target: int, max_ratio: float) -> bool:
    shorter, longer = sorted((source, target))
    return bool(max_ratio) and longer > max_ratio * shorter and longer - shorter > ALWAYS_CLOSE


@dataclass(frozen=True)
class PairPreparer:
    """Prepares blocks of pairs; it is what travels to the worker processes."""

    options: PairOptions
    mend: bool = False

    def __call__(self, blocks: tuple[Block, Block]) -> Prepared:
        """Both blocks have the same number of lines."""
        repairs: Counter[str] = Counter()
        fates: Counter[str] = Counter()
        kept: list[list[list[str]]] = []
        lost: Counter[int] = Counter()  # tokens of each side
        for pair in zip(*(self._sentences(side, blocks, repairs) for side in (0, 1)), strict=True):
            reason = pair_drop_reason(len(pair[0]), len(pair[1]), self.options)
            fates[reason or "kept"] += 1
            if reason is None:
                kept.append(list(pair))
            else:
                lost.update({side: len(tokens) for side, tokens in enumerate(pair)})
        lines = blocks[0].data.count(b"\n")
        return Prepared(
            texts=tuple("".join(" ".join(pair[side]) + "\n" for pair in kept).encode() for side in (0, 1)),
            counts=tuple(
                Counts(
                    lines,
                    tokens=sum(len(pair[side]) for pair in kept),
                    sentences=len(kept),
                    lost_tokens=lost[side],
                    **fates,
                )
                for side in (0, 1)
            ),
            repairs=repairs,
            bytes_read=sum(len(block.data) for block in blocks),
        )

    def _sentences(self, side: int, blocks: tuple[Block, Block], repairs: Counter[str]) -> Iterator[list[str]]:
        block = blocks[side]
        for number, line in enumerate(block.lines(), block.first_line):
            with located(block.source, number):
                tokens = prepare_line(line, self.options.sides[side], repairs if self.mend else None)
            yield tokens


@reports_progress
def prepare_pair_files(
    paths: Paths,
    outs: Paths,
    options: PairOptions,
    *,
    mend: bool = False,
    encoding: str | None = None,
    processes: int = 1,
    progress: ProgressOption = None,
) -> tuple[Preparation, Preparation]:
    """Prepare the two files of a parallel text, line by line translations, into two others with their records.

    `options` are of `pair_options`. The `encoding` of both is recognised unless it is named.
    """
    check_streams(paths)
    if "-" in map(str, outs) or Path(outs[0]).absolute() == Path(outs[1]).absolute():
        raise ConfigError("parallel text is written to two files; name two different ones (not '-')")
    mendings = (Mending(keep_lines=True, line_ends_only=not mend), Mending(keep_lines=True, line_ends_only=not mend))
    results = ordered_map(PairPreparer(options, mend), _pieces(_pairs(paths, mendings, encoding), paths), processes)
    counts, sizes, repairs = write_prepared(results, outs, total_bytes(paths))
    for mending in mendings:
        repairs += mending.repairs
    source, target = (
        keep_record(outs[side], make_preparation(side_options, counts[side], sizes[side], repairs, options.max_ratio))
        for side, side_options in enumerate(options.sides)
    )
    return source, target


def _pairs(paths: Paths, mendings: tuple[Mending, Mending], encoding: str | None) -> Iterator[tuple[bytes, bytes]]:
    """Line n of one file with line n of the other."""
    source, target = (_lines(path, mending, encoding) for path, mending in zip(paths, mendings, strict=True))
    for count, (source_line, target_line) in enumerate(itertools.zip_longest(source, target)):
        if source_line is None or target_line is None:
            more = 1 + sum(1 for _ in itertools.chain(source, target))
            raise _unequal(paths, count + more * (source_line is not None), count + more * (target_line is not None))
        yield source_line, target_line


def _pieces(pairs: Iterator[tuple[bytes, bytes]], paths: Paths) -> Iterator[tuple[Block, Block]]:
    """The pairs as blocks of both sides, small enough to keep all processes busy."""
    batch: list[tuple[bytes, bytes]] = []
    first, size = 1, 0
    for pair in pairs:
        batch.append(pair)
        size += len(pair[0]) + len(pair[1])
        if size >= PIECE_BYTES:
            yield _blocks(batch, first, paths)
            first, size, batch = first + len(batch), 0, []
    if batch:
        yield _blocks(batch, first, paths)


def _blocks(batch: list[tuple[bytes, bytes]], first: int, paths: Paths) -> tuple[Block, Block]:
    source, target = zip(*batch, strict=True)
    return Block(b"".join(source), first, source_name(paths[0])), Block(b"".join(target), first, source_name(paths[1]))


def _unequal(paths: Paths, source: int, target: int) -> InputError:
    return InputError(
        f"{source_name(paths[0])} has {source:,} lines and {source_name(paths[1])} has {target:,}, so they are no "
        "line-by-line translations; line n of one must translate line n of the other"
    )


def _lines(path: str | Path, mending: Mending, encoding: str | None) -> Iterator[bytes]:
    """The checked lines of one side, with their newlines."""
    for block in read_blocks(path, mending=mending, encoding=encoding):
        yield from block.data.splitlines(keepends=True)
