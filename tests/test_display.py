"""Objects show themselves in one short line, as tables in notebooks, and as data frames; nothing in them is trusted."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import morphlm
from morphlm.analysis import (
    GroupComparison,
    LearningCurves,
    MorphemeMap,
    Pruning,
    Scaling,
    Selection,
    compare_pruning,
    compare_scaling,
    frequency_comparison,
    map_morphemes,
    score_sentences,
)
from morphlm.analysis.pruning import PruningRow
from morphlm.analysis.scaling import ScalingPoint
from morphlm.analysis.scores import plain_change
from morphlm.display import Tabular, brief, flattened, frame_of, html_facts, html_table
from morphlm.report import Explorer, figure_of
from morphlm.scoring import MixtureModel, Predictor, TextScorer, mix_and_test
from morphlm.translation import Decoder, ExtraRules, GrammarExtractor, Recaser, TranslationSystem, table_of
from morphlm.vectors.questions import ask
from tests.analysis.triples import model_triple
from tests.test_docs import PACKAGES

LONGEST = 200
EVIL = "<script>alert(1)</script>&\"'\x1b[2J\u202e"
HUGE: dict[str, Any] = {
    "strings": ("x" * 1000,) * 5000,
    "string": "x" * 100_000,
    "array": np.zeros((1000, 1000)),
    "mapping": {f"{number}" * 50: ["y" * 500] * 50 for number in range(500)},
    "path": Path("z" * 5000),
    "number": 10.0**300,
}


def public_classes() -> list[type]:
    found: dict[type, None] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        names = (getattr(module, name) for name in module.__all__)
        found |= {value: None for value in names if inspect.isclass(value)}
    return list(found)


DATACLASSES = [one for one in public_classes() if dataclasses.is_dataclass(one)]
OWN = {morphlm.Learned, morphlm.Vocabulary, morphlm.Partition, morphlm.MorphemeSegmenter, morphlm.WordVectors}
OWN |= {importlib.import_module("morphlm.segmentation").Segmentation}

LIKE_OTHERS = {morphlm.FastTextVectors}  # tests/vectors/test_fasttext.py


@pytest.mark.parametrize(
    "kind", [kind for kind in DATACLASSES if kind not in OWN | LIKE_OTHERS], ids=lambda kind: kind.__name__
)
def test_the_repr_of_a_dataclass_is_short_whatever_it_holds(kind: Any) -> None:
    for name, value in HUGE.items():
        instance = object.__new__(kind)
        for field in dataclasses.fields(kind):
            object.__setattr__(instance, field.name, value)
        text = repr(instance)
        assert text.startswith(f"{kind.__name__}("), name
        assert len(text) < LONGEST, name
        assert "\n" not in text, name


def test_the_repr_of_options_has_what_is_not_the_default() -> None:
    assert repr(morphlm.PrepareOptions(language="cs")) == (
        "PrepareOptions(language='cs', long_sentences='split', cyrillic_share=0)"
    )
    assert repr(morphlm.GenerationOptions()) == "GenerationOptions()"
    assert repr(morphlm.scoring.TokenScore("a", -1.25, False)) == "TokenScore(token='a', logprob=-1.25, unknown=False)"


# ---------------------------------------------------------------- models and what is made of them


def words(count: int) -> list[str]:
    rng = np.random.default_rng(1)
    return ["".join(rng.choice(list("abcdefgh"), 30)) for _ in range(count)]


class Shown:
    """Some of everything, with many long words and one that would like to be a script."""

    def __init__(self, folder: Path) -> None:
        known = [*words(600), EVIL.split(maxsplit=1)[0]]
        text = [[known[i], known[(i * 7 + 1) % len(known)]] for i in range(len(known))]
        self.ngrams = morphlm.train_ngram(text, 2)
        self.additive = morphlm.train("clbl++", text, text[:20], folder / "m", epochs=1, width=4, classes=5)
        self.mixture = morphlm.mix([self.ngrams, self.additive], text[:20])
        self.text = text
        self.segmenter = morphlm.train_segmenter(self.ngrams.vocabulary)
        self.factors = self.additive.vectors.factors
        rules = table_of([], ())
        self.decoder = Decoder([self.ngrams])
        self.mixed = mix_and_test([self.ngrams, self.additive], text[:20], test=text[:5])
        self.extra = ExtraRules(rules)
        self.learned = morphlm.learn([" ".join(sentence) for sentence in text * 8], folder / "l", minutes=0.2)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return Shown(tmp_path_factory.mktemp("shown"))


OBJECTS: dict[str, Callable[[Shown], Any]] = {
    "NgramModel": lambda s: s.ngrams,
    "SpelledModel": lambda s: morphlm.with_spelling(s.ngrams),
    "LogBilinearModel": lambda s: s.additive,
    "MixtureModel": lambda s: s.mixture,
    "Vocabulary": lambda s: s.ngrams.vocabulary,
    "Partition": lambda s: s.additive.partition,
    "MorphemeSegmenter": lambda s: s.segmenter,
    "Segmentation": lambda s: s.segmenter.segmentation,
    "WordVectors": lambda s: s.additive.vectors,
    "KeyedVectors": lambda s: s.additive.vectors.keyed(),
    "Factors": lambda s: s.factors,
    "Perplexity": lambda s: s.ngrams.perplexity(s.text),
    "ScoredText": lambda s: s.ngrams.score_text(s.text),
    "RawCorpus": lambda s: morphlm.read_corpus(s.text),
    "Mixed": lambda s: s.mixed,
    "Rescorer": lambda s: morphlm.Rescorer([("lm", s.ngrams)]),
    "Predictor": lambda s: Predictor(s.ngrams),
    "TextScorer": lambda s: TextScorer(s.ngrams),
    "Explorer": lambda s: Explorer([("a/model", s.ngrams)]),
    "Decoder": lambda s: s.decoder,
    "ExtraRules": lambda s: s.extra,
    "Recaser": lambda s: Recaser(morphlm.train_ngram([["A"]], 1), morphlm.PrepareOptions()),
    "Learned": lambda s: s.learned,
    "LearnRecord": lambda s: s.learned.record,
    "SpellingModel": lambda s: morphlm.train_spelling(s.ngrams.vocabulary),
}
# tests/translation/test_public.py, tests/translation/serving/test_server.py
REPR_ONLY = {GrammarExtractor, TranslationSystem, morphlm.translation.Translation, morphlm.translation.Translator}


@pytest.mark.parametrize("name", OBJECTS)
def test_the_repr_of_an_object_is_short_and_says_what_it_is(shown: Shown, name: str) -> None:
    text = repr(OBJECTS[name](shown))
    assert text.startswith(f"{name}(")
    assert 10 < len(text) < LONGEST
    assert " object at 0x" not in text


def test_every_public_class_is_looked_at() -> None:
    """Dataclasses above, other classes by an object; what is left has no state that could be shown."""
    others = {kind for kind in public_classes() if kind not in DATACLASSES and not issubclass(kind, BaseException)}
    left = {kind.__name__ for kind in others - REPR_ONLY} - OBJECTS.keys()
    assert left == {"LanguageModel", "Morpheme", "RestorableWordFactors", "Settings", "Vectors", "WordFactors"}
    assert {kind.__name__ for kind in OWN} <= OBJECTS.keys()


def test_a_model_says_where_it_is(shown: Shown, tmp_path: Path) -> None:
    shown.ngrams.save(tmp_path / "model")
    loaded = morphlm.load(tmp_path / "model")
    assert repr(loaded).startswith("NgramModel(kind='mkn', order=2, words=")
    assert "directory='" in repr(loaded)


# ---------------------------------------------------------------- HTML


class Tags(HTMLParser):
    """The elements of a piece of HTML; it must be well nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


TABLE = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
IN_HTML = ["NgramModel", "LogBilinearModel", "MixtureModel", "Vocabulary", "Partition", "MorphemeSegmenter", "Mixed"]
IN_HTML += ["Segmentation", "Perplexity", "ScoredText", "Learned"]


@pytest.mark.parametrize("name", IN_HTML)
def test_models_results_and_tables_are_tables_in_notebooks(shown: Shown, name: str) -> None:
    tags = Tags(OBJECTS[name](shown)._repr_html_())
    assert {"table", "tr", "td"} <= tags.seen <= TABLE
    assert len("".join(tags.texts)) < 20_000


def test_what_comes_from_outside_is_escaped() -> None:
    model = morphlm.train_ngram([[EVIL.replace(" ", "")]], 2)
    model.training["development_perplexity"] = EVIL
    for html in (
        model.vocabulary._repr_html_(),
        model._repr_html_(),
        model.score_text([[EVIL.replace(" ", "")]])._repr_html_(),
        morphlm.next_words(model, [])._repr_html_(),
        html_table([{EVIL: EVIL}], EVIL),
    ):
        tags = Tags(html)
        assert tags.seen <= TABLE
        assert any("<script>" in text for text in tags.texts)
        assert "\x1b" not in html
        assert "\u202e" not in html


def test_long_tables_are_cut() -> None:
    html = html_table({"number": number} for number in range(1000))
    assert html.count("<tr>") == 21
    assert html.endswith("<p>the first 20 rows</p>")
    assert len(html_table([{"cell": "x" * 10_000}])) < 1000


# ---------------------------------------------------------------- data frames


def test_results_become_data_frames(shown: Shown) -> None:
    scored = shown.ngrams.score_text(shown.text[:2])
    frame = scored.to_frame()
    assert list(frame.columns) == ["sentence", "position", "token", "logprob", "unknown"]
    assert frame["logprob"].sum() == pytest.approx(scored.logprobs.sum())
    assert len(scored.to_frame(by="sentence")) == 2
    with pytest.raises(morphlm.ConfigError, match="by token or by sentence, not by 'word'"):
        scored.to_frame(by="word")  # type: ignore[arg-type]
    perplexity = shown.ngrams.perplexity(shown.text)
    assert perplexity.to_frame()["perplexity_including_unknown"][0] == perplexity.including_unknown
    vocabulary = shown.ngrams.vocabulary
    assert vocabulary.to_frame()["count"].tolist() == vocabulary.counts.tolist()
    assert shown.additive.partition is not None
    assert set(shown.additive.partition.to_frame()["class"]) == set(range(5))
    assert len(shown.segmenter.segmentation.to_frame()) == len(shown.segmenter.segmentation)


def test_lists_of_results_become_data_frames(shown: Shown) -> None:
    word = shown.text[0][0]
    near = shown.additive.vectors.neighbours(word, 3)
    assert near.to_frame()["name"].tolist() == [name for name, _ in near]
    assert near == list(near)
    assert "<table>" in near._repr_html_()
    predicted = morphlm.next_words(shown.ngrams, [word], 4)
    assert predicted.to_frame()["probability"].tolist() == [one.probability for one in predicted]
    assert list(ask(shown.additive.vectors, [word])[0].to_frame().columns) == [
        "query",
        "understood",
        "name",
        "similarity",
    ]


def test_mixtures_and_what_was_learned_become_data_frames(shown: Shown) -> None:
    frame = shown.mixed.to_frame()
    assert frame["weight"][:2].sum() == pytest.approx(1.0, abs=1e-6)
    assert frame["test_perplexity"][2] == shown.mixed.test[2].including_unknown
    assert set(shown.learned.to_frame()["model"]) >= {"mkn"}
    record = shown.learned.record
    assert len(shown.learned.trials_frame()) == len(record.ngram_trials) + len(record.trials)


def test_analyses_become_data_frames_and_figures(shown: Shown) -> None:
    """Every analysis with a picture is also a table; the figure is given, not only written."""
    comparison = frequency_comparison(shown.ngrams, shown.additive, shown.text)
    mapped = map_morphemes(shown.additive.vectors, count=12, perplexity=3.0)
    curves = LearningCurves({"a": ((1.0, 9.0), (2.0, 8.0))})
    selection = Selection({"cs": {"clbl": 9.0, "clbl++": 8.0}, "de": {"clbl": 7.0, "clbl++": 6.5}},
                          {name: {"clbl++": plain_change(9.0, 8.0)} for name in ("cs", "de")})  # fmt: skip
    models = model_triple(9.0, 8.0, 7.0)
    pruning = compare_pruning([PruningRow("cs", kappa, models) for kappa in (0.05, 1.0)])
    scaling = compare_scaling([], [ScalingPoint(tokens, 100, models) for tokens in (1000, 2000)])
    results: list[Any] = [comparison, mapped, curves, selection, pruning, scaling]
    assert {type(result) for result in results} == {
        GroupComparison, MorphemeMap, LearningCurves, Selection, Pruning, Scaling,
    }  # fmt: skip
    for result in results:
        assert isinstance(result, Tabular)
        assert len(result.to_frame()) > 1
        assert "<table>" in result._repr_html_()
        figure = figure_of(cast(Any, result))
        assert type(figure).__module__ == "matplotlib.figure"
        assert figure.axes
    assert comparison.to_frame()["tokens"].iloc[-1] == comparison.whole.tokens
    assert len(score_sentences(shown.ngrams, shown.text[:3]).to_frame()) == 3


def test_without_pandas_it_is_said_what_to_install() -> None:
    code = """
import sys
sys.modules["pandas"] = None
import morphlm
try:
    morphlm.train_ngram([["a"]], 2).vocabulary.to_frame()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("data frames need pandas, which is not installed; pip install 'morphlm[pandas]'")


def test_small_things() -> None:
    assert brief([1, 2.5, "a"]) == "[1, 2.5, 'a']"
    assert brief({"a": (1,)}) == "{'a': (1)}"
    assert flattened({"a": {"b": 1, "c": {"d": 2}}, "e": 3}) == {"a_b": 1, "a_c_d": 2, "e": 3}
    assert list(frame_of([{"a": 1}, {"b": 2}]).columns) == ["a", "b"]
    assert isinstance(MixtureModel.__repr__, type(morphlm.LanguageModel.__repr__))


def test_facts_stand_beside_their_names_and_long_ones_wrap() -> None:
    """Numbers stood at the right edge, as far off as the signature below them was long."""
    html = html_facts({"tokens": 1234, "signature": "ppl|" * 40, "nothing": None, "logprob_of_all": -1.5}, "Facts")
    assert "text-align: right" not in html and html.count("overflow-wrap: anywhere") == 3
    assert "1,234" in html and "logprob of all" in html and "nothing" not in html
