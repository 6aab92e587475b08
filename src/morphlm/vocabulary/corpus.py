"""Text as arrays of word ids. A sentence is its words and END; BEGIN is implied before each.

The text is read once: words get provisional ids in order of appearance, then the vocabulary is made from their counts
and the ids are replaced. Large arrays live in a nameless temporary file that is mapped into memory.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from morphlm.arguments import shown
from morphlm.arrays import BLOCK_ITEMS, Int32Array, Int64Array, blocks_of, without_file
from morphlm.display import dataclass_repr, described
from morphlm.errors import ConfigError, InputError
from morphlm.files import cannot_write, source_name
from morphlm.memory import memory_used_up, resident_memory
from morphlm.progress import notify, progress_bar
from morphlm.tables import percent
from morphlm.text.preparation import PrepareOptions, model_record, read_preparation
from morphlm.text.raw import RawText, is_paths, is_prepared, prepared_lines, read_raw_blocks, split_lines_from_tokens
from morphlm.text.reading import END, RESERVED, Block, Marks, read_blocks
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary, build_vocabulary
from morphlm.wording import either

# A file, files as paths, raw lines (strings), sentences as lists of tokens, or text that is prepared while it is read.
Source = str | Path | Sequence[Path] | Iterable[str] | Iterable[Sequence[str]] | RawText

IN_MEMORY_BYTES = 1 << 28  # a corpus above this size is kept in a mapped file
IN_MEMORY_SHARE = 16  # of a limit of memory, one part in so many may be the corpus
TYPE_BYTES = 300  # that a word takes while a vocabulary is made from counts, besides those of reading
_CHECKED_TOKENS = 1 << 22  # after so many the memory is looked at, if there is a limit


class _Forms(dict[bytes, int]):
    """Gives every new form the next id; the `first` words, by default the reserved marks, have theirs already."""

    def __init__(self, first: Sequence[str] = RESERVED) -> None:
        super().__init__((word.encode(), number) for number, word in enumerate(first))

    def __missing__(self, form: bytes) -> int:
        number = self[form] = len(self)
        return number


class _IdStore:
    """Collects arrays of ids, in memory while they are small, then in a temporary file in a folder."""

    def __init__(self, folder: Path | None = None, in_memory_bytes: int | None = None) -> None:
        self._folder = folder
        self._in_memory_bytes = IN_MEMORY_BYTES if in_memory_bytes is None else in_memory_bytes
        self._pieces: list[Int32Array] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def append(self, ids: Int32Array) -> None:
        self._pieces.append(ids)
        self._bytes += ids.nbytes
        if self._bytes > self._in_memory_bytes:
            self._spill()

    def _spill(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            for piece in self._pieces:
                self._file.write(piece.tobytes())
            self._file.flush()
        except OSError as error:
            raise cannot_write(self._folder or f"{tempfile.gettempdir()} (TMPDIR)", error) from error
        self._pieces = []

    def array(self) -> Int32Array:
        if self._file is None:
            return np.concatenate(self._pieces) if self._pieces else np.zeros(0, np.int32)
        self._spill()
        with self._file:  # the map outlives the file object
            return without_file(np.memmap(self._file, np.int32, mode="r+"))


@dataclass(frozen=True, eq=False)
class NewWords:
    """The words of a text that are not in the vocabulary, and the text with an id for each of them."""

    forms: tuple[str, ...]  # each once, in order of appearance
    tokens: Int32Array  # V + k, for a vocabulary of V words, where forms[k] stands; an <unk> of the text itself is UNK

    __repr__ = dataclass_repr


@dataclass(frozen=True, eq=False)
class Corpus:
    """An encoded text and the vocabulary of its ids."""

    tokens: Int32Array  # words of a sentence, END, words of the next, END, ...
    vocabulary: Vocabulary
    new_words: NewWords | None = None  # the words that became UNK, where they were kept

    __repr__ = dataclass_repr

    @property
    def sentences(self) -> int:
        return sum(int(np.count_nonzero(tokens == END_ID)) for tokens in blocks_of(self.tokens))


@dataclass(frozen=True, eq=False)
class WordCounts:
    """The forms of a text and how often each occurs; the reserved marks come first."""

    forms: list[str]
    counts: Int64Array

    __repr__ = dataclass_repr

    @property
    def sentences(self) -> int:
        return int(self.counts[END_ID])

    @property
    def tokens(self) -> int:
        """The number of running words, sentence ends not counted."""
        return int(self.counts.sum()) - self.sentences

    @property
    def types(self) -> int:
        return len(self.forms) - len(RESERVED)

    @property
    def singletons(self) -> int:
        return int(np.count_nonzero(self.counts[len(RESERVED) :] == 1))

    def vocabulary(self, kappa: float, seed: int) -> Vocabulary:
        """The vocabulary of this text, with a share kappa of its singletons pruned."""
        first = len(RESERVED)
        return build_vocabulary(
            self.forms[first:],
            self.counts[first:],
            self.sentences,
            kappa=kappa,
            seed=seed,
            unknowns=int(self.counts[UNK_ID]),
        )


_ATTACHED = re.compile(r"\w[,;!?]$")  # the mark of a text that is not tokenised
_RAW_SHARE = 0.02  # of the tokens


def warn_if_raw(words: WordCounts, source: Source) -> None:
    """Warn of training text that looks raw, and of which nothing is on record: its words would have commas in them."""
    if preparation_of(source) is not None or as_paths(source) is None:
        return
    attached = sum(
        count for form, count in zip(words.forms, words.counts.tolist(), strict=True) if _ATTACHED.search(form)
    )
    if attached > _RAW_SHARE * words.tokens:
        cure = either(
            "`morphlm learn` takes raw text, `morphlm prepare` prepares it",
            "`learn` takes raw text, `prepare_files` prepares it",
        )
        notify(
            f"WARNING: {describe(source)}: it looks like raw text, {percent(attached / words.tokens, 0)} of the words "
            f"end in a comma or the like; {cure}"
        )


def add_counts(texts: Sequence[WordCounts]) -> WordCounts:
    """The counts of several texts as of one."""
    total: Counter[str] = Counter()
    for text in texts:
        total.update(dict(zip(text.forms, text.counts.tolist(), strict=True)))
    return WordCounts(list(total), np.array(list(total.values()), np.int64))


@dataclass(frozen=True, eq=False)
class RawCorpus:
    """A text under provisional ids: the reserved marks, then forms in order of appearance."""

    tokens: Int32Array
    words: WordCounts

    def __repr__(self) -> str:
        return described(self, tokens=len(self.tokens), words=self.words.types)

    def encode(self, vocabulary: Vocabulary) -> Corpus:
        """Replace the provisional ids, in place, by those of a vocabulary. Use the result instead of this object."""
        final = vocabulary.encode(self.words.forms)
        for part in blocks_of(self.tokens):
            part[:] = final[part]
        return Corpus(self.tokens, vocabulary)


def read_corpus(
    source: Source, *, allow_unknown: bool = False, memory: int | None = None, temporary: Path | None = None
) -> RawCorpus:
    """Read a text: a path ('-': standard input), several paths, or any iterable of token lists.

    Where the process may take no more than `memory` bytes, less of the text stays in memory, and a text of too many
    different words is refused. What does not stay there lies in the folder `temporary`.
    """
    forms = _Forms()
    store = _IdStore(temporary, None if memory is None else min(IN_MEMORY_BYTES, memory // IN_MEMORY_SHARE))
    unchecked = 0
    for tokens in token_batches(source, allow_unknown=allow_unknown):
        store.append(np.fromiter(map(forms.__getitem__, tokens), np.int32, len(tokens)))
        unchecked += len(tokens)
        if memory is not None and unchecked >= _CHECKED_TOKENS:
            _check_memory(len(forms), memory)
            unchecked = 0
    ids = store.array()
    return RawCorpus(ids, _word_counts(forms, count_ids(blocks_of(ids), len(forms)), source))


def count_words(source: Source, *, allow_unknown: bool = False) -> WordCounts:
    """The words of a text and their counts; the text itself is not kept."""
    forms, counts = _Forms(), np.zeros(0, np.int64)
    waiting: list[Int32Array] = []
    for tokens in token_batches(source, allow_unknown=allow_unknown):
        waiting.append(np.fromiter(map(forms.__getitem__, tokens), np.int32, len(tokens)))
        if sum(map(len, waiting)) >= BLOCK_ITEMS:  # as a block takes time for all words that are known
            counts, waiting = _with_more(counts, waiting, len(forms)), []
    return _word_counts(forms, _with_more(counts, waiting, len(forms)), source)


def _with_more(counts: Int64Array, blocks: list[Int32Array], ids: int) -> Int64Array:
    total = count_ids(blocks, ids)
    total[: len(counts)] += counts
    return total


def _check_memory(types: int, limit: int) -> None:
    needed = resident_memory() + TYPE_BYTES * types
    if needed > limit:
        raise memory_used_up(limit, needed)


def count_ids(blocks: Iterable[Int32Array], ids: int) -> Int64Array:
    """How often each id occurs; block by block, as NumPy widens what it counts."""
    counts = np.zeros(ids, np.int64)
    for block in blocks:
        counts += np.bincount(block, minlength=ids)
    return counts


def _word_counts(forms: _Forms, counts: Int64Array, source: Source) -> WordCounts:
    if counts.sum() == counts[END_ID]:
        raise InputError("the text has no words; there is nothing to learn from", source=describe(source))
    return WordCounts([form.decode() for form in forms], counts)


def encode_text(source: Source, vocabulary: Vocabulary, *, allow_unknown: bool = False) -> Corpus:
    """Encode a text with a vocabulary that is given; words it does not have become UNK."""
    encode = TokenEncoder(vocabulary)
    store = _IdStore()
    for tokens in token_batches(source, allow_unknown=allow_unknown):
        store.append(encode(tokens))
    return Corpus(store.array(), vocabulary)


def encode_open(batches: Iterable[list[bytes]], vocabulary: Vocabulary) -> Corpus:
    """Encode a text with a vocabulary that is given, and keep the words that it does not have."""
    ids, store = _Forms(vocabulary.words), _IdStore()
    for batch in batches:
        store.append(np.fromiter(map(ids.__getitem__, batch), np.int32, len(batch)))
    tokens = store.array()
    forms = tuple(form.decode() for form in islice(ids, len(vocabulary), None))
    known = np.where(tokens < len(vocabulary), tokens, np.int32(UNK_ID))
    return Corpus(known, vocabulary, NewWords(forms, tokens))


class TokenEncoder:
    """Batches of tokens in UTF-8 to ids."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._id_of = {word.encode(): number for word, number in vocabulary.ids.items()}.get

    def __call__(self, tokens: list[bytes]) -> Int32Array:
        """The ids of the tokens, UNK's for those that are not known."""
        return np.fromiter(map(self._id_of, tokens, repeat(UNK_ID)), np.int32, len(tokens))


def as_paths(source: Source) -> list[Path] | None:
    """The files a source names, or None if it is an iterable of lines or sentences."""
    if isinstance(source, RawText):
        return source.paths
    if isinstance(source, str | Path):
        return [Path(source)]
    return list(cast(Sequence[Path], source)) if is_paths(source) else None


def as_text(source: Source, options: PrepareOptions | None) -> Source:
    """A text for training: raw lines are prepared in this way; files and lists of tokens are prepared already."""
    if isinstance(source, RawText | str | Path) or is_paths(source) or not isinstance(source, Iterable):
        return source
    items, are_lines = split_lines_from_tokens(source)
    return RawText(items, options) if are_lines else items


def preparation_of(source: Source) -> PrepareOptions | None:
    """How a text was or will be prepared, if that is on record and the same for all of its files."""
    if isinstance(source, RawText) and source.paths is None:
        return source.options
    records = [read_preparation(path) for path in as_paths(source) or []]
    steps = [record.options.line_steps for record in records if record is not None]
    if not records or len(steps) < len(records) or any(other != steps[0] for other in steps):
        return None
    return PrepareOptions(**steps[0], max_tokens=0)


def preparation_record(source: Source) -> dict[str, Any] | None:
    """What the model of a text keeps of its preparation."""
    options = preparation_of(source)
    return None if options is None else model_record(options)


def describe(source: Source) -> str:
    """How messages and results name a text."""
    paths = as_paths(source)
    if paths is None:
        return "<lines>" if isinstance(source, RawText) else "<sentences>"
    return ", ".join(map(source_name, paths))


def token_batches(source: Source, *, allow_unknown: bool) -> Iterator[list[bytes]]:
    """The tokens of a text in batches, END after each sentence."""
    source = as_text(source, PrepareOptions())
    paths = as_paths(source)
    if sum(str(path) == "-" for path in paths or []) > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")
    if paths is None:
        sentences = source.lines(allow_unknown=allow_unknown) if isinstance(source, RawText) else source
        yield from _batches_of_sentences(cast(Iterable[Sequence[str]], sentences), allow_unknown)
        return
    text = source if isinstance(source, RawText) else RawText(paths, None, "utf-8")
    with progress_bar("reading") as bar:
        for path in paths:
            for tokens in _batches_of_file(path, text, allow_unknown):
                bar.update(len(tokens))
                yield tokens


def _batches_of_file(path: Path, text: RawText, allow_unknown: bool) -> Iterator[list[bytes]]:
    """The tokens of a file as they stand or, with options, prepared, unless its record says that this was done."""
    record = read_preparation(path)
    # Text that `morphlm prepare` wrote may hold UNK on purpose; its record says so.
    is_marked = allow_unknown or record is not None
    marks: Marks = "unk" if is_marked else "none"
    if text.options is None or is_prepared(path, text.options):
        yield from map(tokens_of_block, read_blocks(path, marks=marks, encoding=text.encoding or "utf-8"))
        return
    for block in read_raw_blocks(path, marks=marks, encoding=text.encoding):
        yield prepared_tokens(block, text.options, allow_unknown=is_marked)


def prepared_tokens(block: Block, options: PrepareOptions, *, allow_unknown: bool) -> list[bytes]:
    """The tokens of a block of raw lines, END after each; empty lines are no sentences, as when text is prepared."""
    sentences = prepared_lines(block, options, allow_unknown=allow_unknown)
    return [token.encode() for tokens in sentences if tokens for token in (*tokens, END)]


def tokens_of_block(block: Block) -> list[bytes]:
    """The tokens of a block's lines, END after each line."""
    text = block.data.replace(b"\n", b" </s> ")
    if b"\v" in text or b"\f" in text:  # bytes.split() would take them as separators
        return [token for token in re.split(rb"[ \t]+", text) if token]
    return text.split()


def _batches_of_sentences(sentences: Iterable[Sequence[str]], allow_unknown: bool) -> Iterator[list[bytes]]:
    if not isinstance(sentences, Iterable):
        raise InputError(f"{shown(sentences)} is no text; give a path, raw lines, or lists of tokens")
    batch: list[bytes] = []
    for number, sentence in enumerate(sentences, 1):
        batch += check_tokens(sentence, allow_unknown, number)
        batch.append(RESERVED[END_ID].encode())
        if len(batch) > 1 << 16:
            yield batch
            batch = []
    if batch:
        yield batch


def check_tokens(sentence: Sequence[str], allow_unknown: bool, number: int) -> list[bytes]:
    """The tokens as UTF-8, refused if they are no tokens: empty, with white space inside, or a reserved mark."""

    def refuse(message: str) -> InputError:
        return InputError(message, source="<sentences>", line=number)

    if isinstance(sentence, str | bytes):
        raise refuse("a sentence is a list of tokens, not a string; split it")
    try:
        joined = " ".join(sentence)
        encoded, count = joined.encode().split(b" ") if joined else [], len(sentence)
    except (TypeError, UnicodeEncodeError):
        if not isinstance(sentence, Sequence | np.ndarray):
            raise refuse(f"{shown(sentence)} is no sentence; give a list of tokens") from None
        raise refuse("a token is not a proper string; give words as str") from None
    if len(encoded) != count or b"" in encoded or any(space in joined for space in "\t\n\r\0"):
        raise refuse("a token is empty or has white space inside; split it")
    for mark in RESERVED:
        if mark.encode() in encoded and not (allow_unknown and mark == RESERVED[UNK_ID]):
            raise refuse(f"{mark} is a mark that morphlm sets itself; remove it")
    return encoded
