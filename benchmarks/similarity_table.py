"""One table of what `benchmarks/similarity.sh` trained: Spearman's rho x 100 of every set of pairs under every model.

    python benchmarks/similarity_table.py PAIRS OUT 'de en' [--side both] [--centre] [--normalise] [--sides]

CLBL composes nothing; CLBL++ is shown composed and as "-compose", with and without wide contexts. --sides prints, for
the model with wide contexts, what each choice of vectors reaches: q, r, both, centred or
normalised or not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import morphlm
from morphlm.tables import Table
from morphlm.vectors.similarity import Policy, RatedPairs, evaluate_similarity
from morphlm.vectors.vectors import SIDES, WordVectors

MODELS: dict[str, tuple[str, Policy]] = {
    "CLBL": ("{}/clbl", "unk"),
    "CLBL++": ("{}/clbl++", "composed"),
    "CLBL++ -compose": ("{}/clbl++", "unk"),
    "wide": ("{}.wide/clbl++", "composed"),
    "wide -compose": ("{}.wide/clbl++", "unk"),
}
FASTTEXT = "{}.fasttext.bin"


def rho(vectors: object, pairs: RatedPairs, policy: Policy) -> str:
    return f"{evaluate_similarity(vectors, pairs, resamples=1).correlations[policy].rho or 0:.1f}"


def sets_of(folder: Path, language: str) -> Iterator[RatedPairs]:
    for path in sorted(folder.glob(f"{language}-*.tsv")):
        yield morphlm.read_pairs(path)


def name_of(pairs: RatedPairs) -> str:
    return Path(pairs.name).stem


def compare_models(folder: Path, out: Path, languages: list[str], choice: dict[str, object]) -> Table:
    rows = []
    for language in languages:
        places = {place.format(language) for place, _ in MODELS.values()}
        vectors = {place: morphlm.load(out / place).vectors.using(**choice) for place in sorted(places)}
        fasttext = morphlm.load_vectors(out / FASTTEXT.format(language))
        plain = vectors[f"{language}/clbl"]
        for pairs in sets_of(folder, language):
            known = evaluate_similarity(plain, pairs, resamples=1).known
            cells = [rho(vectors[place.format(language)], pairs, policy) for place, policy in MODELS.values()]
            rows.append([name_of(pairs), str(len(pairs)), str(known), *cells, rho(fasttext, pairs, "composed")])
    return Table(["set", "pairs", "known", *MODELS, "fastText"], rows)


def compare_sides(folder: Path, out: Path, languages: list[str]) -> Table:
    choices: dict[str, dict[str, Any]] = {
        "both": {},
        "context": {"side": "context"},
        "output": {"side": "output"},
        "normalised": {"normalise": True},
        "centred": {"centre": True},
        "centred, normalised": {"centre": True, "normalise": True},
    }
    rows = []
    for language in languages:
        vectors: WordVectors = morphlm.load(out / f"{language}.wide" / "clbl++").vectors
        for pairs in sets_of(folder, language):
            chosen = [vectors.using(**choice) for choice in choices.values()]
            rows.append([name_of(pairs), *(rho(some, pairs, "composed") for some in chosen)])
    return Table(["set", *choices], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("languages")
    parser.add_argument("--side", choices=SIDES, default="both")
    parser.add_argument("--centre", action="store_true")
    parser.add_argument("--normalise", action="store_true")
    parser.add_argument("--sides", action="store_true")
    options = parser.parse_args()
    languages = options.languages.split()
    if options.sides:
        print(compare_sides(options.pairs, options.out, languages).markdown())
    else:
        choice = {"side": options.side, "centre": options.centre, "normalise": options.normalise}
        print(compare_models(options.pairs, options.out, languages, choice).markdown())


if __name__ == "__main__":
    main()
