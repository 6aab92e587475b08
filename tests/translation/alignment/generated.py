"""Generated parallel text of which the alignment is known."""

from __future__ import annotations

import numpy as np

from morphlm.translation.alignment.links import Alignments, alignments_of


def toy_text(pairs: int, words: int = 300, seed: int = 1) -> tuple[list[list[str]], list[list[str]], Alignments]:
    """Source and target sentences and their links.

    Words follow Zipf's law; each has two translations (the second in a fifth of the cases). Then neighbours change
    places (15 %), source words have no translation (5 %), and target words come from nothing (8 %, five such words).
    """
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, words + 1)
    source, target, links = [], [], []
    for _ in range(pairs):
        given = rng.choice(words, rng.integers(4, 16), p=shares / shares.sum())
        order = list(range(len(given)))
        for i in range(len(order) - 1):
            if rng.random() < 0.15:
                order[i], order[i + 1] = order[i + 1], order[i]
        sentence: list[str] = []
        found = []
        for i in order:
            if rng.random() < 0.08:
                sentence.append(f"x{rng.integers(5)}")
            if rng.random() < 0.95:
                found.append((i, len(sentence)))
                sentence.append(f"{'b' if rng.random() < 0.2 else 'a'}{given[i]}")
        source.append([f"s{word}" for word in given])
        target.append(sentence)
        links.append(found)
    return source, target, alignments_of(links)
