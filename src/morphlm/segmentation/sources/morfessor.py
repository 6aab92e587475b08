"""Morphemes from a file that Morfessor (`count morph + morph`) or FlatCat (`count morph/CAT + morph/CAT`) wrote."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.segmentation.morphemes import Morpheme, Segmentation, keep_letters_whole
from morphlm.text.reading import numbered_lines

CATEGORIES = ("PRE", "STM", "SUF", "ZZZ")  # ZZZ: FlatCat's non-morpheme
EXPECTED = "`count morph + morph`"
_CATEGORY = re.compile(rf"(.+)/({'|'.join(CATEGORIES)})")


def parse_line(line: str) -> tuple[Morpheme, ...] | None:
    """The morphemes of `count morph/CAT + morph/CAT`, with or without categories; None for anything else."""
    count, *pieces = line.split(" ")
    separators = pieces[1::2]
    well_formed = count.isdecimal() and len(pieces) % 2 == 1 and separators.count("+") == len(separators)
    if not well_formed or "" in pieces or "\t" in line:
        return None
    return tuple(map(_morpheme, pieces[::2]))


@lru_cache(maxsize=1 << 18)  # most morphemes come again and again, and equal ones share their memory
def _morpheme(piece: str) -> Morpheme:
    # What follows the slash is a category only if it is one of the four: "1/2" is a word.
    match = _CATEGORY.fullmatch(piece)
    return Morpheme(piece) if match is None else Morpheme(match.group(1), match.group(2))


def is_comment(line: str) -> bool:
    """Morfessor begins its files with a line that says who wrote them; the line of a word begins with its count."""
    return not line or line.startswith("#")


def read_morfessor(path: str | Path) -> Segmentation:
    """Read a Morfessor or FlatCat segmentation; each word is its morphemes joined."""
    source = source_name(path)
    analyses: dict[str, tuple[Morpheme, ...]] = {}
    for number, line in numbered_lines(path):
        if is_comment(line):
            continue
        morphemes = parse_line(unicodedata.normalize("NFC", line))
        if morphemes is None:
            message = f"not {EXPECTED}; write the file with morfessor or flatcat"
            raise InputError(message, source=source, line=number)
        morphemes = keep_letters_whole(morphemes)
        word = "".join([morpheme.form for morpheme in morphemes])
        if analyses.setdefault(word, morphemes) != morphemes:
            message = f"{word} came before with another segmentation; keep one of the two lines"
            raise InputError(message, source=source, line=number)
    return Segmentation(analyses)
