"""The slow step of preparing text: the Moses tokeniser, by sacremoses's rules; only its look-ups are made quick.

And the way back, for text that a system has made.
"""

from __future__ import annotations

import functools
import importlib.metadata
import warnings
from collections.abc import Sequence
from typing import Any


def _sacremoses() -> Any:
    """The library; half a second, which only those who tokenise should wait.

    It imports joblib, which warns where semaphores cannot be made (containers without /dev/shm); we need none.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*joblib will operate in serial mode")
        import sacremoses  # noqa: PLC0415
    return sacremoses


@functools.cache
def _moses(language: str) -> Any:
    """The tokeniser of a language, with its sets of characters made once and not anew for every full stop.

    That saves a part of the time on ordinary text, and nearly all of it on a long line of abbreviations.
    """
    moses = _sacremoses().MosesTokenizer(language)
    letters = frozenset(moses.IsAlpha)
    moses.islower = frozenset(moses.IsLower).issuperset
    moses.isanyalpha = lambda text: not letters.isdisjoint(text)
    moses.NONBREAKING_PREFIXES = frozenset(moses.NONBREAKING_PREFIXES)
    moses.NUMERIC_ONLY_PREFIXES = frozenset(moses.NUMERIC_ONLY_PREFIXES)
    return moses


def sacremoses_version() -> str:
    """The installed version, for records."""
    return importlib.metadata.version("sacremoses")


def moses_tokenise(line: str, language: str) -> str:
    """The tokens of a line between single spaces, as sacremoses gives them without escaping."""
    tokenised: str = _moses(language).tokenize(line, escape=False, return_str=True)
    return tokenised


@functools.cache
def _moses_back(language: str) -> Any:
    return _sacremoses().MosesDetokenizer(language)


def moses_detokenise(tokens: Sequence[str], language: str) -> str:
    """Tokens as a person would write them, by sacremoses's rules; words stay as they are."""
    text: str = _moses_back(language).detokenize(list(tokens), unescape=False)
    return text


def has_abbreviations(language: str) -> bool:
    """Whether the tokeniser knows abbreviations of this language; if not, it takes the English ones."""
    return language in _sacremoses().corpus.NonbreakingPrefixes().available_langs
