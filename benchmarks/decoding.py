"""Speed of the decoder: sentences a second on one core with an n-gram model, and with a log-bilinear one added.

    python benchmarks/decoding.py [--mkn MODEL] [--logbilinear MODEL] [--input FILE --grammars FOLDER]
                                  [--sentences 20] [--words 20] [--pop-limit 200 ...] [--threads 1]

Without models, small ones are trained on generated text. Without an input, sentences are made of numbers, each with a
lexicon of its own and rules in realistic numbers: 20 target sides for each pattern, 3,000 to 4,000 for a sentence of 20
words. FOLDER is what `morphlm translate extract BITEXT INPUT --folder FOLDER` wrote. With several pop limits, the mean
scores tell how much a narrow search misses.
The systems take turns, sentence by sentence; CPU time is measured beside wall time, since other work disturbs only
the latter.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import morphlm
from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import train_ngram
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.grammar.reading import read_rules
from morphlm.translation.grammar.rules import FEATURES, Rule, RuleTable, table_of

SIDES = 20  # target sides of a pattern
WEIGHTS = {
    "EgivenF": 0.3,
    "FgivenE": 0.1,
    "LexEgivenF": 0.2,
    "LexFgivenE": 0.2,
    "WordPenalty": -0.5,
    "RulePenalty": -0.1,
    "Glue": -0.2,
    "PassThrough": -5.0,
}


class Generator:
    """Sentences and their grammars: each source word has a lexicon of target words, frequent ones more often."""

    def __init__(self, model: LanguageModel, seed: int = 1) -> None:
        """Target words are those of a model."""
        self.rng = np.random.default_rng(seed)
        self.words = model.vocabulary.words[3:]
        counts = np.maximum(model.vocabulary.counts[3:], 1) ** 0.75
        self.shares = np.cumsum(counts / counts.sum())
        self.lexicon: dict[str, list[str]] = {}

    def draw(self, count: int) -> list[str]:
        """Some target words."""
        places = np.searchsorted(self.shares, self.rng.random(count))
        return [self.words[min(place, len(self.words) - 1)] for place in places.tolist()]

    def sentence(self, words: int) -> list[str]:
        """Some source words."""
        return [f"s{int(number)}" for number in self.rng.zipf(1.3, words) % 20000]

    def of(self, word: str) -> str:
        """A translation of a source word."""
        entry = self.lexicon.setdefault(word, [])
        if not entry:
            entry += self.draw(SIDES)
        return entry[int(SIDES * self.rng.random() ** 2)]

    def patterns(self, tokens: Sequence[str]) -> Iterator[tuple[str | int, ...]]:
        """As many as a real sentence has: all words, fewer and fewer longer phrases, gaps around and inside them."""
        n, rng = len(tokens), self.rng
        for size, share in ((1, 1.0), (2, 0.7), (3, 0.35), (4, 0.15), (5, 0.05)):
            for begin in range(n - size + 1):
                if rng.random() < share:
                    phrase = tuple(tokens[begin : begin + size])
                    yield phrase
                    if size <= 2 and rng.random() < 0.8:
                        yield (1, *phrase)
                        yield (*phrase, 1)
                    if size == 1 and rng.random() < 0.8:
                        yield (1, *phrase, 2)
        for begin in range(n - 2):
            for end in range(begin + 2, min(begin + 10, n)):
                if rng.random() < 0.3:
                    yield (tokens[begin], 1, tokens[end])

    def table(self, tokens: Sequence[str]) -> RuleTable:
        """The grammar of a sentence."""
        rules = []
        for pattern in dict.fromkeys(self.patterns(tokens)):
            sides = {self.side(pattern) for _ in range(SIDES)}
            for side in sorted(sides, key=str):
                values = -self.rng.exponential(1.5, len(FEATURES))
                rules.append(Rule(pattern, side, dict(zip(FEATURES, values.tolist(), strict=True))))
        return table_of(rules, FEATURES)

    def side(self, pattern: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """Word by word, sometimes one dropped, one added or two swapped."""
        rng = self.rng
        target = [symbol if isinstance(symbol, int) else self.of(symbol) for symbol in pattern]
        if rng.random() < 0.3:
            target.insert(int(rng.integers(len(target) + 1)), self.draw(1)[0])
        if len(target) > 1 and rng.random() < 0.3:
            at = int(rng.integers(len(target) - 1))
            target[at], target[at + 1] = target[at + 1], target[at]
        return tuple(target)


def generated_model() -> LanguageModel:
    rng = np.random.default_rng(0)
    return train_ngram([[f"w{w}" for w in rng.zipf(1.4, 20) % 5000] for _ in range(20000)], 4)


def workload(options: argparse.Namespace, model: LanguageModel) -> list[tuple[list[str], RuleTable]]:
    if options.input:
        lines = Path(options.input).read_text().splitlines()[: options.sentences]
        return [(line.split(), read_rules(Path(options.grammars) / f"grammar.{k}.gz")) for k, line in enumerate(lines)]
    generator = Generator(model)
    sentences = [generator.sentence(options.words) for _ in range(options.sentences)]
    return [(tokens, generator.table(tokens)) for tokens in sentences]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mkn")
    parser.add_argument("--logbilinear")
    parser.add_argument("--input")
    parser.add_argument("--grammars")
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--words", type=int, default=20)
    parser.add_argument("--pop-limit", type=int, nargs="+", default=[200])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    mkn = morphlm.load(options.mkn) if options.mkn else generated_model()
    systems = {"mkn": [mkn]}
    if options.logbilinear:
        systems["mkn + log-bilinear"] = [mkn, morphlm.load(options.logbilinear)]
    decoders = {
        f"{name}, pop limit {limit}": Decoder(
            models,
            WEIGHTS | {f"LM{k}": 0.5 / len(models) for k in range(len(models))},
            DecoderConfig(pop_limit=limit),
        )
        for name, models in systems.items()
        for limit in options.pop_limit
    }
    work = workload(options, mkn)
    print(json.dumps(measure(decoders, work, options.threads), indent=2))


def measure(
    decoders: dict[str, Decoder], work: list[tuple[list[str], RuleTable]], threads: int
) -> dict[str, dict[str, float]]:
    """The first sentence is decoded once before: compiling does not count."""
    for decoder in decoders.values():
        print(" ".join(decoder.decode(*work[0]).tokens), flush=True)
    seconds, cpu, scores = dict.fromkeys(decoders, 0.0), dict.fromkeys(decoders, 0.0), dict.fromkeys(decoders, 0.0)
    nodes = dict.fromkeys(decoders, 0)
    batch = max(1, threads * 4)
    for begin in range(0, len(work), batch if threads > 1 else 1):
        part = work[begin : begin + (batch if threads > 1 else 1)]
        by_tokens = {tuple(tokens): table for tokens, table in part}
        for name, decoder in decoders.items():
            before, before_cpu = time.perf_counter(), time.process_time()
            sentences = [tokens for tokens, _ in part]
            for found in decoder.decode_all(sentences, lambda tokens, t=by_tokens: t[tuple(tokens)], threads=threads):
                scores[name] += found.score
                nodes[name] += len(found.chart.nodes.cell)
            seconds[name] += time.perf_counter() - before
            cpu[name] += time.process_time() - before_cpu
    return {
        name: {
            "sentences per second": len(work) / seconds[name],
            "sentences per CPU second": len(work) / cpu[name],
            "words per sentence": sum(len(tokens) for tokens, _ in work) / len(work),
            "rules per sentence": sum(len(table) for _, table in work) / len(work),
            "nodes per sentence": nodes[name] / len(work),
            "mean score": scores[name] / len(work),
        }
        for name in decoders
    }


if __name__ == "__main__":
    main()
