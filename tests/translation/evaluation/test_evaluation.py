"""Evaluation: equal to sacreBLEU's own figures, also when summed up from the statistics."""

from __future__ import annotations

import pytest
import sacrebleu
from sacrebleu.metrics.chrf import CHRF

from morphlm.errors import InputError
from morphlm.text.tokenise import moses_detokenise
from morphlm.translation.evaluation.metrics import evaluate
from morphlm.translation.tuning.bleu import bleu

TRANSLATIONS = [
    "The cat sat on the mat , and slept.",
    "It's 3.5% more than in 2011.",
    'He said "no" twice & left.',
    "A b",
]
REFERENCES = [
    "The cat sat on a mat, and slept.",
    "It is 3.5% more than in 2010.",
    'he said: "No" twice & left!',
    "a B c",
]


def test_bleu_is_sacrebleus_with_lowercasing() -> None:
    found = evaluate(TRANSLATIONS, REFERENCES)
    assert found.bleu == pytest.approx(sacrebleu.corpus_bleu(TRANSLATIONS, [REFERENCES], lowercase=True).score)
    assert found.bleu > evaluate(TRANSLATIONS, REFERENCES, lowercase=False).bleu
    assert "case:lc" in found.bleu_signature


def test_chrf_is_sacrebleus() -> None:
    metric = CHRF(lowercase=True)
    assert evaluate(TRANSLATIONS, REFERENCES).chrf == pytest.approx(
        metric.corpus_score(TRANSLATIONS, [REFERENCES]).score
    )


@pytest.mark.parametrize("lowercase", [True, False])
def test_the_statistics_give_the_same_bleu(lowercase: bool) -> None:
    found = evaluate(TRANSLATIONS, REFERENCES, lowercase=lowercase)
    assert bleu(found.statistics.sum(0)) == pytest.approx(found.bleu, abs=1e-9)


def test_unequal_numbers_are_told() -> None:
    with pytest.raises(InputError, match="1 translation of 2 references"):
        evaluate(["a"], ["a", "b"])
    with pytest.raises(InputError, match="no translations"):
        evaluate([], [])


def test_detokenised_text_looks_written() -> None:
    assert moses_detokenise(["he", "said", ",", '"', "no", '"', "."], "en") == 'he said, "no".'
    assert moses_detokenise(["&amp;", "x"], "cs") == "&amp; x"
