"""Which words keep the full stop behind them: the lists of abbreviations that sacremoses has for many languages."""

from __future__ import annotations

import functools
import importlib.util
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.text.casing import lowercase

_NUMERIC_ONLY = "#NUMERIC_ONLY#"
_DIGIT = re.compile(r"\d")
_DATA_MODULE = "_data_nonbreaking_prefixes.py"


@dataclass(frozen=True)
class Abbreviations:
    """The abbreviations of a language, without their full stops."""

    exact: frozenset[str]  # as the list has them
    small: frozenset[str]  # in small letters
    listed: bool  # whether the language has a list of its own
    before_numbers: frozenset[str]  # in small letters: abbreviations before a number only (No. 5)


def any_digits(word: str) -> str:
    """A word with every digit as 0."""
    return _DIGIT.sub("0", word)


def compared(word: str, language: str | None) -> str:
    """A word as it is looked up: what lowercasing and normal form C make of it, and one form of the sigma."""
    return unicodedata.normalize("NFC", lowercase(word, language)).replace("ς", "σ")


@functools.cache
def abbreviations(language: str | None) -> Abbreviations:
    """The list of a language; English titles and months (Dr., Jan.) for one that has no list."""
    always, numeric = set[str](), set[str]()
    for line in _prefixes(language):
        word = any_digits(line.removesuffix(_NUMERIC_ONLY).strip().removesuffix("."))
        if " " not in word and (len(word) > 1 or word.islower()):  # every capital may be an initial
            (numeric if line.endswith(_NUMERIC_ONLY) else always).add(word)
    listed = _list_name(language) in _prefix_lists()
    return Abbreviations(
        frozenset(always), _small(always, language), listed, before_numbers=_small(numeric - always, language)
    )


def _small(words: Iterable[str], language: str | None) -> frozenset[str]:
    return frozenset(compared(word, language) for word in words)


def _list_name(language: str | None) -> str:
    return f"nonbreaking_prefix.{language}"


def _prefixes(language: str | None) -> list[str]:
    if language is None:
        return []
    lists = _prefix_lists()
    text = lists.get(_list_name(language)) or lists[_list_name("en")]
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


@functools.cache
def _prefix_lists() -> dict[str, str]:
    """The lists as sacremoses ships them.

    Only its module of data is loaded: the package itself takes half a second, which a quick command cannot spare.
    """
    package = importlib.util.find_spec("sacremoses")
    assert package is not None and package.submodule_search_locations
    path = Path(package.submodule_search_locations[0], _DATA_MODULE)
    if not path.is_file():  # older releases keep the lists in files
        folder = path.parent / "data" / "nonbreaking_prefixes"
        return {file.name: file.read_text("utf-8") for file in sorted(folder.glob("nonbreaking_prefix.*"))}
    spec = importlib.util.spec_from_file_location("morphlm_nonbreaking_prefixes", path)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.NONBREAKING_PREFIXES)
