"""What rules may be, and how much of the training text is looked at for them."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.display import dataclass_repr
from morphlm.settings import Settings, setting
from morphlm.translation.grammar.kernels.extraction import ExtractionLimits
from morphlm.translation.grammar.suffix_array import DEPTH

UNLIMITED = 1 << 60


@dataclass(frozen=True)
class GrammarConfig(Settings):
    """The limits of Chiang (2007) and the samples of Lopez (2007)."""

    max_symbols: int = setting(5, "Words and gaps of a source side.", at_least=1, at_most=DEPTH)
    max_target_symbols: int = setting(12, "Words and gaps of a target side.", at_least=1, at_most=DEPTH)
    min_gap: int = setting(1, "Words of the source that a gap covers, at least.", at_least=1)
    max_input_span: int = setting(
        15, "Words of the input from the first to the last that a source side is taken from.", at_least=1, at_most=60
    )
    max_training_span: int = setting(12, "Words of a training sentence that a rule covers.", at_least=1, at_most=60)
    sample: int = setting(300, "Occurrences of a source side to look at; 0: all.", at_least=0)
    anchors: int = setting(
        1000, "Occurrences of the rarest chunk of a source side with gaps to look at; 0: all.", at_least=0
    )
    target_anchors: int = setting(
        100, "Occurrences of the rarest chunk of a target side to look at when these are counted; 0: all.", at_least=0
    )
    max_targets: int = setting(30, "Target sides of a source side, the likeliest; 0: all.", at_least=0)
    tight_gaps: bool = setting(
        True, "The first and the last source word of a gap must have a link.", option="--tight-gaps/--loose-gaps"
    )
    tight_phrases: bool = setting(
        False,
        "The first and the last source word of a rule must have a link, unless a gap stands there.",
        option="--tight-phrases/--loose-phrases",
    )
    linked_word: bool = setting(
        True, "At least one word of a rule must have a link.", option="--linked-rules/--unlinked-rules"
    )
    cached_symbols: int = setting(
        20_000_000, "Symbols of the rules that are kept for the next sentences; 0: none.", at_least=0
    )

    __repr__ = dataclass_repr

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
            tight_edges=self.tight_phrases,
            linked=self.linked_word,
        )
