"""Speed of queries by states from Python, as ratios to KenLM's Python module on the same n-grams in the same run.

    pip install kenlm
    python benchmarks/states.py [--words 46000] [--classes 215] [--width 100] [--order 4] [--repeats 15]

The workload is that of benchmarks/logbilinear.py: Zipfian words. KenLM reads the ARPA file that our Kneser-Ney model
writes. A beam step asks 50 words after each of 100 hypotheses. KenLM does so in a loop over `BaseScore`, which writes
into one state; where next states are wanted, into a new one each. Contexts are *new* if nothing was asked about them
before: then sums over classes must be computed; a decoder asks some contexts again. Ways to ask take turns, and the
least time of each counts. A whole step also chooses the best 100 pairs and gets their states, for which KenLM asks
these again. The last table compares `sentence` with a loop over `score`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from arguments import sentences_of
from logbilinear import make_workload
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixture import MixtureModel, as_components
from morphlm.vocabulary.vocabulary import END_ID

HYPOTHESES, WORDS = 100, 50
QUERIES = 2000  # of the loop over single queries
LENGTHS = (1, 2, 5, 10, 20, 40)  # of sentences
BATCHED, SINGLE, SENTENCE = 0.5, 2.5, 1.0  # the bars: at most so much of KenLM's time, or of the loop's
Ask = Callable[[], Any]


def least_seconds(asks: Sequence[Ask], repeats: int) -> list[float]:
    """The least seconds of each way to ask; they take turns, and the first turn does not count."""
    best = [np.inf] * len(asks)
    for turn in range(repeats + 1):
        for which, ask in enumerate(asks):
            started = time.perf_counter()
            ask()
            if turn:
                best[which] = min(best[which], time.perf_counter() - started)
    return best


def report(name: str, seconds: float, reference: float, bar: float | None, unit: str) -> None:
    """A time and its ratio to a reference; `bar` is the highest ratio that is allowed."""
    scale = {"ms": 1e3, "us": 1e6}[unit]
    outcome = "" if bar is None else "ok" if seconds <= bar * reference else f"above {bar:g}"
    print(f"  {name:44s} {seconds * scale:9.3f} {unit} {seconds / reference:8.2f}   {outcome}", flush=True)


# ---------------------------------------------------------------- models


def all_models(arguments: argparse.Namespace) -> tuple[dict[str, LanguageModel], np.ndarray]:
    """Models over the same words, and the text that they are asked about."""
    vocabulary, partition, factors, text = make_workload(arguments.words, arguments.classes, 300_000)
    ngrams = train_ngram(sentences_of(text, vocabulary), arguments.order, vocabulary=vocabulary)
    config, made = variant("clbl++", width=arguments.width, order=arguments.order), []
    for chosen in (config, replace(config, wide=50)):
        structure = build_structure(chosen, vocabulary, partition, factors)
        parameters = initial_parameters(chosen, structure, seed=1, init_std=0.1)
        made.append(LogBilinearModel(chosen, structure, parameters, {}))
    components = as_components([ngrams, copy(made[0])], [None, None])  # a copy has a cache of its own
    others = as_components([ngrams, copy(made[0])], [None, None])
    models: dict[str, LanguageModel] = {
        "mkn": ngrams,
        "clbl++": made[0],
        "clbl++, wide": made[1],
        "mixture": MixtureModel(components, np.array([[0.5, 0.5]]), "none", {}),
        "mixture by context": MixtureModel(others, np.full((ngrams.context_buckets, 2), 0.5), "context", {}),
    }
    return models, text


def walk(model: LanguageModel, words: Sequence[str]) -> Iterator[Any]:
    """The states before the words of a text."""
    state = model.begin()
    for word in words:
        yield state
        _, state = model.score(state, word)
        if word == "</s>":
            state = model.next_sentence(state)


# ---------------------------------------------------------------- KenLM


class Kenlm:
    """The same n-grams in KenLM."""

    def __init__(self, ngrams: NgramModel) -> None:
        import kenlm  # noqa: PLC0415  only here

        self.new_state: Any = kenlm.State
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model.arpa")
            ngrams.write_arpa(path)
            self.model: Any = kenlm.Model(path)

    def states(self, words: Sequence[str]) -> list[Any]:
        """The states before the words of a text."""
        state, result = self.new_state(), []
        self.model.BeginSentenceWrite(state)
        for word in words:
            result.append(state)
            state = self.new_state()
            if word == "</s>":
                self.model.BeginSentenceWrite(state)
            else:
                self.model.BaseScore(result[-1], word, state)
        return result

    def beam_step(self, states: Sequence[Any], words: Sequence[str]) -> list[float]:
        base_score, after = self.model.BaseScore, self.new_state()
        return [base_score(state, word, after) for state in states for word in words]

    def whole_step(self, states: Sequence[Any], words: Sequence[str]) -> list[Any]:
        """The states after the best pairs, which are asked once more."""
        scores, after = np.array(self.beam_step(states, words)), []
        for pair in np.argpartition(-scores, HYPOTHESES)[:HYPOTHESES].tolist():
            state = self.new_state()
            self.model.BaseScore(states[pair // len(words)], words[pair % len(words)], state)
            after.append(state)
        return after

    def one_by_one(self, words: Sequence[str]) -> None:
        base_score, state, after = self.model.BaseScore, self.new_state(), self.new_state()
        self.model.BeginSentenceWrite(state)
        for word in words:
            base_score(state, word, after)
            state, after = after, state


# ---------------------------------------------------------------- what is compared


def whole_step(model: LanguageModel, states: Sequence[Any], words: Sequence[str]) -> list[Any]:
    """The states after the best pairs."""
    best = np.argpartition(-model.score_grid(states, words).ravel(), HYPOTHESES)[:HYPOTHESES].tolist()
    chosen = [states[pair // len(words)] for pair in best]
    return model.score_many(chosen, [words[pair % len(words)] for pair in best])[1]


def class_products(model: LogBilinearModel, states: Sequence[Any], words: Sequence[str]) -> Ask:
    """By BLAS: the products that new contexts need at least, with all words of the words' classes."""
    compiled, vectors = model.queries.model, model.states.predictions(states)
    classes = np.unique(compiled.class_of[compiled.position_of[model.vocabulary.encode(words)]])
    tables = [compiled.output[compiled.starts[c] : compiled.starts[c + 1]] for c in classes]

    def ask() -> None:
        for table in tables:
            vectors @ table.T

    return ask


def time_beams(models: dict[str, LanguageModel], kenlm: Kenlm, text: np.ndarray, repeats: int) -> None:
    """A beam step: the scores of all pairs, and the states after the best of them."""
    words_of = models["mkn"].vocabulary.words
    tokens = [words_of[word] for word in text[: HYPOTHESES * (repeats + 2)].tolist()]
    asked = [words_of[word] for word in np.unique(text[-400:]).tolist() if word > END_ID][:WORDS]
    before = kenlm.states(tokens)[:HYPOTHESES]
    print(f"a beam step of {HYPOTHESES} hypotheses x {WORDS} words, against KenLM's loop over BaseScore")
    for name, model in models.items():
        steps = [list(walk(model, tokens))[k * HYPOTHESES :][:HYPOTHESES] for k in range(repeats + 1)]
        fresh, known = iter(steps), steps[0]
        ways: dict[str, Ask] = {
            "KenLM": lambda: kenlm.beam_step(before, asked),
            "score_grid": lambda model=model, known=known: model.score_grid(known, asked),  # type: ignore[misc]
            "new contexts": lambda model=model, fresh=fresh: model.score_grid(next(fresh), asked),  # type: ignore[misc]
            "KenLM, whole step": lambda: kenlm.whole_step(before, asked),
            "whole step": lambda model=model, known=known: whole_step(model, known, asked),  # type: ignore[misc]
        }
        seconds = dict(zip(ways, least_seconds(list(ways.values()), repeats), strict=True))
        if name == "mkn":
            report("KenLM, scores of all pairs", seconds["KenLM"], seconds["KenLM"], None, "ms")
            report("KenLM, whole step", seconds["KenLM, whole step"], seconds["KenLM, whole step"], None, "ms")
        if isinstance(model, LogBilinearModel) and not model.reach:
            with threadpool_limits(1):
                (products,) = least_seconds([class_products(model, known, asked)], repeats)
            report(f"{name}, new contexts' products by BLAS", products, seconds["KenLM"], None, "ms")
        bar = BATCHED if name == "mkn" or name.startswith("mixture") else None
        report(f"{name}, score_grid", seconds["score_grid"], seconds["KenLM"], bar, "ms")
        report(f"{name}, whole step", seconds["whole step"], seconds["KenLM, whole step"], bar, "ms")
        report(f"{name}, score_grid, new contexts", seconds["new contexts"], seconds["KenLM"], None, "ms")


def time_single(models: dict[str, LanguageModel], kenlm: Kenlm, text: np.ndarray, repeats: int) -> None:
    words_of = models["mkn"].vocabulary.words
    tokens = [words_of[word] for word in text[:QUERIES].tolist()]
    print("one `score` after the other, against KenLM's BaseScore")
    for name, model in models.items():
        queries = list(zip(walk(model, tokens), tokens, strict=True))

        def ask(model: LanguageModel = model, queries: Any = queries) -> None:
            score = model.score
            for state, word in queries:
                score(state, word)

        ours, theirs = least_seconds([ask, lambda: kenlm.one_by_one(tokens)], repeats)
        if name == "mkn":
            report("KenLM", theirs / QUERIES, theirs / QUERIES, None, "us")
        report(f"{name}, score", ours / QUERIES, theirs / QUERIES, SINGLE if name == "mkn" else None, "us")


def time_sentences(models: dict[str, LanguageModel], text: np.ndarray, repeats: int) -> None:
    words_of = models["mkn"].vocabulary.words
    tokens = [words_of[word] for word in text[: max(LENGTHS) * 2].tolist() if word > END_ID]
    print("`sentence`, against a loop over `score`")
    for name, model in models.items():
        for length in LENGTHS:
            chosen = tokens[:length]

            def in_turn(model: LanguageModel = model, chosen: Any = chosen) -> list[float]:
                state, result = model.begin(), []
                for word in (*chosen, "</s>"):
                    logprob, state = model.score(state, word)
                    result.append(logprob)
                return result

            asks = [lambda model=model, chosen=chosen: model.sentence(chosen), in_turn]  # type: ignore[misc]
            together, loop = least_seconds(asks, 3 * repeats)
            report(f"{name}, {length} words", together, loop, SENTENCE, "us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=46_000)
    parser.add_argument("--classes", type=int, default=215)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    models, text = all_models(arguments)
    ngrams = models["mkn"]
    assert isinstance(ngrams, NgramModel)
    kenlm = Kenlm(ngrams)
    time_beams(models, kenlm, text, arguments.repeats)
    time_single(models, kenlm, text, arguments.repeats)
    time_sentences(models, text, arguments.repeats)


if __name__ == "__main__":
    main()
