"""Speed of `prefix` and `completions`: the first prefix of a state as a ratio to its distribution, and further ones.

    python benchmarks/prefix.py [--words 206000] [--width 200] [--classes 454] [--tokens 500000]

Words are random letters, so that prefixes have as many words as those of a language; a text of them is drawn by Zipf's
law. Models: Kneser-Ney of order 4, a CLBL that is not trained (which takes no less time), and both mixed. Tasks take
turns, and the least time of each counts. States that are asked for a first prefix are new each time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from logbilinear import SENTENCE, zipf
from morphlm.classes.partition import Partition
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixing import mix
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
ROUNDS = 15
BEAM = 16  # states of a batch
PER_STATE = 50  # prefixes of each state of a batch


def make_words(count: int, rng: np.random.Generator) -> list[str]:
    """Different words of 3 to 12 letters, some of which are far more frequent than others."""
    words: dict[str, None] = {}
    shares = zipf(len(LETTERS), 0.8)
    while len(words) < count:
        lengths = rng.integers(3, 13, count)
        letters = "".join(np.array(list(LETTERS))[rng.choice(len(LETTERS), lengths.sum(), p=shares)])
        ends = np.cumsum(lengths).tolist()
        words |= dict.fromkeys(letters[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True))
    return list(words)[:count]


def make_models(arguments: argparse.Namespace) -> dict[str, LanguageModel]:
    rng, size = np.random.default_rng(0), arguments.words
    names = (*RESERVED, *make_words(size - len(RESERVED), rng))
    probabilities = zipf(size - len(RESERVED), 1.05)
    vocabulary = Vocabulary(names, np.maximum(1, zipf(size, 1.05) * 1e8).astype(np.int64))
    ids = len(RESERVED) + rng.choice(size - len(RESERVED), arguments.tokens, p=probabilities)
    text = [[names[word] for word in part] for part in np.array_split(ids, len(ids) // SENTENCE)]
    mkn = train_ngram(text, 4, vocabulary=vocabulary)
    class_of = rng.permutation(size).astype(np.int32) % arguments.classes
    class_of[1] = class_of[END_ID]
    config = variant("clbl", width=arguments.width)
    structure = build_structure(config, vocabulary, Partition(vocabulary, class_of, arguments.classes, "random"), None)
    clbl = LogBilinearModel(config, structure, initial_parameters(config, structure, seed=1, init_std=0.1), {})
    return {"mkn": mkn, "clbl": clbl, "mixture": mix([mkn, clbl], weights=[0.5, 0.5])}


def new_states(model: LanguageModel) -> Iterator[Any]:
    """States after one word, each time another, the most frequent first: n-grams know none of most others."""
    for word in range(len(RESERVED), len(model.vocabulary)):
        yield model.score_id(model.begin(sentence=False), word)[1]


def microseconds(tasks: dict[str, Callable[[], int]]) -> dict[str, float]:
    """The least time of each task, divided by how many things it does; they take turns."""
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            started = time.perf_counter()
            count = task()
            best[name] = min(best[name], (time.perf_counter() - started) / count * 1e6)
    return best


def time_model(name: str, model: LanguageModel) -> None:
    rng = np.random.default_rng(1)
    states, words = new_states(model), model.vocabulary.words
    drawn = [words[number] for number in rng.integers(len(RESERVED), len(words), 300).tolist()]
    prefixes = [word[: 1 + number % 6] for number, word in enumerate(drawn)]
    fixed, beam = next(states), [next(states) for _ in range(BEAM)]
    model.prefix_cache_megabytes = 16 * BEAM * len(words) / (1 << 20)  # the beam and others

    def asked(ask: Callable[[Any, str], object], given: list[str]) -> Callable[[], int]:
        def run() -> int:
            for prefix in given:
                ask(fixed, prefix)
            return len(given)

        return run

    def once(ask: Callable[[Any], object]) -> Callable[[], int]:
        state_of = states.__next__

        def run() -> int:
            ask(state_of())
            return 1

        return run

    def batch() -> int:
        model.prefixes(beam * PER_STATE, (prefixes * 3)[: BEAM * PER_STATE])
        return BEAM * PER_STATE

    model.prefix(fixed, ""), batch()  # which sorts the vocabulary and compiles
    found = microseconds(
        {
            "distribution of a new state": once(model.distribution),
            "first prefix of a new state": once(lambda state: model.prefix(state, "ta")),
            "further prefixes, 1 to 6 letters": asked(model.prefix, prefixes),
            "further prefixes, 1 letter": asked(model.prefix, list(LETTERS)),
            "the empty prefix": asked(model.prefix, [""]),
            "5 completions, 1 to 6 letters": asked(lambda state, prefix: model.completions(state, prefix, 5), prefixes),
            f"prefixes, {BEAM} kept states": batch,
        }
    )
    print(name)
    for task, time_ in found.items():
        print(f"  {task:36s} {time_:10.1f} us")
    ratio = found["first prefix of a new state"] / found["distribution of a new state"]
    print(f"  first prefix / distribution          {ratio:10.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=206_000)
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--classes", type=int, default=454)
    parser.add_argument("--tokens", type=int, default=500_000)
    models = make_models(parser.parse_args())
    started = time.perf_counter()
    _ = models["mkn"].vocabulary.spelling_order
    print(f"sorting the vocabulary, once: {time.perf_counter() - started:.2f} s")
    for name, model in models.items():
        time_model(name, model)


if __name__ == "__main__":
    main()
