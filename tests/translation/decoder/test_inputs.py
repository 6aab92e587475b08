"""Sentences for the decoder are lists of words; anything else is refused before the search."""

from __future__ import annotations

from typing import Any

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.translation import Decoder, table_of
from morphlm.translation.grammar.rules import FEATURES


@pytest.mark.parametrize("tokens", [None, 5, "dům", b"dum", [None], ["dům", 5], [b"dum"], ["dům", ["dům"]], {"dům": 1}])
def test_what_is_no_list_of_words_is_refused(tokens: Any) -> None:
    decoder, rules = Decoder(), table_of([], FEATURES)
    with pytest.raises(InputError):
        decoder.decode(tokens, rules)
    with pytest.raises(InputError):
        list(decoder.decode_all([["dům"], tokens], rules, threads=1))
    assert decoder.decode(["dům"], rules).tokens == ("dům",)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", True])
def test_numbers_of_threads_are_checked(threads: Any) -> None:
    with pytest.raises(ConfigError, match="number of threads"):
        Decoder().decode_all([["dům"]], table_of([], FEATURES), threads=threads)
