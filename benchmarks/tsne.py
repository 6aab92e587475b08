"""t-SNE of this package next to scikit-learn's: CPU seconds, import included, and what both minimise.

    python benchmarks/tsne.py [--points 100 400 1500]

Needs scikit-learn (the extra `dev` has it). Each measurement is a process of its own; rows
of length 1 around twelve directions stand for morphemes. Prints two Markdown tables.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

from morphlm.analysis.tsne import _squared_distances, divergence, joint_shares, tsne

SIZES, WIDTH, REPEATS = (100, 400, 1500), 100, 3
SAMPLES = [(points, seed) for points in (60, 200, 400) for seed in range(6)]
PERPLEXITY = 30.0
ROWS = "import sys, time; sys.path.insert(0, {folder!r}); from tsne import rows; x = rows({points}, 0)\n"
TIMED = {
    "ours": "from morphlm.analysis.tsne import tsne\ntsne(x, perplexity={perplexity}, seed=1)",
    "scikit-learn": "from sklearn.manifold import TSNE\nfrom threadpoolctl import threadpool_limits\n"
    "tsne = TSNE(metric='cosine', init='pca', perplexity={perplexity}, random_state=1)\n"
    "with threadpool_limits(1): tsne.fit_transform(x)",
}


def rows(points: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((12, WIDTH))
    made = centres[rng.integers(0, 12, points)] + 0.8 * rng.standard_normal((points, WIDTH))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def usable(points: int) -> float:
    return min(PERPLEXITY, (points - 1) / 3)


def seconds(code: str, points: int) -> float:
    """The median over processes; the rows and what they import are not counted, what the code imports is."""
    code = code.format(perplexity=usable(points))
    timed = f"begin = time.process_time()\n{code}\nprint(time.process_time() - begin)"
    command = [sys.executable, "-c", ROWS.format(folder=str(Path(__file__).parent), points=points) + timed]
    found = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(REPEATS))
    return statistics.median(map(float, found))


def ratio(points: int, seed: int) -> float:
    """Our divergence over that of scikit-learn's exact method, both by the same definition."""
    from sklearn.manifold import TSNE  # noqa: PLC0415  # not where it would be counted

    x = rows(points, seed)
    shares = joint_shares(_squared_distances(x.astype(np.float64)), usable(points))
    theirs = TSNE(method="exact", init="pca", perplexity=usable(points), random_state=1).fit_transform(x)
    ours = tsne(x, perplexity=usable(points), seed=1)
    return divergence(shares, ours) / divergence(shares, theirs.astype(np.float64))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    print(f"| points | {' | '.join(TIMED)} |\n|---|---|---|")
    for points in options.points:
        print(f"| {points:,} | {' | '.join(f'{seconds(code, points):.2f}' for code in TIMED.values())} |", flush=True)
    print("\n| points | divergence, ours / scikit-learn's: lowest | median | highest |\n|---|---|---|---|")
    for points in sorted({points for points, _ in SAMPLES}):
        found = [ratio(*sample) for sample in SAMPLES if sample[0] == points]
        print(f"| {points} | {min(found):.3f} | {statistics.median(found):.3f} | {max(found):.3f} |", flush=True)


if __name__ == "__main__":
    main()
