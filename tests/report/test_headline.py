"""The sentence that a report and `learn` begin with."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from morphlm.cache.config import CacheConfig
from morphlm.cache.model import CacheModel
from morphlm.cache.units import word_weights
from morphlm.ngram.training import train_ngram
from morphlm.report.headline import Headline, best_and_baseline, composable_share, headline, headline_of
from morphlm.report.scored_models import score_loaded_models
from morphlm.scoring.mixing import mix
from tests.report.cases import TEXT, model, scored_models, text_of


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        ((69.0, 100.0, 0.92), "31 % lower perplexity than Kneser-Ney; 92 % of the words never seen can be composed"),
        ((69.0, 100.0), "31 % lower perplexity than Kneser-Ney"),
        ((112.0, 100.0), "12 % higher perplexity than Kneser-Ney"),
        ((99.7, 100.0), "About the same perplexity as Kneser-Ney"),
        ((1234.56,), "Perplexity 1,234.6"),
        ((50.0, None, 0.996), "Perplexity 50.0; 99 % of the words never seen can be composed"),
        ((50.0, None, 0.001), "Perplexity 50.0; 1 % of the words never seen can be composed"),
        ((50.0, None, 1.0), "Perplexity 50.0; 100 % of the words never seen can be composed"),
        ((50.0, math.inf), "Perplexity 50.0"),
        (
            (60.0, 100.0, 0.9, 48.0),
            "40 % lower perplexity than Kneser-Ney; caches lower it by another 20 %; "
            "90 % of the words never seen can be composed",
        ),
        ((60.0, 100.0, None, 63.0), "40 % lower perplexity than Kneser-Ney; caches raise it by 5 %"),
        ((60.0, 100.0, None, 59.8), "40 % lower perplexity than Kneser-Ney; caches make no difference"),
        ((110.0, 100.0, None, 99.0), "10 % higher perplexity than Kneser-Ney; caches lower it by 10 %"),
        ((50.0, None, None, 40.0), "Perplexity 50.0; caches lower it by 20 %"),
        ((50.0, None, None, math.inf), "Perplexity 50.0"),
        ((math.inf, 100.0), "Perplexity ∞"),
    ],
)
def test_what_is_said(figures: tuple[float, *tuple[float | None, ...]], text: str) -> None:
    assert headline(*figures) == text
    perplexity, kneser_ney, composable, with_caches, *_ = (*figures, None, None, None)
    assert Headline(perplexity, kneser_ney, composable, with_caches=with_caches).to_json()["text"] == text


def test_the_best_model_is_the_one_of_lowest_perplexity() -> None:
    given = scored_models("lbl", "clbl", "clbl++", "mixture")
    best, baseline = best_and_baseline(given)
    assert best.perplexity.including_unknown == min(one.perplexity.including_unknown for one in given.models)
    assert baseline is None


def test_it_is_compared_with_the_best_kneser_ney_model_of_the_same_words() -> None:
    lbl = model("lbl")
    text = [[word] for word in lbl.vocabulary.words[3:]] * 2 + [["škola", "domem", "řekou"]] * 5
    orders = [(f"mkn{order}", "x", train_ngram(text, order)) for order in (1, 3)]
    few = ("few", "x", train_ngram([["škola"]], 2))
    given = score_loaded_models(text_of(["škola domem řekou"] * 3), [*orders, few, ("lbl", "x", lbl)], 4)
    best, baseline = best_and_baseline(given)
    assert best.name == "lbl"
    assert baseline is not None
    assert baseline.perplexity.including_unknown == min(one.perplexity.including_unknown for one in given.models[:2])
    found = headline_of(given)
    assert (found.model, found.baseline) == ("lbl", baseline.name)
    assert found.change == pytest.approx(best.perplexity.including_unknown / baseline.perplexity.including_unknown - 1)


def test_models_that_know_other_words_are_not_compared() -> None:
    few = train_ngram([["škola", "domem"]], 2)
    given = score_loaded_models(text_of(TEXT), [("few", "few", few), ("lbl", "lbl", model("lbl"))], 2)
    assert best_and_baseline(given) == (given.models[1], None)
    assert headline_of(given).format() == f"Perplexity {given.models[1].perplexity.including_unknown:,.1f}"


def test_kneser_ney_alone() -> None:
    given = scored_models("mkn")
    assert best_and_baseline(given) == (given.first, None)
    assert headline_of(given).change is None


def test_only_words_with_a_known_stem_count_as_composed() -> None:
    vectors = model("clbl++").vectors
    composed = ["domou"]  # a stem and an ending that are known, but never together
    affixes = [f"{letters}em" for letters in ("xxx", "qqq", "ttt", "www")]
    unknown = ["brbrb", "fgfgf", "hjhjh", "ghghg", "bgbgb"]
    words = [*composed, *affixes, *unknown, "domu", "1984", ".", "a-b", "domou"]
    assert [one.origin for one in vectors.compositions(composed + affixes)] == ["composed"] + ["affixes"] * 4
    assert composable_share(vectors, words) == pytest.approx(0.1)
    assert composable_share(vectors, words[1:-1]) is None, "of nine words a share says little"
    assert composable_share(model("lbl").vectors, words) is None
    assert composable_share(None, words) is None


def test_a_report_counts_the_words_of_its_text() -> None:
    new = [f"{stem}{ending}" for stem in ("dom", "škol", "pol") for ending in ("you", "uou", "ouou", "yem")]
    given = scored_models("mkn", "clbl++", lines=[" ".join(new), "brouk mrak strom"])
    expected = [one.origin for one in model("clbl++").vectors.compositions([*new, "brouk", "mrak", "strom"])]
    assert headline_of(given).composable == pytest.approx(expected.count("composed") / len(expected))


# ---------------------------------------------------------------- caches, which look at more text than Kneser-Ney does


def test_what_caches_add_is_told_apart() -> None:
    """Words come again in this text, so that the cache helps."""
    lbl, ngrams = model("lbl"), train_ngram([[word] for word in model("lbl").vocabulary.words[3:]] * 2, 1)
    cache = CacheModel(CacheConfig(background=1.0), ngrams.vocabulary, word_weights(ngrams.vocabulary), None, {})
    cached = mix([ngrams, cache], weights=[0.5, 0.5])
    text = text_of(["škola domem"] * 30)
    mkn, plain = ("mkn", "x", ngrams), ("lbl", "x", lbl)
    with_cache = ("cached", "x", cached)
    all_three = headline_of(score_loaded_models(text, [mkn, plain, with_cache], 3))
    assert (all_three.model, all_three.baseline, all_three.cached_model) == ("lbl", "mkn", "cached")
    assert all_three == replace(
        headline_of(score_loaded_models(text, [mkn, plain], 2)),
        with_caches=all_three.with_caches,
        cached_model="cached",
    )
    assert all_three.change_by_caches is not None and all_three.change_by_caches < -0.3
    alone = headline_of(score_loaded_models(text, [mkn, with_cache], 2))
    assert (alone.model, alone.with_caches) == ("cached", None)
    assert re.fullmatch(r"[0-9]+ % lower perplexity with caches than Kneser-Ney without", alone.format())
    one = headline_of(score_loaded_models(text, [with_cache], 1))
    assert re.fullmatch(r"Perplexity [0-9.]+ with caches", one.format())
