"""Speed, memory and cost of segmentation, next to the `morfessor` package in the same run.

    python benchmarks/segmentation.py [VOCABULARY] [--words 20000] [--corpus-weight 1.0] [--alone] [--json]

VOCABULARY is `word TAB count` as `morphlm vocab` writes it; without it words of the generated language are taken. The
search of the baseline is measured by turns with the package's on the same words, then the categories and the
segmenting of new words. Seconds are CPU seconds; kernels are compiled before the first measurement. --alone leaves the
package out, for sizes at which it takes hours.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from morphlm.segmentation.baseline import train_baseline
from morphlm.segmentation.encoding import encode_words
from morphlm.segmentation.morphemes import Segmentation
from morphlm.segmentation.segmenter import MorphemeSegmenter, train_segmenter
from morphlm.vocabulary.vocabulary import load_vocabulary
from morphlm_generated import GeneratedConfig, generate_sentences

MOST_GENERATED = 50_000  # words; the generated language has few new ones later on


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = call()
    return time.process_time() - begin, result


def generated_words(count: int) -> dict[str, int]:
    """The first forms of the generated language."""
    words: dict[str, int] = {}
    for sentence in generate_sentences(GeneratedConfig(sentences=10_000_000), 1):
        for form, *_ in sentence.words:
            words.setdefault(form, 1)
        if len(words) >= count:
            break
    return dict(list(words.items())[:count])


def read_words(path: str | None, count: int) -> dict[str, int]:
    if path is None:
        return generated_words(count)
    vocabulary = load_vocabulary(path)
    return dict(list(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))[3 : 3 + count])


def measure_package(words: dict[str, int], corpus_weight: float) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import morfessor  # noqa: PLC0415
        import morfessor.utils  # noqa: PLC0415
    morfessor.utils.show_progress_bar = False
    model = morfessor.BaselineModel(corpusweight=corpus_weight)
    model.load_data([(1, word) for word in words])
    random.seed(1)
    seconds, (_, cost) = timed(lambda: model.train_batch("recursive", finish_threshold=0.005))
    return {"seconds": seconds, "cost": cost}


def measure_baseline(words: dict[str, int], corpus_weight: float) -> dict[str, float]:
    seconds, result = timed(
        lambda: train_baseline(encode_words(words, "types"), corpus_weight, np.random.default_rng(1))
    )
    return {"seconds": seconds, "cost": result.cost}


def measure_segmenter(words: dict[str, int], corpus_weight: float) -> dict[str, float]:
    seconds, segmenter = timed(lambda: train_segmenter(words, corpus_weight=corpus_weight))
    forgetful: MorphemeSegmenter = replace(segmenter, segmentation=Segmentation({}))
    forgetful.segment("warm")
    new_seconds, _ = timed(lambda: forgetful.segment_all(words))
    return {"seconds": seconds, "morphs": len(segmenter.paths.morphs), "new_words_a_second": len(words) / new_seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vocabulary", nargs="?")
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--corpus-weight", type=float, default=1.0)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.vocabulary is None and options.words > MOST_GENERATED:
        parser.error(f"more than {MOST_GENERATED:,} words take too long to generate; give a vocabulary")
    words = read_words(options.vocabulary, options.words)
    train_segmenter(dict(list(words.items())[:50])).segment("warm")
    result: dict[str, Any] = {"words": len(words), "baseline": measure_baseline(words, options.corpus_weight)}
    if not options.alone:
        result["morfessor"] = measure_package(words, options.corpus_weight)
        result["times_faster"] = result["morfessor"]["seconds"] / result["baseline"]["seconds"]
        result["cost_ratio"] = result["baseline"]["cost"] / result["morfessor"]["cost"]
    result["segmenter"] = measure_segmenter(words, options.corpus_weight)
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result, indent=2) if options.json else report(result))


def report(result: dict[str, Any]) -> str:
    baseline, segmenter = result["baseline"], result["segmenter"]
    lines = [
        f"{result['words']:,} words, peak memory {result['peak_mb']:.0f} MB",
        f"baseline    {baseline['seconds']:9.2f} s   cost {baseline['cost']:.0f}",
    ]
    if package := result.get("morfessor"):
        lines += [
            f"morfessor   {package['seconds']:9.2f} s   cost {package['cost']:.0f}",
            f"            {result['times_faster']:.1f} times faster, cost {result['cost_ratio'] - 1:+.3%}",
        ]
    lines += [
        f"segmenter   {segmenter['seconds']:9.2f} s   baseline included, {segmenter['morphs']:,} morphs",
        f"new words   {segmenter['new_words_a_second']:9,.0f} a second",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
