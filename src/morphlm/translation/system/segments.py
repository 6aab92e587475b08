"""Lines of input as what the decoder is asked: tokens, and for each sentence its own grammars or a constraint.

cdec takes `<seg id="7" grammar="grammars/grammar.7.gz" grammar1="names.gz">text</seg>`: the number of the sentence, and
files with its rules. Other markup is text like any other, or refused. Word lattices are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from morphlm.display import dataclass_repr
from morphlm.errors import InputError, located
from morphlm.text.reading import Block, Mending, read_blocks, split_tokens
from morphlm.translation.decoder.constrained import Constraint
from morphlm.translation.system.config import TARGET, SystemConfig, how_to_mend
from morphlm.wording import option

Markup = Literal["keep", "refuse"]
MARKUP: tuple[Markup, ...] = ("keep", "refuse")

_ATTRIBUTE = r"""\s+([A-Za-z][\w.:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')"""
_SEG = re.compile(rf"\s*<seg((?:{_ATTRIBUTE})*)\s*>(.*)</seg>\s*")
_LOOKS_LIKE_SEG = re.compile(r"\s*<seg[\s>]", re.IGNORECASE)
_GRAMMAR = re.compile(r"grammar(?:[1-9][0-9]*)?")
_LATTICE = re.compile(r"""\s*\(\(\(\s*(?:'.*'|".*")\s*,.*\)\s*""")
_TAG = re.compile(r"<(?:/\s*)?[A-Za-z][\w.:-]*(?:\s[^<>]*)?/?>")


@dataclass(frozen=True)
class Segment:
    """A sentence to translate, with what is asked of its translation."""

    tokens: tuple[str, ...]
    number: int | None = None  # as the input has it; else sentences are numbered from 0
    grammars: tuple[str, ...] = ()  # files whose rules stand instead of those of the training text
    constraint: Constraint | None = None
    cased: tuple[str, ...] | None = None  # the tokens with their capitals, if these are known

    __repr__ = dataclass_repr


@dataclass(frozen=True)
class SegmentReader:
    """Turns lines into segments."""

    config: SystemConfig
    prepared: bool = False  # tokens between spaces
    markup: Markup = "keep"
    sentence_grammars: bool = False  # <seg> is taken apart
    keep_case: bool = False  # segments know the capitals of their tokens

    def segments(self, block: Block, *, mending: Mending | None = None) -> Iterator[Segment]:
        """Of each line of a block, which an error names."""
        for number, line in enumerate(block.lines(), block.first_line):
            with located(block.source, number):
                segment = self.segment(line, mending)
            yield segment

    def segment(self, line: str, mending: Mending | None = None) -> Segment:
        """Of a line; raises an InputError that does not know its place."""
        text, attributes = line, dict[str, str]()
        if _LATTICE.fullmatch(line):
            raise InputError("this is a word lattice (PLF), which cannot be translated; write its best path as words")
        if _LOOKS_LIKE_SEG.match(line):
            text, attributes = self._taken_apart(line)
        if self.markup == "refuse" and (tag := _TAG.search(text)):
            raise InputError(
                f"there is markup in the text, {tag.group()}; remove it, or say "
                f"{option('--markup', 'keep')} to translate it like other words"
            )
        repairs = None if mending is None else mending.repairs
        tokens = split_tokens(text) if self.prepared else self.config.prepare(text, repairs=repairs)
        cased = self.config.cased_tokens(text, tokens) if self.keep_case and not self.prepared else None
        return Segment(tuple(tokens), _number(attributes), _grammars(attributes), cased=cased)

    def _taken_apart(self, line: str) -> tuple[str, dict[str, str]]:
        """The text of a <seg>, and its attributes."""
        if not self.sentence_grammars:
            raise InputError(
                "this is a <seg>, not a sentence; remove the markup, or say "
                f"{option('--sentence-grammars', True)} if it names a grammar"
            )
        match = _SEG.fullmatch(line)
        if match is None:
            raise InputError('not like `<seg id="0" grammar="FILE">text</seg>`, in small letters; mend the line')
        attributes: dict[str, str] = {}
        for name, double, single in re.findall(_ATTRIBUTE, match.group(1)):
            if name in attributes:
                raise InputError(f"the attribute {name} is there twice; mend the line")
            attributes[name] = double or single
        return match.group(match.re.groups), attributes


def _number(attributes: dict[str, str]) -> int | None:
    text = attributes.get("id")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise InputError(f'the id {text!r} is no whole number; write id="0" and so on, or none')
    return int(text)


def _grammars(attributes: dict[str, str]) -> tuple[str, ...]:
    """The files of grammar, grammar1, grammar2, ..., in this order."""
    if "grammar0" in attributes:
        raise InputError("there is no grammar0, the first is called grammar, the next grammar1; mend the line")
    names = sorted((name for name in attributes if _GRAMMAR.fullmatch(name)), key=lambda name: (len(name), name))
    for name in names:
        if attributes[name] in ("", "-"):
            raise InputError(f"{name} names no file; mend the line")
    return tuple(attributes[name] for name in names)


# ---------------------------------------------------------------- constraints


class ConstraintReader:
    """The lines of a file of target words, one for each line of the input."""

    def __init__(
        self,
        path: str | Path,
        config: SystemConfig,
        *,
        prepared: bool,
        is_whole: bool,
        is_incomplete: bool = False,
        mending: Mending | None = None,
    ) -> None:
        self.path = path
        self._prepared, self._config = prepared, config
        self._is_whole, self._is_incomplete, self._mending = is_whole, is_incomplete, mending
        self._sentences = self._read()

    def _read(self) -> Iterator[Sequence[str]]:
        for block in read_blocks(self.path, mending=self._mending, cure=how_to_mend()):
            if self._prepared:
                yield from map(split_tokens, block.lines())
            else:
                yield from self._config.sentences(block, TARGET, mending=self._mending)

    def constrained(self, segments: Iterator[Segment]) -> Iterator[Segment]:
        """Each segment with the constraint of its line."""
        for segment in segments:
            words = next(self._sentences, None)
            if words is None:
                raise InputError("it has fewer lines than the text; give one for each", source=str(self.path))
            has_last = self._is_incomplete and bool(words)
            yield replace(segment, constraint=Constraint(tuple(words), self._is_whole, has_last))

    def check_end(self) -> None:
        """Refuse lines that are left over."""
        if next(self._sentences, None) is not None:
            raise InputError("it has more lines than the text; give one for each", source=str(self.path))
