"""What rules may be, and how much of the training text is looked at for them."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.errors import ConfigError
from morphlm.translation.grammar.kernels.extraction import ExtractionLimits
from morphlm.translation.grammar.suffix_array import DEPTH

UNLIMITED = 1 << 60


@dataclass(frozen=True)
class GrammarConfig:
    """The limits of Chiang (2007) and the samples of Lopez (2007)."""

    max_symbols: int = 5  # words and gaps of a source side
    max_target_symbols: int = 12  # words and gaps of a target side
    min_gap: int = 1  # words that a gap covers in the source, at least
    max_input_span: int = 15  # words of the input from the first to the last that a rule's source side is taken from
    max_training_span: int = 12  # words of a training sentence that a rule covers
    sample: int = 300  # places of a source side that are looked at; 0: all
    anchors: int = 1000  # places of the rarest phrase of a source side with gaps where it is looked for; 0: all
    target_anchors: int = 100  # the same for target sides, of which only the number is asked
    max_targets: int = 30  # target sides of a source side, those with the highest p(e|f); 0: all
    tight_gaps: bool = True  # the first and the last source word of a gap must have a link
    linked_word: bool = True  # at least one word of the rule must have a link
    cached_symbols: int = 20_000_000  # of rules that are kept for the next sentences; 0: none

    def __post_init__(self) -> None:
        if not 1 <= self.max_symbols <= DEPTH or not 1 <= self.max_target_symbols <= DEPTH:
            raise ConfigError(f"a side has from 1 to {DEPTH} symbols; give such numbers")
        if self.min_gap < 1:
            raise ConfigError("a gap covers at least 1 word; give 1 or more")
        if not 1 <= self.max_input_span <= 255 or not 1 <= self.max_training_span <= 255:
            raise ConfigError("spans are from 1 to 255 words; give such numbers")
        counts = (self.sample, self.anchors, self.target_anchors, self.max_targets, self.cached_symbols)
        if min(counts) < 0:
            raise ConfigError("samples and sizes are 0 or above; give such numbers")

    def limits(self) -> ExtractionLimits:
        """As compiled code takes them."""
        return ExtractionLimits(
            symbols=self.max_symbols,
            gap=self.min_gap,
            span=self.max_training_span,
            targets=self.max_target_symbols,
            sample=self.sample or UNLIMITED,
            anchors=self.anchors or UNLIMITED,
            kept=self.max_targets or UNLIMITED,
            tight=self.tight_gaps,
            linked=self.linked_word,
        )
