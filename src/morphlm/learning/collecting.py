"""Raw text becomes prepared sentences: read, language recognised, split into sentences, tokenised, counted.

Everything that is noticed on the way (encodings, other languages, what was lost) is kept for the record and said.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO

from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.learning.request import LearnRequest
from morphlm.processes import ordered_map
from morphlm.tables import percent
from morphlm.text.documents import Document, Findings, read_documents
from morphlm.text.entities import replace_entities
from morphlm.text.languages import OTHER, check_language, check_spaced, language_name, unspaced_script
from morphlm.text.preparation import PrepareOptions, read_preparation
from morphlm.text.prepare import keep_or_split, prepare_line
from morphlm.text.reading import read_blocks, split_tokens
from morphlm.text.recognition import Recognised, recognise_language
from morphlm.text.sentences import split_sentences
from morphlm.vocabulary.corpus import check_tokens
from morphlm.wording import option

SAMPLE_CHARACTERS = 300_000  # of the text that its language is recognised by
SAMPLE_RUNS, RUN = 10, 5  # of each part of about 1 MB so many runs of paragraphs, for the languages of the whole
OTHER_SHARE = 0.1  # of the text in another language, that is worth a warning
LINES_TOGETHER = 2000  # raw lines of a Python program that are prepared together

Say = Callable[[str], None]


@dataclass
class Collected:
    """The prepared text, a sentence a line in a file, and what was noticed while it was made."""

    lengths: array[int] = field(default_factory=lambda: array("i"))  # tokens of each sentence
    document_starts: array[int] = field(default_factory=lambda: array("q"))  # sentences that begin a document
    documents: int = 0
    bytes: int = 0  # of raw text, in UTF-8
    lost: Counter[str] = field(default_factory=Counter)  # why -> tokens
    notes: list[str] = field(default_factory=list)
    options: PrepareOptions | None = None  # how it was prepared; None: that is not known
    is_whole: bool = True  # False if the time was over before all was read

    @property
    def tokens(self) -> int:
        return sum(self.lengths)

    @property
    def language(self) -> str | None:
        return None if self.options is None else self.options.language


@dataclass(frozen=True)
class PreparedPart:
    """A part of a document after all steps."""

    begins_document: bool
    sentences: list[str]  # tokens between spaces
    repairs: Counter[str]
    bytes: int


@dataclass(frozen=True)
class PartPreparer:
    """Prepares a part of a document; it is what travels to other processes."""

    options: PrepareOptions
    allow_unknown: bool = False

    def __call__(self, document: Document) -> PreparedPart:
        repairs: Counter[str] = Counter()
        sentences: list[str] = []
        for paragraph in document.paragraphs:
            for sentence in split_sentences(paragraph, self.options.language):
                tokens = prepare_line(sentence, self.options, repairs, allow_unknown=self.allow_unknown)
                sentences += (" ".join(kept) for kept in keep_or_split(tokens, self.options)[0])
        size = sum(len(paragraph.encode()) + 1 for paragraph in document.paragraphs)
        return PreparedPart(document.part == 0, sentences, repairs, size)


# ---------------------------------------------------------------- the text


def collect(request: LearnRequest, out: IO[bytes], say: Say, is_late: Callable[[], bool] = lambda: False) -> Collected:
    """Write all sentences of the text to a stream; once `is_late`, reading ends with what there is."""
    if request.prepared:
        return _collect_prepared(request, out, is_late)
    return _collect_raw(request, out, say, is_late)


def collect_like(
    path: str | Path, request: LearnRequest, options: PrepareOptions | None, out: IO[bytes], say: Say
) -> Collected:
    """Write the sentences of a development or test text, prepared as the text was."""
    collected = Collected(options=options)
    if options is None or request.prepared:
        _write_prepared([_file_of_tokens(path, request.allow_unknown)], out, collected)
    else:
        documents = read_documents([path], field=request.field, encoding=request.encoding, say=say)
        _write_parts(map(PartPreparer(options, request.allow_unknown), documents), out, collected)
    if not collected.lengths:
        raise InputError("there are no sentences in it; give at least one", source=source_name(path))
    return collected


# ---------------------------------------------------------------- raw text


def _collect_raw(request: LearnRequest, out: IO[bytes], say: Say, is_late: Callable[[], bool]) -> Collected:
    collected, findings = Collected(), Findings()
    sample: list[str] = []
    documents = _documents(request, findings, _noting(collected, say))
    first, documents = _beginning(documents)
    collected.options = PrepareOptions(language=_find_language(request, first, collected, say), case=request.case)
    parts = ordered_map(
        PartPreparer(collected.options, request.allow_unknown),
        _until_late(_sampled(documents, sample), is_late, collected),
        request.processes,
    )
    with closing(parts):
        _write_parts(parts, out, collected)
    collected.notes += _look_at_languages(request, collected.options.language, sample, say)
    return collected


def _noting(collected: Collected, say: Say) -> Say:
    """Says something, and notes it for the record."""

    def note(message: str) -> None:
        collected.notes.append(message)
        say(message)

    return note


def _documents(request: LearnRequest, findings: Findings, say: Say) -> Iterator[Document]:
    if request.paths is not None:
        return read_documents(request.paths, field=request.field, encoding=request.encoding, findings=findings, say=say)
    return _documents_of_lines(request.texts, findings, say)  # type: ignore[arg-type]


def _documents_of_lines(texts: Iterable[str], findings: Findings, say: Say) -> Iterator[Document]:
    """Strings of a Python program: one with line ends in it is a document, others are its lines."""
    lines: list[str] = []
    part = 0
    for number, item in enumerate(texts, 1):
        if not isinstance(item, str):
            raise InputError("the items before were strings, this is none; give only strings, or only lists of tokens")
        text = replace_entities(item, findings.repairs)
        if "\n" in text.strip("\n"):
            yield Document("<text>", number, tuple(line for line in text.split("\n") if line.strip()))
            continue
        lines += [text] if text.strip() else []
        if len(lines) >= LINES_TOGETHER:
            yield Document("<text>", number, tuple(lines), part)
            lines, part = [], part + 1
    if lines:
        yield Document("<text>", 1, tuple(lines), part)
    for message in findings.messages():
        say(message)


def _beginning(documents: Iterator[Document]) -> tuple[list[str], Iterator[Document]]:
    """Paragraphs of the beginning, to recognise the language by; and all documents again."""
    read: list[Document] = []
    characters = 0
    for document in documents:
        read.append(document)
        characters += sum(map(len, document.paragraphs))
        if characters >= SAMPLE_CHARACTERS:
            break
    if not read:
        raise InputError("there is no text in it; give some")
    return [paragraph for document in read for paragraph in document.paragraphs], chain(read, documents)


def _find_language(request: LearnRequest, sample: Sequence[str], collected: Collected, say: Say) -> str | None:
    """The language that was named, or else the one that the beginning of the text is in."""
    if request.language is not None:
        _refuse_unspaced(sample)
        return request.language
    note = _noting(collected, say)
    recognised = recognise_language(sample)
    code = _checked(recognised.code)
    _refuse_unspaced(sample)
    if code is None or not recognised.is_sure:
        guess = f" (perhaps {language_name(code)})" if code not in (None, OTHER) else ""
        note(
            f"the language could not be recognised{guess}; rules for most languages are used, name it with "
            f"{option('--language')}"
        )
        return None
    check_spaced(code)
    note(f"the text seems to be {language_name(code)} ({code}); if not, name the language with {option('--language')}")
    return code


def _checked(code: str | None) -> str | None:
    return None if code is None else check_language(code)


def _refuse_unspaced(sample: Sequence[str]) -> None:
    """Text of a script without spaces between words would be a few endless words."""
    script = unspaced_script("\n".join(sample)[:SAMPLE_CHARACTERS])
    if script is not None:
        languages = {"Japanese": "ja", "Chinese": "zh", "Thai": "th", "Lao": "lo", "Khmer": "km", "Burmese": "my"}
        if script in languages:
            check_spaced(languages[script])
        raise InputError(
            f"{script} is written without spaces between words; put spaces there and give {option('--prepared', True)}"
        )


def _sampled(documents: Iterable[Document], sample: list[str]) -> Iterator[Document]:
    """The documents; some paragraphs of each part are added to the sample as they pass."""
    for document in documents:
        paragraphs = document.paragraphs
        for begin in range(0, len(paragraphs), max(RUN, len(paragraphs) // SAMPLE_RUNS)):
            sample.extend(paragraphs[begin : begin + RUN])
        yield document


def _until_late(documents: Iterable[Document], is_late: Callable[[], bool], collected: Collected) -> Iterator[Document]:
    """The documents for which there is time, but as much as there was a look at anyway."""
    characters = 0
    for document in documents:
        if characters >= SAMPLE_CHARACTERS and is_late():
            collected.is_whole = False
            return
        yield document
        characters += sum(map(len, document.paragraphs))


def _look_at_languages(request: LearnRequest, language: str | None, sample: Sequence[str], say: Say) -> list[str]:
    """Warn of other languages in the text, seen over all of it."""
    recognised = recognise_language(sample)
    if recognised.code is None or (not recognised.is_sure and not recognised.others):
        return []
    shares = {code: share for code, share in _shares(recognised) if share >= OTHER_SHARE}
    foreign = {code: share for code, share in shares.items() if code != language}
    if not foreign or (language is None and len(foreign) == 1):
        return []
    listed = ", ".join(f"{percent(share, 0)} {language_name(code)} ({code})" for code, share in foreign.items())
    message = f"warning: {_what_is_foreign(language, shares)} {listed}; {_what_to_do(language, shares)}"
    say(message)
    return [message]


def _what_is_foreign(language: str | None, shares: Mapping[str, float]) -> str:
    """The beginning of a warning that lists the languages besides the one that the text is prepared as."""
    if language is None:
        return "it looks like several languages:"
    if language in shares:
        return f"besides {percent(shares[language], 0)} {language_name(language)} ({language}) there is"
    return f"it is prepared as {language_name(language)} ({language}), but looks like"


def _what_to_do(language: str | None, shares: Mapping[str, float]) -> str:
    if language in shares or len(shares) > 1:
        return f"a model of one language is better, take the other{'s' * (len(shares) > 2)} out"
    return f"if that is right, name it with {option('--language')}"


def _shares(recognised: Recognised) -> Iterator[tuple[str, float]]:
    for code, share in ((recognised.code, recognised.share), *recognised.others):
        if (known := _checked(code)) is not None:
            yield known, share


def _write_parts(parts: Iterable[PreparedPart], out: IO[bytes], collected: Collected) -> None:
    for part in parts:
        if part.begins_document:
            collected.documents += 1
            _begin_document(collected)
        for sentence in part.sentences:
            collected.lengths.append(sentence.count(" ") + 1)
            out.write(f"{sentence}\n".encode())
        collected.lost.update(part.repairs)
        collected.bytes += part.bytes


def _begin_document(collected: Collected) -> None:
    """The next sentence begins a document; one without sentences begins nothing."""
    start = len(collected.lengths)
    if not collected.document_starts or collected.document_starts[-1] != start:
        collected.document_starts.append(start)


# ---------------------------------------------------------------- prepared text


def _collect_prepared(request: LearnRequest, out: IO[bytes], is_late: Callable[[], bool]) -> Collected:
    collected = Collected()
    if request.paths is None:
        _write_prepared([_checked_tokens(request.texts, request.allow_unknown)], out, collected, is_late)  # type: ignore[arg-type]
        return collected
    collected.options = _shared_options(request.paths)
    files = (_file_of_tokens(path, request.allow_unknown) for path in request.paths)
    _write_prepared(files, out, collected, is_late)
    return collected


def _shared_options(paths: Sequence[str | Path]) -> PrepareOptions | None:
    """How the files were prepared, if all are on record as prepared in one way."""
    records = [None if str(path) == "-" else read_preparation(path) for path in paths]
    options = {None if record is None else record.options for record in records}
    return options.pop() if len(options) == 1 else None


def _write_prepared(
    files: Iterable[Iterable[str]],
    out: IO[bytes],
    collected: Collected,
    is_late: Callable[[], bool] = lambda: False,
) -> None:
    for sentences in files:
        collected.documents += 1
        _begin_document(collected)
        for number, sentence in enumerate(sentences):
            if number % LINES_TOGETHER == LINES_TOGETHER - 1 and is_late():
                collected.is_whole = False
                return
            if sentence:
                line = f"{sentence}\n".encode()
                collected.lengths.append(sentence.count(" ") + 1)
                collected.bytes += len(line)
                out.write(line)


def _file_of_tokens(path: str | Path, allow_unknown: bool) -> Iterator[str]:
    """The sentences of a prepared file, with single spaces."""
    marked = allow_unknown or (str(path) != "-" and read_preparation(path) is not None)
    if str(path) != "-" and Path(path).is_dir():
        raise InputError("this is a folder; name the files of prepared text", source=str(path))
    for block in read_blocks(path, marks="unk" if marked else "none"):
        for line in block.lines():
            yield " ".join(split_tokens(line))


def _checked_tokens(sentences: Iterable[Sequence[str]], allow_unknown: bool) -> Iterator[str]:
    for number, sentence in enumerate(sentences, 1):
        yield b" ".join(check_tokens(sentence, allow_unknown, number)).decode()
