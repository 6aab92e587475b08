"""Word alignment from text to links: both directions, joined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.progress import ProgressOption, progress_bar, reports_progress
from morphlm.tables import counted, percent
from morphlm.translation.alignment.config import AlignmentConfig
from morphlm.translation.alignment.links import Alignments
from morphlm.translation.alignment.model import AlignmentModel, Pass, train_alignment
from morphlm.translation.alignment.parallel_text import ParallelText, Side, read_parallel
from morphlm.translation.alignment.symmetrise import symmetrise
from morphlm.vocabulary.corpus import Source

Report = Callable[[str, Pass], None]


@dataclass(frozen=True, eq=False)
class Aligned:
    """A text with its links, and how the directions were trained."""

    text: ParallelText
    alignments: Alignments
    passes: dict[str, tuple[Pass, ...]]  # by direction

    __repr__ = dataclass_repr

    @property
    def unlinked(self) -> tuple[float, float]:
        """The shares of source and of target words that have no link."""
        source, target = self.text.source, self.text.target
        links = self.alignments
        return _unlinked(source, links.source, links), _unlinked(target, links.target, links)

    def format(self) -> str:
        source, target = self.unlinked
        return (
            f"{counted(len(self.text), 'pair')}, {counted(len(self.alignments.source), 'link')}; without a link: "
            f"{percent(source)} of the source words, {percent(target)} of the target words"
        )

    def to_json(self) -> dict[str, Any]:
        source, target = self.unlinked
        return {
            "pairs": len(self.text),
            "source_tokens": len(self.text.source.tokens),
            "target_tokens": len(self.text.target.tokens),
            "links": len(self.alignments.source),
            "source_unlinked": source,
            "target_unlinked": target,
            "passes": {name: [em_pass.to_json() for em_pass in passes] for name, passes in self.passes.items()},
        }


def _unlinked(side: Side, positions: Array, links: Alignments) -> float:
    linked = np.zeros(len(side.tokens), np.bool_)
    linked[np.repeat(side.starts[:-1], np.diff(links.starts)) + positions] = True
    return 1.0 - float(linked.mean()) if len(linked) else 0.0


@reports_progress
def align(
    source: Source,
    target: Source,
    config: AlignmentConfig | None = None,
    *,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Alignments:
    """Align tokenised text, line by line translations: files or iterables of token lists.

    The result does not depend on the number of threads. Lines that are empty on either side have no links.
    """
    config = config or AlignmentConfig()
    with progress_bar("aligning", config.iterations * (2 if config.direction == "both" else 1), "pass") as bar:
        text = read_parallel(source, target)
        return align_text(text, config, threads=threads, report=lambda *_: bar.update()).alignments


def align_text(
    text: ParallelText,
    config: AlignmentConfig | None = None,
    *,
    threads: int | None = None,
    report: Report | None = None,
) -> Aligned:
    """Align a text that has been read; `report` is told the direction and what each pass saw."""
    config = config or AlignmentConfig()

    def train(name: str) -> AlignmentModel:
        report_pass = None if report is None else lambda em_pass: report(name, em_pass)
        return train_alignment(text, config, backward=name == "backward", threads=threads, report=report_pass)

    names = ("forward", "backward") if config.direction == "both" else (config.direction,)
    models = {name: train(name) for name in names}
    links = [model.alignments for model in models.values()]
    joined = symmetrise(links[0], links[1], config.method, threads=threads) if len(links) > 1 else links[0]
    return Aligned(text, joined, {name: model.passes for name, model in models.items()})
