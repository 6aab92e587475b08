"""Statistics and BLEU equal sacreBLEU's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from morphlm.translation.tuning.bleu import Reference, bleu, statistics_of

words = st.sampled_from(["a", "b", "c", "d", "e"])
sentence = st.lists(words, min_size=1, max_size=12)
metric = BLEU(tokenize="none", force=True)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=6))
def test_bleu_of_a_text_is_sacrebleus(pairs: list[tuple[list[str], list[str]]]) -> None:
    translations, references = zip(*pairs, strict=True)
    ours = bleu(statistics_of(translations, references).sum(0))
    theirs = metric.corpus_score([" ".join(t) for t in translations], [[" ".join(r) for r in references]])
    assert ours == pytest.approx(theirs.score, abs=1e-6)


@settings(deadline=None, max_examples=200)
@given(sentence, st.lists(sentence, min_size=1, max_size=3))
def test_statistics_with_several_references_are_sacrebleus(translation: list[str], references: list[list[str]]) -> None:
    found = Reference.of(references).statistics(translation).tolist()
    theirs = metric.corpus_score([" ".join(translation)], [[" ".join(reference)] for reference in references])
    assert found[0] == theirs.sys_len
    assert found[2:6] == theirs.counts
    assert found[6:] == theirs.totals
    # Of two references equally near, sacreBLEU takes the shorter one.
    assert found[1] == theirs.ref_len


def test_a_repeated_word_is_right_as_often_as_the_reference_has_it() -> None:
    # The example of Papineni et al. (2002): 2 of 7.
    row = Reference.of([["the", "cat", "is", "on", "the", "mat"]]).statistics(
        ["the", "the", "the", "the", "the", "the", "the"]
    )
    assert row.tolist() == [7, 6, 2, 0, 0, 0, 7, 6, 5, 4]


def test_an_empty_translation_has_no_ngrams() -> None:
    row = Reference.of([["a", "b"]]).statistics([])
    assert row.tolist() == [0, 2, 0, 0, 0, 0, 0, 0, 0, 0]
    assert bleu(row) == 0.0


def test_words_outside_the_reference_never_match_each_other() -> None:
    row = Reference.of([["a"]]).statistics(["x", "x", "y"])
    assert row.tolist()[2:6] == [0, 0, 0, 0]


@settings(deadline=None, max_examples=100)
@given(st.lists(sentence, min_size=1, max_size=5), st.lists(sentence, min_size=1, max_size=2))
def test_statistics_of_a_list_are_those_of_its_translations(
    translations: list[list[str]], references: list[list[str]]
) -> None:
    reference = Reference.of(references)
    ids = dict(reference.ids)
    words = np.array([ids.setdefault(word, len(ids)) for some in translations for word in some], np.int32)
    starts = np.cumsum([0, *map(len, translations)])
    found = reference.statistics_of_ids(words, starts)
    assert found.tolist() == [reference.statistics(some).tolist() for some in translations]
