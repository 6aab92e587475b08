"""Unknown words inside the decoder: composed in contexts, and with their shares of P(UNK), as texts are scored."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError
from morphlm.language_model.batch_scorer import NewWordIds, batch_scorer
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.scoring.spelled import with_spelling
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.grammar.rules import Rule, table_of
from morphlm.vocabulary.vocabulary import UNK_ID

from ...language_model.state_models import MODELS, logbilinear, ngrams

NAMES = (
    "mkn 3",
    "clbl++",
    "clbl++ full",
    "clbl",
    "fixed",
    "wide",
    "by context",
    "other ids",
    "nested",
    "by the last word",
)
WEIGHTS = {"f": 1.0, "LM0": 0.7}
TABLE = table_of(
    [
        Rule(("a",), ("domu",), {"f": -0.1}),
        Rule(("a",), ("domouška",), {"f": -0.2}),
        Rule(("b",), ("poleň", "školou"), {"f": -0.3}),
        Rule(("b",), ("školama",), {"f": -0.1}),
        Rule((1, "c", 2), (2, "xyz", 1), {"f": -0.2}),
        Rule(("c",), ("poly",), {"f": -0.1}),
    ]
)
SOURCES = [["a", "b"], ["a", "c", "b"], ["domxx", "a", "nikde", "b", "domxx"], ["b", "c", "a", "c", "b"], []]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unknown_contexts", ["unk", "composed"])
@pytest.mark.parametrize("spelled", [False, True])
def test_a_translation_has_the_score_of_its_text(name: str, unknown_contexts: UnknownContexts, spelled: bool) -> None:
    model = MODELS[name]()
    asked: Any = with_spelling(model) if spelled else model
    decoder = Decoder([asked], WEIGHTS, unknown_contexts=unknown_contexts)
    spelling = asked.spelling if spelled else None
    for source in SOURCES:
        for found in decoder.decode(source, TABLE).kbest(8):
            text = model.after_text([]).score_text([found.tokens], unknown_contexts=unknown_contexts, spelling=spelling)
            expected = sum(row["logprob"] for row in text.token_rows())
            assert found.features["LM0"] == pytest.approx(expected, abs=1e-6)  # n-grams of the search are in 32 bits
            unknown = sum(token not in model.vocabulary for token in found.tokens)
            assert found.features["LM0_OOV"] == unknown
            total = sum(WEIGHTS.get(feature, 0.0) * value for feature, value in found.features.items())
            assert found.score == pytest.approx(total, abs=1e-6)


def test_composing_changes_what_is_found() -> None:
    model = logbilinear("clbl++")
    plain, composed = (Decoder([model], WEIGHTS, unknown_contexts=each) for each in ("unk", "composed"))
    scores = [(plain.decode(source, TABLE).score, composed.decode(source, TABLE).score) for source in SOURCES[:4]]
    assert any(one != other for one, other in scores)
    again = pickle.loads(pickle.dumps(composed))
    assert [again.decode(source, TABLE).score for source in SOURCES[:4]] == [score for _, score in scores]
    assert composed.with_weights({"f": 1.0}).decode(SOURCES[0], TABLE).features["LM0"] < 0
    after = composed.after_text([["domu"]])
    assert after.unknown_contexts == "composed"


def test_threads_give_the_same_translations() -> None:
    decoder = Decoder([MODELS["by context"]()], WEIGHTS, unknown_contexts="composed")
    alone = [translation.score for translation in decoder.decode_all(SOURCES * 6, TABLE, threads=1)]
    assert [translation.score for translation in decoder.decode_all(SOURCES * 6, TABLE, threads=4)] == alone


def test_new_words_keep_their_ids() -> None:
    vocabulary = ngrams(2).vocabulary
    ids = NewWordIds(vocabulary)
    first = ids.encode(["domu", "poleň", "<unk>", "poleň", "xyz"])
    assert first.tolist() == [vocabulary.id_of("domu"), len(vocabulary), UNK_ID, len(vocabulary), len(vocabulary) + 1]
    assert ids.encode(["xyz", "nikde"]).tolist() == [len(vocabulary) + 1, len(vocabulary) + 2]
    assert ids.forms == ["poleň", "xyz", "nikde"]
    assert ids.known(first).tolist() == [vocabulary.id_of("domu"), UNK_ID, UNK_ID, UNK_ID, UNK_ID]


@pytest.mark.parametrize("name", ["clbl++", "by context"])
def test_scorers_check_ids_of_new_words(name: str) -> None:
    model = MODELS[name]()
    ids = NewWordIds(model.vocabulary)
    scorer = batch_scorer(model, ids)
    assert scorer.new_words is ids
    cache, width, size = scorer.new_cache(1.0), scorer.order - 1, len(model.vocabulary)
    words = np.array([5], np.int32)
    with pytest.raises(IndexError, match="is no id of a word"):
        scorer.log_probabilities(np.full((1, width), size, np.int32), words, cache)
    ids.encode(["poleň"])
    known = scorer.log_probabilities(np.full((1, width), size, np.int32), words, cache)
    np.testing.assert_array_equal(scorer.log_probabilities(np.full((1, width), size, np.int32), words, cache), known)
    with pytest.raises(IndexError, match="is no id of a word"):
        batch_scorer(model).log_probabilities(np.full((1, width), size, np.int32), words, cache)


def test_other_values_are_refused() -> None:
    with pytest.raises(ConfigError, match="`unk` or `composed`"):
        Decoder([ngrams(2)], unknown_contexts="both")  # type: ignore[arg-type]
