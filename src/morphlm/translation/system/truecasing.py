"""Translations as a person would write them, with capital letters if there is a recaser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from morphlm.translation.decoder.translation import KBestTranslation
from morphlm.translation.recasing.positions import capital_positions
from morphlm.translation.recasing.recaser import Recaser
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.segments import Segment


@dataclass(frozen=True)
class TextWriter:
    """Puts the tokens of translations together."""

    config: SystemConfig
    recaser: Recaser | None = None
    tokenised: bool = False  # tokens between spaces

    def text_of(self, segment: Segment, candidate: KBestTranslation) -> str:
        """The text of a translation of a segment."""
        tokens: Sequence[str] = candidate.tokens
        if self.recaser is not None:
            tokens = self.recaser.recase(tokens, passed_forms(segment, candidate))
        return " ".join(tokens) if self.tokenised else self.config.text_of(tokens)


def passed_forms(segment: Segment, candidate: KBestTranslation) -> dict[int, str]:
    """How the source writes the words that passed through, by their positions in the translation.

    The word that begins the source has a capital in any case, which shows nothing.
    """
    if segment.cased is None:
        return {}
    first = capital_positions(segment.cased)
    return {
        target: segment.cased[source]
        for source, target in candidate.derivation.links
        if candidate.tokens[target] == segment.tokens[source] and source not in first
    }
