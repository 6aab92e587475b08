"""fast_align's model (Dyer, Chahuneau & Smith 2013) for one direction, trained by EM with variational Bayes.

Each generated word f_j chooses NULL with probability p0, or the given word e_i with
(1 - p0) exp(-lambda |i/m - j/n|) / Z, and is then its translation with probability t(f_j | e_i).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.tables import percent
from morphlm.threads import Workers, available_cores, workers
from morphlm.translation.alignment.config import TENSION_RANGE, AlignmentConfig
from morphlm.translation.alignment.kernels import expectation
from morphlm.translation.alignment.kernels.tension import expected_distances, linked_masses
from morphlm.translation.alignment.links import Alignments, sorted_alignments
from morphlm.translation.alignment.parallel_text import ParallelText
from morphlm.translation.alignment.rows import AlignmentLayout, lay_out
from morphlm.translation.alignment.translation_table import TranslationTable, collect_translation_table

_SHARD = 512  # sentences; their sums are added up in order, whoever computed them


@dataclass(frozen=True)
class Pass:
    """What one pass of EM saw, before it changed the model."""

    iteration: int  # from 1
    tension: float  # lambda
    log_likelihood: float  # natural logarithm, of all generated words
    cross_entropy: float  # bits a generated word
    null_share: float  # of the generated words, the expected share that is linked to nothing

    def format(self) -> str:
        return (
            f"pass {self.iteration}: tension {self.tension:.3f}, {self.cross_entropy:.3f} bits a word, "
            f"{percent(self.null_share)} without a link"
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, eq=False)
class AlignmentModel:
    """A trained direction, and the best links of the text that it was trained on."""

    alignments: Alignments
    tension: float
    passes: tuple[Pass, ...]
    lexicon: TranslationTable | None

    __repr__ = dataclass_repr


def train_alignment(
    text: ParallelText,
    config: AlignmentConfig | None = None,
    *,
    backward: bool = False,
    lexicon: bool = False,
    threads: int | None = None,
    report: Callable[[Pass], None] | None = None,
) -> AlignmentModel:
    """Align a text in one direction: each target word chooses a source word, or `backward` the reverse.

    `report` is told of every pass; with `lexicon` the table t(f|e) is kept.
    """
    config = config or AlignmentConfig()
    given, generated = (text.target, text.source) if backward else (text.source, text.target)
    with workers(threads or available_cores()) as pool:
        trainer = _Trainer(lay_out(given, generated), config, pool)
        passes = []
        for _ in range(config.iterations if len(trainer.layout.pairs) else 0):
            passes.append(trainer.run())
            if report is not None:
                report(passes[-1])
        table = (
            collect_translation_table(trainer.layout, trainer.links, given.words, generated.words, pool)
            if lexicon
            else None
        )
        best, layout, tension = trainer.best(), trainer.layout, trainer.tension
    del trainer  # its links are most of the memory
    return AlignmentModel(_alignments(best, layout, len(text), backward), tension, tuple(passes), table)


class _Trainer:
    """The state of EM: t(f|e) for every link that could be, and the tension."""

    def __init__(self, layout: AlignmentLayout, config: AlignmentConfig, pool: Workers) -> None:
        self.layout, self.config, self.pool = layout, config, pool
        self.links = np.empty(layout.links, np.float32)
        self.links.fill(1.0 / max(layout.generated_words, 1))
        self.tension, self.iteration = config.tension, 0
        words = layout.generated_words
        self._spaces = [  # counts, seen and values of `translation_probabilities`
            (np.full(words, -1.0), np.empty(words + 1, np.int32), np.empty(words, np.float32))
            for _ in range(pool.threads)
        ]

    def run(self) -> Pass:
        """One pass: the expected links under the model, then the model that fits them best."""
        self.iteration += 1
        likelihood, distance, nulls = self.expect()
        words = len(self.layout.rows.generated)
        bits = -likelihood / np.log(2) / words
        result = Pass(self.iteration, self.tension, likelihood, float(bits), nulls / words)
        if self.config.optimise_tension and self.iteration > 1:
            self.tension = fitted_tension(self.layout, self.links, distance, self.pool)
        self.fit_translations()
        return result

    def expect(self) -> tuple[float, float, float]:
        """Log-likelihood, expected distance from the diagonal, expected links to NULL; the links become posteriors."""
        sentences = len(self.layout.pairs)
        sums = np.zeros((-(-sentences // _SHARD), 3))

        def work(shard: int, _: int) -> None:
            begin, end = shard * _SHARD, min((shard + 1) * _SHARD, sentences)
            expectation.posteriors(self.layout.rows, self.links, begin, end, self.tension, self.config.p0, sums[shard])

        self.pool.run_pieces(work, len(sums))
        likelihood, distance, nulls = sums.sum(0).tolist()
        return likelihood, distance, nulls

    def fit_translations(self) -> None:
        """Posteriors to t(f|e), word by word."""

        def work(piece: int, worker: int) -> None:
            begin, end = self.layout.pieces[piece]
            expectation.translation_probabilities(
                self.layout.rows, self.links, begin, end, self.config.alpha, *self._spaces[worker]
            )

        self.pool.run_pieces(work, len(self.layout.pieces))

    def best(self) -> Array:
        """The best given position of each generated word, -1: none."""
        rows = self.layout.rows
        best = np.empty(len(rows.generated), np.int32)
        self.pool.run_ranges(
            lambda begin, end: expectation.best_links(rows, self.links, begin, end, self.tension, self.config.p0, best),
            len(self.layout.pairs),
        )
        return best


def fitted_tension(layout: AlignmentLayout, links: Array, observed: float, pool: Workers) -> float:
    """The tension under which the expected distance of links from the diagonal is the observed one.

    This is where the expected log-likelihood is highest: its derivative is expected - observed distance, which falls as
    the tension grows. `links` are posteriors.
    """
    shapes, rows = layout.shapes, layout.rows
    masses, sums = np.empty(shapes.mass_starts[-1]), np.empty(len(shapes.sizes))
    pool.run_ranges(lambda begin, end: linked_masses(rows, links, shapes, begin, end, masses), len(sums))

    def excess(tension: float) -> float:
        pool.run_ranges(lambda begin, end: expected_distances(shapes, masses, begin, end, tension, sums), len(sums))
        return float(sums.sum()) - observed

    low, high = TENSION_RANGE
    if excess(low) <= 0:
        return low
    return high if excess(high) >= 0 else float(brentq(excess, low, high, xtol=1e-6, rtol=1e-9))


def _alignments(best: Array, layout: AlignmentLayout, pairs: int, backward: bool) -> Alignments:
    starts = layout.rows.generated_starts
    sentence = np.repeat(np.arange(len(layout.pairs)), np.diff(starts))
    position = np.arange(len(best)) - starts[sentence]
    linked = best >= 0
    counts = np.bincount(layout.pairs[sentence[linked]], minlength=pairs)
    links = best[linked], position[linked]
    return sorted_alignments(counts, *(reversed(links) if backward else links))
