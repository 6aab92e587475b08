"""Parallel training text with its links, as arrays on disk that are mapped into memory: what rules are found in.

Both sides have a suffix array; the links are there one by one and as extents of words; word translation probabilities
are counted from them. Ids of words are those of `source_words` and `target_words`: END, UNKNOWN, then by frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.arrays import Array, read_only, starts_of
from morphlm.display import dataclass_repr
from morphlm.errors import FormatError, InputError
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.modelfile import ModelFiles, read_model, write_model
from morphlm.text.reading import END as END_MARK
from morphlm.text.reading import UNKNOWN as UNKNOWN_MARK
from morphlm.translation.alignment.links import Alignments
from morphlm.translation.alignment.parallel_text import ParallelText, Side
from morphlm.translation.alignment.pharaoh import check_inside
from morphlm.translation.grammar.kernels.features import LexicalTable
from morphlm.translation.grammar.kernels.links import HALF, MAX_SENTENCE, AlignedPairs, make_extents
from morphlm.translation.grammar.kernels.search import END, FIRST_WORD, UNKNOWN, IndexedText
from morphlm.translation.grammar.suffix_array import searchable
from morphlm.wording import either

KIND = "bitext"
SOURCE_WORDS, TARGET_WORDS = "source.words.txt", "target.words.txt"
MARKS = (END_MARK, UNKNOWN_MARK)  # ids END and UNKNOWN


@dataclass(frozen=True, eq=False)
class Bitext(PickledWithoutCaches):
    """Aligned parallel text that rules can be found in."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    source: IndexedText
    target: IndexedText
    pairs: AlignedPairs
    lexicon: LexicalTable

    __repr__ = dataclass_repr

    def __len__(self) -> int:
        return len(self.pairs.link_starts) - 1

    @cached_property
    def source_ids(self) -> dict[str, int]:
        """Word to id; marks are not words."""
        return {word: number for number, word in enumerate(self.source_words) if number >= FIRST_WORD}

    def encode(self, tokens: list[str]) -> Array:
        return np.fromiter((self.source_ids.get(token, UNKNOWN) for token in tokens), np.int32, len(tokens))

    def save(self, directory: str | Path) -> None:
        """Write a directory, replaced as a whole."""
        tensors = {
            f"{part}.{name}": array
            for part, arrays in (("source", self.source), ("target", self.target), ("lexicon", self.lexicon))
            for name, array in arrays._asdict().items()
        }
        tensors |= {f"pairs.{name}": array for name, array in self.pairs._asdict().items() if name != "target_tokens"}
        texts = {SOURCE_WORDS: _listed(self.source_words), TARGET_WORDS: _listed(self.target_words)}
        record = {
            "pairs": len(self),
            "source_tokens": len(self.source.tokens) - len(self),
            "target_tokens": len(self.target.tokens) - len(self),
            "links": len(self.pairs.links),
        }
        write_model(directory, ModelFiles(KIND, {}, record, tensors, texts))


def _listed(words: tuple[str, ...]) -> str:
    return "".join(f"{word}\n" for word in words)


def build_bitext(text: ParallelText, alignments: Alignments, name: str = "<alignment>") -> Bitext:
    """Sort the suffixes of both sides of `text` and count its `alignments`, which messages call `name`."""
    check_inside(alignments, text, name)
    _check_lengths(text)
    source_words, source_tokens, source_starts = _with_ends(text.source)
    target_words, target_tokens, target_starts = _with_ends(text.target)
    pair_of_link = np.repeat(np.arange(len(text)), np.diff(alignments.starts))
    begins = source_starts[pair_of_link], target_starts[pair_of_link]
    pairs = AlignedPairs(
        source_starts=source_starts,
        target_starts=target_starts,
        sentence_of=np.repeat(np.arange(len(text), dtype=np.int32), np.diff(source_starts)),
        source_extents=make_extents(begins[0], alignments.source, alignments.target, len(source_tokens)),
        target_extents=make_extents(begins[1], alignments.target, alignments.source, len(target_tokens)),
        link_starts=alignments.starts.astype(np.int64),
        links=alignments.source.astype(np.uint32) | (alignments.target.astype(np.uint32) << np.uint32(16)),
        target_tokens=target_tokens,
    )
    linked = source_tokens[begins[0] + alignments.source], target_tokens[begins[1] + alignments.target]
    unlinked = _without_links(source_tokens, pairs.source_extents), _without_links(target_tokens, pairs.target_extents)
    sizes = len(source_words), len(target_words)
    return Bitext(
        source_words,
        target_words,
        searchable(source_tokens, sizes[0]),
        searchable(target_tokens, sizes[1]),
        AlignedPairs(*map(read_only, pairs)),
        LexicalTable(*map(read_only, count_lexicon(linked, unlinked, sizes))),
    )


def _check_lengths(text: ParallelText) -> None:
    for side, name in ((text.source, "source"), (text.target, "target")):
        if (long := np.flatnonzero(side.lengths > MAX_SENTENCE)).size:
            problem = (
                f"line {long[0] + 1} of the {name} has {side.lengths[long[0]]:,} words, of at most {MAX_SENTENCE:,}"
            )
            raise InputError(f"{problem}; put one sentence on a line")


def _with_ends(side: Side) -> tuple[tuple[str, ...], Array, Array]:
    """Words, tokens with END after each sentence, and where each sentence begins; an <unk> of the text is UNKNOWN."""
    words = [word for word in side.words if word != UNKNOWN_MARK]
    ids = {word: number for number, word in enumerate(words, FIRST_WORD)}
    new = np.array([ids.get(word, UNKNOWN) for word in side.words], np.int32)
    starts = side.starts + np.arange(len(side.starts))
    tokens = np.full(starts[-1], END, np.int32)
    is_word = np.ones(len(tokens), np.bool_)
    is_word[starts[1:] - 1] = False
    tokens[is_word] = new[side.tokens]
    return (*MARKS, *words), tokens, starts.astype(np.int64)


def _without_links(tokens: Array, extents: Array) -> Array:
    """The words that stand somewhere without a link, as often as they do."""
    without = ((extents & np.uint32(HALF)) > (extents >> np.uint32(16))) & (tokens != END)
    return np.asarray(tokens[without])


def count_lexicon(linked: tuple[Array, Array], unlinked: tuple[Array, Array], sizes: tuple[int, int]) -> LexicalTable:
    """Word translation probabilities by counting: p(e|f) = links(f, e) / (links(f) + places of f without a link).

    The other way round likewise; words without a link are linked to NULL: p(e|NULL) = their share of those places.
    """
    keys, counts = np.unique(linked[0].astype(np.int64) * sizes[1] + linked[1], return_counts=True)
    sources, targets = np.divmod(keys, sizes[1])
    null = [np.bincount(words, minlength=size).astype(np.float64) for words, size in zip(unlinked, sizes, strict=True)]
    source_totals = np.bincount(sources, counts, minlength=sizes[0]) + null[0]
    target_totals = np.bincount(targets, counts, minlength=sizes[1]) + null[1]
    return LexicalTable(
        starts=starts_of(np.bincount(sources, minlength=sizes[0])),
        targets=targets.astype(np.int32),
        forward=(counts / source_totals[sources]).astype(np.float32),
        backward=(counts / target_totals[targets]).astype(np.float32),
        null_forward=(null[1] / max(null[1].sum(), 1)).astype(np.float32),
        null_backward=(null[0] / max(null[0].sum(), 1)).astype(np.float32),
    )


def load_bitext(directory: str | Path) -> Bitext:
    """Map a directory that `save` wrote; a damaged one, or one of another kind, is refused."""
    files = read_model(directory)
    if files.kind != KIND:
        raise FormatError(
            f"{directory}: this holds a {files.kind}, not aligned text; make that with "
            + either("`translate extract --from`", "build_bitext")
        )
    tensors = files.tensors
    pairs = {name: tensors[f"pairs.{name}"] for name in AlignedPairs._fields if name != "target_tokens"}
    return Bitext(
        _words(files.texts[SOURCE_WORDS]),
        _words(files.texts[TARGET_WORDS]),
        IndexedText(**{name: tensors[f"source.{name}"] for name in IndexedText._fields}),
        IndexedText(**{name: tensors[f"target.{name}"] for name in IndexedText._fields}),
        AlignedPairs(**pairs, target_tokens=tensors["target.tokens"]),
        LexicalTable(**{name: tensors[f"lexicon.{name}"] for name in LexicalTable._fields}),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")[:-1])
