"""Text with a tag for each token: from CoNLL-U, from `token/TAG` files, or raw German text tagged by HanTa.

The tokens stay as they were tagged, in their own case; `tag_alignment` prepares them for a model.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError
from morphlm.extras import import_extra
from morphlm.files import source_name
from morphlm.progress import progress_bar
from morphlm.segmentation.sources import conllu
from morphlm.text.reading import numbered_lines, read_blocks, split_tokens
from morphlm.wording import option

Format = Literal["conllu", "slashes", "hanta"]
Column = Literal["upos", "xpos"]
Tokeniser = Callable[[str], list[str]]

UNTAGGED = "untagged"
JOIN = "+"  # between the tags of the words that one token stands for
_COLUMNS: dict[Column, int] = {"upos": 3, "xpos": 4}
_FORM, _MISC = 1, 9
_NOTHING, _NO_SPACE = "_", "SpaceAfter=No"
_HANTA_MODEL = "morphmodel_ger.pgz"


@dataclass(frozen=True)
class TaggedToken:
    """A token and its tag, as in the file."""

    form: str
    tag: str
    line: int  # its number in the file
    space: bool = True  # whether one follows it in the text


@dataclass(frozen=True)
class TaggedSentence:
    """The tokens of a sentence, at least one."""

    tokens: tuple[TaggedToken, ...]
    source: str  # how messages name the file

    __repr__ = dataclass_repr


def read_tagged(
    paths: Sequence[str | Path],
    form: Format = "conllu",
    *,
    column: Column = "upos",
    tokenise: Tokeniser = split_tokens,
) -> list[TaggedSentence]:
    """The tagged sentences of files ('-': standard input); `column` is for CoNLL-U, `tokenise` for HanTa."""
    readers: dict[Format, Callable[[str | Path], Iterable[TaggedSentence]]] = {
        "conllu": lambda path: read_conllu_tags(path, column),
        "slashes": read_slashes,
        "hanta": lambda path: tag_german(path, tokenise),
    }
    if form not in get_args(Format) or column not in get_args(Column):
        raise ConfigError(f"tags come as conllu, slashes or hanta, in the column upos or xpos; not {form}, {column}")
    sentences = [sentence for path in paths for sentence in readers[form](path)]
    names = ", ".join(map(source_name, paths))
    if not sentences:
        raise InputError("there are no sentences; give at least one", source=names)
    if all(token.tag == UNTAGGED for sentence in sentences for token in sentence.tokens):
        hint = (
            f"no word has a tag in the column {column.upper()}; choose the other {option('--column')}, or tag the text"
        )
        raise InputError(hint, source=names)
    return sentences


# ------------------------------------------------------------ CoNLL-U


def read_conllu_tags(path: str | Path, column: Column = "upos") -> Iterator[TaggedSentence]:
    """The tokens of the text with their tags.

    A token that stands for several words (`zum` for `zu dem`) has their tags, joined: ADP+DET. Empty nodes, which do
    not stand in the text, are left out.
    """
    source = source_name(path)
    for lines in conllu.read_sentences(path, source, lowercase=False):
        if tokens := tuple(_conllu_tokens(lines, source, _COLUMNS[column])):
            yield TaggedSentence(tokens, source)


def _conllu_tokens(lines: list[conllu.Line], source: str, column: int) -> Iterator[TaggedToken]:
    words = {columns[0]: (columns[column],) for _, columns in lines if conllu.is_word(columns)}
    inside: set[str] = set()
    for number, columns in lines:
        if columns[0] in inside:
            continue
        parts = [columns[0]]
        if not conllu.is_word(columns):
            parts = conllu.range_of(columns[0], words, source, number)
            inside.update(parts)
        tags = [words[part][0] for part in parts if words[part][0] != _NOTHING]
        space = _NO_SPACE not in columns[_MISC].split("|")
        yield TaggedToken(columns[_FORM], JOIN.join(tags) or UNTAGGED, number, space)


# ------------------------------------------------------------ token/TAG


def read_slashes(path: str | Path) -> Iterator[TaggedSentence]:
    """A sentence a line, `token/TAG` between spaces; the last slash separates. Empty lines are left out."""
    source = source_name(path)
    for number, line in numbered_lines(path):
        if tokens := tuple(_slashed(item, source, number) for item in split_tokens(line)):
            yield TaggedSentence(tokens, source)


def _slashed(item: str, source: str, number: int) -> TaggedToken:
    form, _, tag = item.rpartition("/")
    if not form or not tag:
        raise InputError(f"{item} is no token with its tag; write it as token/TAG", source=source, line=number)
    return TaggedToken(form, tag, number)


# ------------------------------------------------------------ HanTa


def tag_german(path: str | Path, tokenise: Tokeniser = split_tokens) -> Iterator[TaggedSentence]:
    """Tag German text, a sentence a line, in its own case. Empty lines are left out."""
    tag_sentence = hanover_tagger()
    with progress_bar("tagging", unit="sentence") as bar:
        for block in read_blocks(path):
            for number, line in enumerate(block.lines(), block.first_line):
                bar.update()
                if forms := tokenise(line):
                    pairs = zip(forms, tag_sentence(forms), strict=True)
                    yield TaggedSentence(tuple(TaggedToken(*pair, number) for pair in pairs), block.source)


def hanover_tagger() -> Callable[[Sequence[str]], list[str]]:
    """HanTa's tags (STTS) of the tokens of a sentence."""
    tagger = import_extra("HanTa.HanoverTagger", "pos", "tagging German text needs").HanoverTagger(_HANTA_MODEL)
    # It is slow on words that are not in its lists, and most of them come again.
    tagger.analyze_forward = lru_cache(maxsize=1 << 18)(tagger.analyze_forward)
    return lambda forms: _hanta_tags(tagger, list(forms))


def hanta_version() -> str:
    """The installed version of HanTa, for records."""
    return importlib.metadata.version("HanTa")


def _hanta_tags(tagger: Any, forms: list[str]) -> list[str]:
    try:
        return [str(tag) for tag in tagger.tag_sent(forms, taglevel=0)]
    except KeyError:  # it finds no way through the sentence: then each token by itself
        return [str(next(iter(tagger.tag_word(form)), (UNTAGGED,))[0]) for form in forms]
