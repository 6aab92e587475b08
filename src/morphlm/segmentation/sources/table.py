"""Factors from a table of one's own: `word TAB factor factor ...`."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.segmentation.sources.factorisation import Factorisation, from_mapping
from morphlm.text.reading import numbered_lines, split_tokens


def read_table(path: str | Path) -> Factorisation:
    """Read `word TAB factor factor ...`; words are taken as they stand, in Unicode normal form C."""
    source = source_name(path)
    factors: dict[str, tuple[str, ...]] = {}
    for number, line in numbered_lines(path):
        word, tab, rest = unicodedata.normalize("NFC", line).partition("\t")
        names = tuple(split_tokens(rest))
        if not (word and tab) or " " in word:
            raise InputError("not `word TAB factor factor ...`; correct the line", source=source, line=number)
        if not names:
            raise InputError(
                "there is no factor behind the TAB; add one or remove the line", source=source, line=number
            )
        if factors.setdefault(word, names) is not names:
            raise InputError(f"{word} is here for the second time; join the lines", source=source, line=number)
    return from_mapping(factors, f"table {source}")
