"""Perplexity by part of speech, and on sequences of tags such as adjective and noun (paper, 4.2).

The tagged text is prepared like the models' training text and scored; each token counts in the group of its tag.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from morphlm.analysis.bootstrap import RESAMPLES
from morphlm.analysis.frequency import UNSEEN
from morphlm.analysis.groups import (
    EXAMPLES,
    GroupComparison,
    PairedScores,
    Positions,
    compare_members,
    model_names,
    score_forms,
)
from morphlm.analysis.tag_alignment import AlignedSentence, align_with_text, prepare_tagged, preparer_for
from morphlm.analysis.tag_classes import REST, coarse_class
from morphlm.analysis.tag_reading import UNTAGGED, TaggedSentence
from morphlm.errors import ConfigError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text
from morphlm.language_model.perplexity import text_signature
from morphlm.text.reading import END
from morphlm.vocabulary.corpus import Source, describe
from morphlm.vocabulary.vocabulary import UNK_ID
from morphlm.wording import option

TITLE = "part of speech"
SENTENCE_END = "end of sentence"


def tag_comparison(
    baseline: LanguageModel,
    other: LanguageModel,
    tagged: Iterable[TaggedSentence],
    *,
    sequences: Sequence[Sequence[str]] = (),
    coarse: bool = False,
    unseen_apart: bool = False,
    text: Source | None = None,
    prepared: bool | None = None,
    encoding: str | None = None,
    names: tuple[str, str] | None = None,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> GroupComparison:
    """Compare two models on tagged text (`read_tagged`), by tag and on all matches of each of the `sequences`.

    The text scored is made of the tagged tokens, prepared as the models' training text was; or it is `text`, whose
    lines must be the tagged sentences (`prepared` is as of `LanguageModel.perplexity`). With `coarse`, tags are grouped
    to Noun, Adjective, Verb, ... With
    `unseen_apart`, tokens that the baseline does not know are a group of their own and count under no tag.
    """
    tagged = list(tagged)
    _check_sequences(sequences)
    text = None if text is None else fit_text([baseline, other], text, prepared=prepared, encoding=encoding)
    aligned = prepare_tagged(tagged, preparer_for([baseline, other], text))
    sentences = list(aligned if text is None else align_with_text(aligned, text))
    if not sentences:
        raise InputError("nothing is left of the tagged text; give sentences with words", source=_sources(tagged))
    forms, spans = _spans(sentences)
    groups = _by_tag(spans, coarse)
    matches = {" ".join(sequence): _matches(spans, sequence, coarse) for sequence in sequences}
    signatures = None if text is None else (text_signature(baseline, text), text_signature(other, text))
    name = _sources(tagged) if text is None else describe(text)
    scored = score_forms(baseline, other, forms, name, signatures)
    return compare_members(
        scored,
        _ordered(groups, scored, unseen_apart) | {name: match.positions for name, match in matches.items()},
        TITLE,
        names or model_names(baseline, other),
        seed=seed,
        resamples=resamples,
        notes=[
            *(_strange_tags(spans) if coarse else []),
            *(f"{name}: {match.count:,} matches" for name, match in matches.items()),
        ],
    )


def _sources(tagged: Sequence[TaggedSentence]) -> str:
    return ", ".join(dict.fromkeys(sentence.source for sentence in tagged)) or "<tagged sentences>"


def _check_sequences(sequences: Sequence[Sequence[str]]) -> None:
    for sequence in sequences:
        if isinstance(sequence, str) or len(sequence) < 2 or not all(sequence):
            shown = sequence if isinstance(sequence, str) else ",".join(sequence)
            raise ConfigError(f"{shown!r} is no sequence of tags; write two or more, like ADJ,NOUN")


# ------------------------------------------------------------ positions


@dataclass(frozen=True)
class _TaggedSpan:
    """A tag and the positions of its tokens in the scored text."""

    tag: str
    positions: range


@dataclass(frozen=True, eq=False)
class _Match:
    """How often a sequence occurs, and the tokens of all its matches, each once."""

    count: int
    positions: Positions


def _spans(sentences: Sequence[AlignedSentence]) -> tuple[list[bytes], list[list[_TaggedSpan]]]:
    """The tokens of the text, END after each sentence, and where each unit is among them."""
    forms: list[bytes] = []
    spans: list[list[_TaggedSpan]] = []
    for sentence in sentences:
        spans.append([])
        for unit in sentence.units:
            spans[-1].append(_TaggedSpan(unit.tag, range(len(forms), len(forms) + len(unit.tokens))))
            forms += [token.encode() for token in unit.tokens]
        forms.append(END.encode())
    return forms, spans


def _by_tag(spans: Sequence[Sequence[_TaggedSpan]], coarse: bool) -> dict[str, Positions]:
    """The positions of the tokens of each tag or coarse class."""
    positions_of: defaultdict[str, list[int]] = defaultdict(list)
    for unit in chain.from_iterable(spans):
        positions_of[_label(unit.tag, coarse)] += unit.positions
    if coarse and not any(coarse_class(unit.tag) for unit in chain.from_iterable(spans)):
        tag = spans[0][0].tag
        raise ConfigError(
            f"coarse classes are known of UPOS and STTS tags, not of such as {tag}; leave "
            f"{option('--coarse', True)} out"
        )
    return {name: np.array(positions, np.int64) for name, positions in positions_of.items()}


def _strange_tags(spans: Sequence[Sequence[_TaggedSpan]]) -> list[str]:
    """A note on tags that have no class, if there are any: those of another set than the classes are made for."""
    tags = Counter(unit.tag for unit in chain.from_iterable(spans) if unit.tag != UNTAGGED)
    strange = [tag for tag, _ in tags.most_common() if coarse_class(tag) is None]
    shown = ", ".join([*strange[:EXAMPLES], "..."] if len(strange) > EXAMPLES else strange)
    return [f"{REST} has all tags that are neither of UPOS nor of STTS: {shown}"] if strange else []


def _ordered(groups: Mapping[str, Positions], scored: PairedScores, unseen_apart: bool) -> dict[str, Positions]:
    """Unseen tokens, if they are apart; the tags, the most frequent first; the ends of sentences."""
    unknown = scored.tokens == UNK_ID if unseen_apart else np.zeros(len(scored.tokens), bool)
    known = {name: positions[~unknown[positions]] for name, positions in groups.items()}
    order = sorted(filter(lambda name: len(known[name]), known), key=lambda name: (-len(known[name]), name))
    first = {UNSEEN: np.flatnonzero(unknown)} if unseen_apart else {}
    return first | {name: known[name] for name in order} | {SENTENCE_END: scored.ends}


def _label(tag: str, coarse: bool) -> str:
    return tag if not coarse or tag == UNTAGGED else coarse_class(tag) or REST


def _matches(spans: Sequence[Sequence[_TaggedSpan]], sequence: Sequence[str], coarse: bool) -> _Match:
    """All positions at which the tags follow one another; with `coarse` a tag may be named by its class."""
    count, positions = 0, set[int]()
    for sentence in spans:
        fits = [[name in (unit.tag, _label(unit.tag, coarse)) for unit in sentence] for name in sequence]
        for begin in range(len(sentence) - len(sequence) + 1):
            if all(row[begin + step] for step, row in enumerate(fits)):
                count += 1
                positions.update(
                    chain.from_iterable(unit.positions for unit in sentence[begin : begin + len(sequence)])
                )
    return _Match(count, np.array(sorted(positions), np.int64))
