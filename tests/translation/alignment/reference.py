"""Plain Python, in 64 bits, of what the kernels compute: fast_align's EM, and joining two directions."""

from __future__ import annotations

import math
from collections import defaultdict

from scipy.special import digamma

Pairs = list[tuple[list[str], list[str]]]
Links = set[tuple[int, int]]
NULL = ""


def prior(m: int, n: int, j: int, tension: float) -> list[float]:
    """exp(-tension |i/m - j/n|) / Z for i = 1 .. m."""
    values = [math.exp(-tension * abs(i / m - j / n)) for i in range(1, m + 1)]
    return [value / sum(values) for value in values]


def mean_distance(m: int, n: int, j: int, tension: float) -> float:
    return sum(p * abs(i / m - j / n) for i, p in enumerate(prior(m, n, j, tension), 1))


class Reference:
    """One direction; `pairs` are (given, generated)."""

    def __init__(self, pairs: Pairs, *, p0: float = 0.08, alpha: float = 0.01, tension: float = 4.0) -> None:
        self.pairs, self.p0, self.alpha, self.tension = pairs, p0, alpha, tension
        size = len({word for _, generated in pairs for word in generated})
        self.t: dict[tuple[str, str], float] = defaultdict(lambda: 1 / size)
        self.distributed: list[tuple[int, int, int, float]] = []  # m, n, j, mass of links to words

    def joint(self, given: list[str], generated: list[str], j: int) -> list[float]:
        """Of NULL, then of each given position."""
        word, places = generated[j], prior(len(given), len(generated), j + 1, self.tension)
        rest = [(1 - self.p0) * p * self.t[e, word] for p, e in zip(places, given, strict=True)]
        return [self.p0 * self.t[NULL, word], *rest]

    def run(self, optimise: bool) -> tuple[float, float]:
        """One pass: returns the log-likelihood and the expected number of links to NULL before it."""
        counts: dict[tuple[str, str], float] = defaultdict(float)
        likelihood, distance, nulls = 0.0, 0.0, 0.0
        masses = []
        for given, generated in self.pairs:
            m, n = len(given), len(generated)
            for j, word in enumerate(generated):
                joint = self.joint(given, generated, j)
                total = sum(joint)
                likelihood += math.log(total)
                nulls += joint[0] / total
                masses.append((m, n, j + 1, 1 - joint[0] / total))
                for i, e in enumerate([NULL, *given]):
                    counts[e, word] += joint[i] / total
                    distance += joint[i] / total * abs(i / m - (j + 1) / n) if i else 0.0
        if optimise:
            self.tension = self.fitted(masses, distance)
        self.normalise(counts)
        return likelihood, nulls

    def fitted(self, masses: list[tuple[int, int, int, float]], distance: float) -> float:
        low, high = 0.1, 14.0
        for _ in range(40):
            middle = (low + high) / 2
            expected = sum(mass * mean_distance(m, n, j, middle) for m, n, j, mass in masses)
            low, high = (middle, high) if expected > distance else (low, middle)
        return (low + high) / 2

    def normalise(self, counts: dict[tuple[str, str], float]) -> None:
        totals: dict[str, float] = defaultdict(float)
        kinds: dict[str, int] = defaultdict(int)
        for (e, _), count in counts.items():
            totals[e] += count
            kinds[e] += 1
        for (e, f), count in counts.items():
            if self.alpha:
                value = math.exp(digamma(count + self.alpha) - digamma(totals[e] + self.alpha * kinds[e]))
            else:
                value = count / totals[e]
            self.t[e, f] = value

    def best(self) -> list[Links]:
        """(given, generated) positions; the first of those that are equally likely but for rounding."""
        found = []
        for given, generated in self.pairs:
            joints = [self.joint(given, generated, j) for j in range(len(generated))]
            best = [next(i for i, p in enumerate(joint) if p * (1 + 1e-7) >= max(joint)) for joint in joints]
            found.append({(i - 1, j) for j, i in enumerate(best) if i})
        return found


def joined(forward: Links, backward: Links, method: str) -> Links:
    """Koehn's description of grow-diag-final(-and), on sets; a link is (source, target)."""
    union, current = forward | backward, forward & backward
    if method in ("intersect", "union"):
        return union if method == "union" else current
    sources = range(max((s for s, _ in union), default=-1) + 1)
    targets = range(max((t for _, t in union), default=-1) + 1)

    def free_source(source: int) -> bool:
        return all(s != source for s, _ in current)

    def free_target(target: int) -> bool:
        return all(t != target for _, t in current)

    added = True
    while added:
        added = False
        for target in targets:
            for source in sources:
                if (source, target) not in current:
                    continue
                for by_target, by_source in [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]:
                    link = (source + by_source, target + by_target)
                    if link in union and (free_source(link[0]) or free_target(link[1])):
                        current.add(link)
                        added = True
    if method == "grow-diag":
        return current
    both = all if method == "grow-diag-final-and" else any
    for direction in (forward, backward):
        for target in targets:
            for source in sources:
                if (source, target) in direction and both([free_source(source), free_target(target)]):
                    current.add((source, target))
    return current
