"""Learning a recaser: text as it would be written in the middle of sentences, and an n-gram model of it."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from morphlm.errors import InputError
from morphlm.modelfile import check_can_hold_model
from morphlm.ngram.training import train_ngram
from morphlm.progress import ProgressOption, reports_progress
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_files
from morphlm.text.reading import read_blocks, split_tokens
from morphlm.translation.recasing.positions import is_in_capitals, unsure_positions
from morphlm.translation.recasing.recaser import Lowercase, Recaser, lowercase_by

ORDER = 3


@reports_progress
def train_recaser(
    text: str | Path,
    options: PrepareOptions,
    out: str | Path | None = None,
    *,
    order: int = ORDER,
    mend: bool = False,
    processes: int = 1,
    progress: ProgressOption = None,
) -> Recaser:
    """Learn how words are written from raw text, a file with a sentence a line.

    `options` say how the text that is to be recased was prepared; it is tokenised in the same way here. The model, of
    n-grams up to `order`, is written to the directory `out`.
    """
    if out is not None:
        check_can_hold_model(out)
    with tempfile.TemporaryDirectory() as folder:
        cased = Path(folder) / "cased"
        prepare_files(text, cased, with_case(options), mend=mend, processes=processes)
        sentences = list(truecased(list(_read(cased)), lowercase_by(options)))
    if not sentences:
        raise InputError("there is no sentence to learn capital letters from; give more text", source=str(text))
    recaser = Recaser(train_ngram(sentences, order, allow_unknown=True), options)
    if out is not None:
        recaser.model.save(out)
    return recaser


def with_case(options: PrepareOptions) -> PrepareOptions:
    """The same preparation but for the case."""
    return replace(options, case="keep")


def _read(path: Path) -> Iterator[list[str]]:
    for block in read_blocks(path, marks="unk"):
        yield from map(split_tokens, block.lines())


def truecased(sentences: Iterable[Sequence[str]], lowercase: Lowercase) -> Iterator[list[str]]:
    """Sentences as they would be written if nothing began with a capital; those in capitals are left out.

    A word that begins something gets its most frequent form elsewhere, or small letters if it is nowhere else; one that
    has other capitals than the first (EU, iPhone) shows how it is written.
    """
    usable = [sentence for sentence in sentences if sentence and not is_in_capitals(sentence)]
    usual = _usual_forms(usable, lowercase)
    for sentence in usable:
        tokens = list(sentence)
        for position in unsure_positions(tokens):
            word = tokens[position]
            if not _has_inner_capital(word):
                small = lowercase(word)
                tokens[position] = usual.get(small, small)
        yield tokens


def _has_inner_capital(word: str) -> bool:
    return word[1:] != word[1:].lower()


def _usual_forms(sentences: Iterable[Sequence[str]], lowercase: Lowercase) -> Mapping[str, str]:
    """The most frequent form of each word where its case is sure; of equally frequent ones the first."""
    counts: dict[str, int] = Counter()
    for sentence in sentences:
        unsure = unsure_positions(sentence)
        for position, token in enumerate(sentence):
            counts[token] += position not in unsure
    forms: dict[str, list[str]] = defaultdict(list)
    for form, count in counts.items():
        if count:
            forms[lowercase(form)].append(form)
    return {small: max(of_word, key=lambda form: counts[form]) for small, of_word in forms.items()}
