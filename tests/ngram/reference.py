"""Interpolated modified Kneser-Ney from its definition, in dictionaries: slow, and easy to check on paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Ngram = tuple[str, ...]


class ReferenceKneserNey:
    """p(w | h) straight from Chen & Goodman (1998); discounts are given, so only the probabilities are tested."""

    def __init__(
        self, sentences: Sequence[Sequence[str]], order: int, discounts: list[tuple[float, float, float]]
    ) -> None:
        self.order, self.discounts = order, discounts
        raw: list[Counter[Ngram]] = [Counter() for _ in range(order + 1)]
        for sentence in sentences:
            padded = ["<s>", *sentence, "</s>"]
            for n in range(1, order + 1):
                for end in range(n, len(padded) + 1):
                    raw[n][tuple(padded[end - n : end])] += 1
        del raw[1][("<s>",)]
        self.adjusted = [Counter[Ngram]() for _ in range(order + 1)]
        self.adjusted[order] = raw[order]
        for n in range(1, order):
            left = Counter(ngram[1:] for ngram in raw[n + 1])
            for ngram, count in raw[n].items():
                self.adjusted[n][ngram] = count if ngram[0] == "<s>" else left[ngram]
        self.vocabulary = {word for (word,) in self.adjusted[1]} | {"<unk>"}

    def probability(self, context: Ngram, word: str) -> float:
        context = context[len(context) - min(len(context), self.order - 1) :]
        n = len(context) + 1
        lower = self.probability(context[1:], word) if context else 1 / len(self.vocabulary)
        counts = {ngram: count for ngram, count in self.adjusted[n].items() if ngram[:-1] == context}
        if not counts:
            return lower
        total = sum(counts.values())
        count = counts.get((*context, word), 0)
        gamma = sum(self._discount(n, other) for other in counts.values()) / total
        return (count - self._discount(n, count)) / total + gamma * lower

    def _discount(self, n: int, count: int) -> float:
        return self.discounts[n - 1][min(count, 3) - 1] if count else 0.0
