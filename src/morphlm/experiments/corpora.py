"""The texts of the experiments: a folder of raw data becomes train, dev and test text of a language.

The folder has `parallel/en-LL.tsv.xz` (origin, English, target), `newstest/newstestYYYY.LL.txt.xz` (a sentence a line)
and, for Czech and Russian, `text/LL-novels.txt.xz`. Of it the same sentences are taken every time, prepared as the
paper does and written with the records that `morphlm prepare` leaves.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, TypeVar

from morphlm.errors import ConfigError, InputError
from morphlm.files import atomic_writer, make_folder
from morphlm.processes import ordered_map
from morphlm.progress import notify
from morphlm.tables import counted
from morphlm.text.datasets.sentences import split_sentences
from morphlm.text.preparation import Counts, PrepareOptions, paper_options
from morphlm.text.prepare import drop_reason, keep_record, make_preparation, prepare_line
from morphlm.text.reading import read_blocks

PARTS = ("train", "dev", "test")
BATCH = 250  # sentences that one process prepares at a time
PASSAGE = 50  # consecutive sentences that are taken from one place of the novels
HELD_OUT, STRETCH = 3_000, 100  # sentences held out where there is no development text, so many from one place
WRAPPED = range(50, 101)  # characters of a line that may have been broken to fit a page

Item = TypeVar("Item")


@dataclass(frozen=True)
class TextRecipe:
    """Which files the texts of a language come from, and how."""

    parallel: str  # the file below parallel/
    english: bool = False  # take its English side
    others: bool = False  # and, if all text is wanted, that of all other files
    novels: bool = False  # the training text is half news, half novels
    wrapped: bool = False  # the lines of the novels were broken to fit a page
    dev: int | None = 2011  # year of the development text; None: held out from the news
    test: int = 2012


RECIPES: Mapping[str, TextRecipe] = {
    "cs": TextRecipe("en-cs", novels=True),
    "de": TextRecipe("en-de"),
    "en": TextRecipe("en-de", english=True, others=True),
    "es": TextRecipe("en-es"),
    "fr": TextRecipe("en-fr"),
    "ru": TextRecipe("en-ru", novels=True, wrapped=True, dev=None),
}


def side_of(parallel: str, language: str) -> TextRecipe:
    """One side of a parallel text and nothing else to learn from, as for translation into that language."""
    return dataclasses.replace(RECIPES[language], parallel=parallel, others=False, novels=False, wrapped=False)


@dataclass(frozen=True)
class LanguageTexts:
    """The prepared texts of a language."""

    language: str
    train: Path
    dev: Path
    test: Path
    counts: Mapping[str, Counts]  # of each of PARTS


def prepare_language(
    data: Path,
    language: str,
    out: Path,
    *,
    recipe: TextRecipe | None = None,
    tokens: int | None = 1_000_000,
    processes: int = 1,
) -> LanguageTexts:
    """Write train.LL.txt, dev.LL.txt and test.LL.txt to the folder `out`.

    The training text ends with the sentence that reaches `tokens`, or is all there is (None); it keeps only sentences
    of at most 80 tokens, the others are whole. The bytes do not depend on the number of processes.
    """
    if language not in RECIPES:
        raise ConfigError(f"there is no recipe for the texts of {language!r}; choose one of {', '.join(RECIPES)}")
    if tokens is not None and tokens < 1:
        raise ConfigError(f"a training text of {tokens} tokens is none; ask for 1 or more")
    recipe = recipe or RECIPES[language]
    files = source_files(data, language, recipe, tokens)
    return _write_parts(TextMaker(language, recipe, files, processes), out, tokens)


# ---------------------------------------------------------------- files


def source_files(data: Path, language: str, recipe: TextRecipe, tokens: int | None) -> dict[str, Path]:
    """The files that a language is made from, by role; an InputError names one that is missing."""
    files = named_files(data, language, recipe, tokens)
    for file in files.values():
        if not file.is_file():
            what = f"the folder of data lacks this file, which the texts of {language!r} are made from; put it there"
            raise InputError(what, source=str(file))
    return files


def named_files(data: Path, language: str, recipe: TextRecipe, tokens: int | None) -> dict[str, Path]:
    """The files of `source_files`, whether they exist or not."""
    files = {"parallel": data / "parallel" / f"{recipe.parallel}.tsv.xz"}
    if recipe.others and tokens is None:
        others = {other.parallel for other in RECIPES.values()} - {recipe.parallel}
        files |= {f"parallel {name}": data / "parallel" / f"{name}.tsv.xz" for name in sorted(others)}
    if recipe.novels:
        files["novels"] = data / "text" / f"{language}-novels.txt.xz"
    if recipe.dev is not None:
        files["dev"] = data / "newstest" / f"newstest{recipe.dev}.{language}.txt.xz"
    files["test"] = data / "newstest" / f"newstest{recipe.test}.{language}.txt.xz"
    return files


# ---------------------------------------------------------------- preparing


def max_tokens(part: str) -> int:
    """Of a sentence; 0: any number. A test is all of its sentences, also the long ones."""
    return 80 if part == "train" else 0


@dataclass(frozen=True)
class SentencePreparer:
    """Prepares sentences in their order; it is sent to the worker processes."""

    options: PrepareOptions
    source: str  # how messages name where the sentences are from

    def __call__(self, sentences: Sequence[str]) -> list[tuple[str, str | None]]:
        """The text of every sentence and, if it is to be dropped, why."""
        try:
            prepared = [prepare_line(sentence, self.options) for sentence in sentences]
        except InputError as error:
            raise InputError(error.what, source=self.source) from error
        return [(" ".join(tokens), drop_reason(len(tokens), self.options.max_tokens)) for tokens in prepared]


@dataclass(frozen=True)
class PartText:
    """Prepared sentences and what became of those that were read."""

    lines: list[str]
    counts: Counts
    options: PrepareOptions

    def __add__(self, other: PartText) -> PartText:
        return PartText(self.lines + other.lines, self.counts + other.counts, self.options)


def take(
    sentences: Iterable[str],
    preparer: SentencePreparer,
    *,
    tokens: int | None = None,
    without: frozenset[str] = frozenset(),
    processes: int = 1,
) -> PartText:
    """Prepare sentences until `tokens` is reached, passing over those whose prepared text is in `without`."""
    lines: list[str] = []
    fates = Counter[str]()
    results = ordered_map(preparer, in_groups(sentences, BATCH), processes)
    with contextlib.closing(results):
        for text, reason in chain.from_iterable(results):
            if tokens is not None and fates["tokens"] >= tokens:
                break
            if text in without:
                continue
            fates.update(("lines", reason or "kept"))
            if reason is None:
                fates["tokens"] += text.count(" ") + 1
                lines.append(text)
    return PartText(lines, Counts(**fates), preparer.options)


def in_groups(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in lists of `size`; the last may be shorter."""
    source = iter(items)
    while group := list(islice(source, size)):
        yield group


@dataclass(frozen=True)
class TextMaker:
    """Makes the parts of one language from its files."""

    language: str
    recipe: TextRecipe
    files: Mapping[str, Path]  # by role
    processes: int = 1

    def dev(self) -> PartText:
        """The development text: a newstest, or sentences held out from the news."""
        if "dev" in self.files:
            return self._take(read_sentences(self.files["dev"]), "dev", "dev")
        return self._take(hold_out(self._parallel("news"))[1], "dev", "parallel")

    def test(self) -> PartText:
        return self._take(read_sentences(self.files["test"]), "test", "test")

    def train(self, tokens: int | None, dev: PartText) -> PartText:
        """The training text: the first sentences of the parallel text, or half news and half novels; or all of it."""
        held_out = frozenset[str]() if "dev" in self.files else frozenset(dev.lines)
        if tokens is None:
            return self._everything(held_out)
        if "novels" not in self.files:
            return self._take(self._parallel(), "train", "parallel", tokens=tokens, without=held_out)
        news = self._parallel("news") if "dev" in self.files else hold_out(self._parallel("news"))[0]
        first = self._take(news, "train", "parallel", tokens=(tokens + 1) // 2, without=held_out)
        novels = spread_passages(read_novels(self.files["novels"], wrapped=self.recipe.wrapped))
        more = tokens - first.counts.tokens
        return first + self._take(novels, "train", "novels", tokens=more, without=held_out)

    def _everything(self, held_out: frozenset[str]) -> PartText:
        """All parallel text, each sentence once if it comes from several files, and all novels, as they stand."""
        roles = [role for role in self.files if role.startswith("parallel")]
        sentences = chain.from_iterable(self._parallel(role=role) for role in roles)
        text = self._take(
            dict.fromkeys(sentences) if len(roles) > 1 else sentences, "train", "parallel", without=held_out
        )
        if "novels" not in self.files:
            return text
        novels = read_novels(self.files["novels"], wrapped=self.recipe.wrapped)
        return text + self._take(novels, "train", "novels")

    def _take(self, sentences: Iterable[str], part: str, role: str, **limits: Any) -> PartText:
        options = paper_options(self.language, max_tokens=max_tokens(part))
        preparer = SentencePreparer(options, str(self.files[role]))
        return take(sentences, preparer, processes=self.processes, **limits)

    def _parallel(self, origin: str | None = None, role: str = "parallel") -> list[str]:
        column = 1 if self.recipe.english else 2
        pairs = read_parallel(self.files[role])
        return [columns[column] for columns in pairs if origin is None or columns[0] == origin]


def _write_parts(maker: TextMaker, out: Path, tokens: int | None) -> LanguageTexts:
    notify(f"preparing the texts of {maker.language} ...")
    dev = maker.dev()
    texts = {"train": maker.train(tokens, dev), "dev": dev, "test": maker.test()}
    if tokens is not None and (available := texts["train"].counts.tokens) < tokens:
        files = ", ".join(path.name for role, path in maker.files.items() if role not in ("dev", "test"))
        notify(f"there are only {available:,} of {tokens:,} tokens of training text in {files}")
    return write_texts(out, maker.language, texts)


def write_texts(out: Path, language: str, texts: Mapping[str, PartText]) -> LanguageTexts:
    """Write each of PARTS to its file, with the record of how it was prepared."""
    make_folder(out)
    paths = {part: out / f"{part}.{language}.txt" for part in PARTS}
    for part, path in paths.items():
        content = "".join(f"{line}\n" for line in texts[part].lines).encode()
        if not content:
            message = "not a sentence is left for this text; check the data that it is made from"
            raise InputError(message, source=str(path))
        with atomic_writer(path) as stream:
            stream.write(content)
        keep_record(path, make_preparation(texts[part].options, texts[part].counts, len(content), {}))
    return LanguageTexts(language, **paths, counts={part: text.counts for part, text in texts.items()})


# ---------------------------------------------------------------- choosing sentences


def hold_out(sentences: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Split into what stays and what is held out: stretches of neighbours, evenly spaced.

    Whole stretches, because a sentence whose neighbours were learned from would be an easy one.
    """
    wanted = min(HELD_OUT, len(sentences) // 5)
    stretch = min(STRETCH, wanted)
    starts = [k * len(sentences) // (wanted // stretch) for k in range(wanted // stretch)] if wanted else []
    held = {start + offset for start in starts for offset in range(stretch)}
    stays = [sentence for index, sentence in enumerate(sentences) if index not in held]
    return stays, [sentences[index] for index in sorted(held)]


def spread_passages(sentences: Sequence[Item], passage: int = PASSAGE) -> Iterator[Item]:
    """All sentences, passage by passage, so that the first ones of any number come from all over the text.

    The passages follow one another by their number with its bits reversed: the start, the middle, the quarters, ...
    """
    passages = list(in_groups(sentences, passage))
    width = len(passages).bit_length()
    order = sorted(range(len(passages)), key=lambda number: int(f"{number:0{width}b}"[::-1], 2))
    return chain.from_iterable(passages[number] for number in order)


# ---------------------------------------------------------------- reading


def read_sentences(path: Path) -> Iterator[str]:
    """The lines of a file."""
    for block in read_blocks(path):
        yield from block.lines()


def read_parallel(path: Path) -> Iterator[list[str]]:
    """Origin, English and target of every pair."""
    for block in read_blocks(path):
        for number, line in enumerate(block.lines(), block.first_line):
            columns = line.split("\t")
            if len(columns) != 3:
                what = (
                    f"{counted(len(columns), 'column')} where 3 are meant: origin TAB English TAB target; mend the line"
                )
                raise InputError(what, source=str(path), line=number)
            yield columns


def read_novels(path: Path, *, wrapped: bool = False) -> list[str]:
    """The sentences of running text that has a paragraph a line, or lines broken to fit a page; no headings."""
    lines = [stripped for line in read_sentences(path) if not _is_heading(stripped := " ".join(line.split()))]
    paragraphs = join_wrapped(lines) if wrapped else lines
    return [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph)]


def join_wrapped(lines: Sequence[str]) -> Iterator[str]:
    """Put lines together that were broken to fit a page; some texts have whole paragraphs as lines, which stay."""
    paragraph: list[str] = []
    for line, following in pairwise([*lines, ""]):
        paragraph.append(line)
        if not _goes_on(line, following):
            yield " ".join(paragraph)
            paragraph = []


_BEGINNING = re.compile(r"""(-|–|—)*[\s"„“«»(\[]*""")
_FINISHED = re.compile(r"""[.!?…:]["”“»)\]]*$""")


def _is_heading(line: str) -> bool:
    """Whether a line is a heading, a number, an ornament or empty: no small letter, and no end of a sentence."""
    return not any(map(str.islower, line)) and _FINISHED.search(line) is None


def _goes_on(line: str, following: str) -> bool:
    """Whether the sentence at the end of a line goes on in the line that follows.

    It does before a small letter. Before anything else, such as a name, it does if it was not finished and the line is
    as long as those of a page; but a dash before a capital letter begins direct speech.
    """
    beginning = _BEGINNING.match(following)
    first = following[beginning.end() :][:1] if beginning else ""
    if not following or first.islower():
        return bool(following)
    speech = beginning is not None and bool(beginning[1])
    return not speech and len(line) in WRAPPED and _FINISHED.search(line) is None
