"""Speed of reading, counting and encoding text, as a ratio to `bytes.split` over the same text in the same run.

    python benchmarks/vocabulary.py [TEXT] [--tokens N]

Seconds are CPU seconds. Without TEXT a text with Zipf-distributed words is generated.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kneser_ney import generate
from morphlm.vocabulary.corpus import encode_text, read_corpus


def timed(work: Callable[[], Any], repeat: int = 3) -> tuple[Any, float]:
    seconds = []
    for _ in range(repeat):
        begin = time.process_time()
        result = work()
        seconds.append(time.process_time() - begin)
    return result, min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="?", type=Path)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        text = options.text or Path(name) / "text"
        if options.text is None:
            generate(text, options.tokens)
        tokens, splitting = timed(lambda: len(text.read_bytes().split()))
        raw, reading = timed(lambda: read_corpus(text))
        vocabulary, building = timed(lambda: raw.words.vocabulary(0.2, 1))
        _, encoding = timed(lambda: encode_text(text, vocabulary))
    result = {
        "tokens": tokens,
        "types": raw.words.types,
        "read_and_count": {"tokens_per_second": tokens / reading, "ratio_to_split": reading / splitting},
        "build_vocabulary_seconds": building,
        "encode": {"tokens_per_second": tokens / encoding, "ratio_to_split": encoding / splitting},
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
