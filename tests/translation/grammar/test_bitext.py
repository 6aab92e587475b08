from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.errors import FormatError, InputError
from morphlm.translation.alignment.links import alignments_of
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.grammar.bitext import build_bitext, load_bitext
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.suffix_array import searchable, sort_suffixes

from .reference import occurrences
from .test_extraction import PAIRS, bitext_of

ids = st.lists(st.integers(0, 3), max_size=60)


@settings(deadline=None)
@given(ids, st.sampled_from([1, 2, 4, 8, 64]))
def test_suffixes_are_sorted(tokens: list[int], depth: int) -> None:
    found = sort_suffixes(np.array(tokens, np.int32), depth)
    assert found.tolist() == sorted(range(len(tokens)), key=lambda at: tokens[at : at + depth])


@settings(deadline=None)
@given(ids, st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_phrases_are_found(tokens: list[int], phrase: list[int]) -> None:
    found = occurrences(searchable(np.array(tokens, np.int32), 4), phrase)
    size = len(phrase)
    assert sorted(found.tolist()) == [at for at in range(len(tokens)) if tokens[at : at + size] == phrase]


def test_saved_and_loaded_it_gives_the_same_rules(tmp_path: Path) -> None:
    bitext = bitext_of(PAIRS)
    bitext.save(tmp_path / "b")
    again = load_bitext(tmp_path / "b")
    sentence = ["das", "kleine", "haus", "ist", "!"]
    tables = [GrammarExtractor(one).extract(sentence) for one in (bitext, again)]
    assert len(again) == len(PAIRS) and len(tables[0]) > 20
    assert [rule.to_line() for rule in tables[0]] == [rule.to_line() for rule in tables[1]]
    bitext.save(tmp_path / "c")
    names = sorted(path.name for path in (tmp_path / "b").iterdir())
    assert all((tmp_path / "b" / name).read_bytes() == (tmp_path / "c" / name).read_bytes() for name in names)


def test_damage_is_noticed(tmp_path: Path) -> None:
    bitext_of(PAIRS).save(tmp_path / "b")
    path = tmp_path / "b" / "tensors.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(FormatError, match="damaged"):
        load_bitext(tmp_path / "b")


def test_empty_sentences_on_either_side() -> None:
    bitext = bitext_of([([], ["x"], []), (["a"], [], []), (["a", "b"], ["x", "y"], [(0, 0), (1, 1)]), ([], [], [])])
    assert len(bitext) == 4
    lines = [rule.to_line().split(" ||| E")[0] for rule in GrammarExtractor(bitext).extract(["a", "b"])]
    assert lines == [
        "[X] ||| a ||| x",
        "[X] ||| a [X,1] ||| x [X,1]",
        "[X] ||| a b ||| x y",
        "[X] ||| b ||| y",
        "[X] ||| [X,1] b ||| [X,1] y",
    ]


def test_what_does_not_fit_together_is_refused() -> None:
    text = read_parallel([["a"], ["b", "c"]], [["x"], ["y"]])
    with pytest.raises(InputError, match="1 line, and the text 2 pairs"):
        build_bitext(text, alignments_of([[(0, 0)]]), "al")
    with pytest.raises(InputError, match=r"^al:2: the link 1-1 is outside"):
        build_bitext(text, alignments_of([[(0, 0)], [(1, 1)]]), "al")
    with pytest.raises(InputError, match=r"line 1 of the source has 65,001 words"):
        build_bitext(read_parallel([["a"] * 65_001], [["x"]]), alignments_of([[]]))
