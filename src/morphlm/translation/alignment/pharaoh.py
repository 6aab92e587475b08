"""Alignments as text, one sentence pair a line, `0-0 1-2`: source and target positions, counted from 0."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from morphlm.arrays import Array
from morphlm.errors import InputError
from morphlm.files import atomic_writer, source_name
from morphlm.tables import counted
from morphlm.text.reading import Block, read_blocks
from morphlm.translation.alignment.kernels.pharaoh import format_links, parse_links
from morphlm.translation.alignment.links import Alignments, sorted_alignments
from morphlm.translation.alignment.parallel_text import ParallelText

_WRITTEN_AT_ONCE = 1 << 16  # pairs


def read_pharaoh(path: str | Path, text: ParallelText | None = None) -> Alignments:
    """Read the alignments of a file, of this or another tool; with `text`, links must lie inside its sentences."""
    parts = [_parsed(block) for block in read_blocks(path, marks="any")]
    counts, source, target = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    alignments = sorted_alignments(counts, source, target)
    if text is not None:
        check_inside(alignments, text, source_name(path))
    return alignments


def _parsed(block: Block) -> tuple[Array, Array, Array]:
    """The number of links of each line, their source and their target positions."""
    data = np.frombuffer(block.data, np.uint8)
    source, target = (np.empty(len(data) // 4 + 1, np.int32) for _ in range(2))
    counts = np.empty(block.data.count(b"\n") + 1, np.int64)
    line, wrong = parse_links(data, source, target, counts)
    if wrong >= 0:
        raise _no_link(block, line, wrong)
    links = int(counts[:-1].sum())
    return counts[:-1], source[:links].copy(), target[:links].copy()


def _no_link(block: Block, line: int, position: int) -> InputError:
    begin = max(block.data.rfind(mark, 0, position) for mark in (b" ", b"\t", b"\n")) + 1
    token = re.split(rb"[ \t\n]", block.data[begin : begin + 200], maxsplit=1)[0].decode(errors="replace")[:40]
    problem = f"{token!r} is no link; a line is like `0-0 1-2`, source and target positions from 0"
    return InputError(problem, source=block.source, line=block.first_line + line)


def check_inside(alignments: Alignments, text: ParallelText, name: str) -> None:
    """Refuse alignments that cannot be of this text: another number of pairs, or links outside of the sentences."""
    if len(alignments) != len(text):
        problem = f"it has {counted(len(alignments), 'line')}, and the text {counted(len(text), 'pair')}"
        raise InputError(f"{problem}; give the alignment of this text", source=name)
    pair = np.repeat(np.arange(len(text)), np.diff(alignments.starts))
    outside = alignments.source >= text.source.lengths[pair]
    outside |= alignments.target >= text.target.lengths[pair]
    if outside.any():
        link = int(np.argmax(outside))
        number = int(pair[link])
        raise InputError(
            f"the link {alignments.source[link]}-{alignments.target[link]} is outside of the sentences, which have "
            f"{text.source.lengths[number]} and {text.target.lengths[number]} words; give the alignment of this text, "
            "source positions first, from 0",
            source=name,
            line=number + 1,
        )


def write_pharaoh(path: str | Path, alignments: Alignments) -> None:
    """Write the alignments to a file ('-': standard output)."""
    with atomic_writer(path) as out:
        for begin in range(0, len(alignments), _WRITTEN_AT_ONCE):
            starts = alignments.starts[begin : begin + _WRITTEN_AT_ONCE + 1]
            out.write(format_links(starts, alignments.source, alignments.target).tobytes())
