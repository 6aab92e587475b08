"""How good translations are: sacreBLEU's BLEU and chrF of text as people write it, with their signatures.

The paper reports case-insensitive BLEU. The statistics of each sentence are kept for tests of differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import InputError
from morphlm.extras import import_extra
from morphlm.tables import Table, counted
from morphlm.translation.tuning.bleu import Statistics, statistics_of


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular):
    """BLEU and chrF, both x 100."""

    bleu: float
    chrf: float
    brevity: float  # length of the translations over that of the references
    sentences: int
    bleu_signature: str
    chrf_signature: str
    statistics: Statistics  # (sentences, SIZE), of which `bleu` is made

    __repr__ = dataclass_repr

    def to_table(self) -> Table:
        rows = [["BLEU", f"{self.bleu:.2f}"], ["chrF", f"{self.chrf:.2f}"], ["length ratio", f"{self.brevity:.3f}"]]
        notes = (f"BLEU|{self.bleu_signature}", f"chrF|{self.chrf_signature}")
        return Table([f"{counted(self.sentences, 'sentence')}", ""], rows, notes)

    def frame_rows(self) -> list[Row]:
        return [self.to_json()]

    def to_json(self) -> dict[str, Any]:
        return {
            "bleu": self.bleu,
            "chrf": self.chrf,
            "length_ratio": self.brevity,
            "sentences": self.sentences,
            "bleu_signature": self.bleu_signature,
            "chrf_signature": self.chrf_signature,
        }


def evaluate(translations: Sequence[str], references: Sequence[str], *, lowercase: bool = True) -> Evaluation:
    """Compare translations with references, line by line; both as people write them, not tokenised.

    Tokens are sacreBLEU's `13a`. With `lowercase`, as in the paper, capital letters make no difference.
    """
    import_extra("sacrebleu", "translation", "BLEU and chrF need")
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415  # a third of a second, for those who need it
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # noqa: PLC0415

    if len(translations) != len(references):
        raise InputError(
            f"{counted(len(translations), 'translation')} of {counted(len(references), 'reference')}; give one for each"
        )
    if not translations:
        raise InputError("there are no translations; give at least one")
    bleu, chrf = BLEU(lowercase=lowercase), CHRF(lowercase=lowercase)
    score = bleu.corpus_score(list(translations), [list(references)])
    characters = chrf.corpus_score(list(translations), [list(references)])
    tokenise = Tokenizer13a()  # type: ignore[no-untyped-call]

    def tokens(text: str) -> list[str]:
        # As sacreBLEU does it: lowercase first, and no space at the end.
        words: list[str] = tokenise((text.lower() if lowercase else text).rstrip()).split()
        return words

    return Evaluation(
        bleu=score.score,
        chrf=characters.score,
        brevity=score.sys_len / max(score.ref_len, 1),
        sentences=len(translations),
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        statistics=statistics_of(map(tokens, translations), map(tokens, references)),
    )
