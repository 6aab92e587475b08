"""A vocabulary from text in one call."""

from __future__ import annotations

from pathlib import Path

from morphlm.files import check_can_write
from morphlm.progress import ProgressOption, reports_progress
from morphlm.vocabulary.corpus import Source, count_words
from morphlm.vocabulary.vocabulary import Vocabulary


@reports_progress
def make_vocabulary(
    source: Source,
    out: str | Path | None = None,
    *,
    kappa: float = 0.2,
    seed: int = 1,
    allow_unknown: bool = False,
    progress: ProgressOption = None,
) -> Vocabulary:
    """Count the words of a text; a share `kappa` of those that occur once, chosen by the `seed`, becomes UNK.

    `source` is a file, several paths, raw lines, or lists of tokens; `allow_unknown` admits <unk> in it. With `out`,
    the vocabulary is written there, `word TAB count` a line. `progress` is as of `morphlm.train`.
    """
    if out is not None:
        check_can_write(out)
    vocabulary = count_words(source, allow_unknown=allow_unknown).vocabulary(kappa, seed)
    if out is not None:
        vocabulary.save(out)
    return vocabulary
