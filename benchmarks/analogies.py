"""Inflectional analogies from treebanks: `domu domem hradu hradem`, in the format of word2vec's questions-words.txt.

    python benchmarks/analogies.py CONLLU... OUT [--sections 20] [--questions 100]

A section is a contrast: two sets of features of nouns, adjectives or verbs that differ in one feature, `NOUN Gender=Fem
Number=Sing Case=Nom>Acc`. Its pairs are forms of one lemma, lowercased; a question takes two pairs. The sections are
those with the most lemmas, their questions are drawn with a fixed seed.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

from morphlm.files import open_binary

CLASSES = ("NOUN", "ADJ", "VERB")
FEWEST_LEMMAS = 8  # of a section

Features = tuple[str, ...]  # sorted `Name=Value`
Forms = dict[Features, str]


def read_forms(paths: list[str]) -> dict[tuple[str, str], Forms]:
    """Of each lemma and class, the first form of every set of features."""
    forms: dict[tuple[str, str], Forms] = defaultdict(dict)
    for path in paths:
        with open_binary(path) as stream:
            for line in stream.read().decode().splitlines():
                fields = line.split("\t")
                if len(fields) == 10 and fields[3] in CLASSES and fields[1].isalpha() and fields[0].isdigit():
                    features = tuple(sorted(fields[5].split("|")))
                    forms[fields[2].lower(), fields[3]].setdefault(features, fields[1].lower())
    return forms


def contrasts(forms: dict[tuple[str, str], Forms]) -> dict[str, list[tuple[str, str]]]:
    """Pairs of different forms by what tells them apart: one feature."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (_, word_class), of_lemma in sorted(forms.items()):
        for one, other in permutations(sorted(of_lemma), 2):
            name = contrast(one, other)
            if name and one < other and of_lemma[one] != of_lemma[other]:
                found[f"{word_class} {name}"].append((of_lemma[one], of_lemma[other]))
    return found


def contrast(one: Features, other: Features) -> str:
    """`Gender=Fem Case=Nom>Acc`; nothing if more than a feature differs."""
    left, right = (dict(feature.partition("=")[::2] for feature in features) for features in (one, other))
    differing = [name for name in left if left[name] != right.get(name)]
    if left.keys() != right.keys() or len(differing) != 1:
        return ""
    (name,) = differing
    same = [f"{key}={value}" for key, value in sorted(left.items()) if key != name]
    return " ".join([*same, f"{name}={left[name]}>{right[name]}"])


def questions(pairs: list[tuple[str, str]], number: int, rng: random.Random) -> Iterator[str]:
    possible = [(*one, *other) for one, other in permutations(sorted(set(pairs)), 2) if len({*one, *other}) == 4]
    for question in rng.sample(possible, min(number, len(possible))):
        yield " ".join(question)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebanks", nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--sections", type=int, default=20)
    parser.add_argument("--questions", type=int, default=100, help="of a section")
    options = parser.parse_args()
    found = contrasts(read_forms(options.treebanks))
    chosen = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))[: options.sections]
    rng, lines = random.Random(1), []
    for name, pairs in chosen:
        if len(pairs) >= FEWEST_LEMMAS:
            lines += [f": {name}", *questions(pairs, options.questions, rng)]
    options.out.write_text("".join(f"{line}\n" for line in lines))
    print(f"{len(lines) - sum(line.startswith(': ') for line in lines):,} questions")


if __name__ == "__main__":
    main()
