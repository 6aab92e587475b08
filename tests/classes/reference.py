"""The objective from its definition, in dictionaries, and small texts: slow, and easy to check on paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from morphlm.vocabulary.corpus import Corpus, read_corpus
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

Sentences = list[list[str]]

sentences = st.lists(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8), min_size=1, max_size=12)


def corpus_of(text: Sequence[Sequence[str]]) -> Corpus:
    raw = read_corpus([list(sentence) for sentence in text])
    return raw.encode(raw.words.vocabulary(0.0, 1))


def bigrams_of(tokens: Sequence[int]) -> Counter[tuple[int, int]]:
    return Counter(pairwise([END_ID, *tokens]))


def mutual_information_of(tokens: Sequence[int], class_of: Sequence[int]) -> float:
    joint: Counter[tuple[int, int]] = Counter()
    for (first, second), count in bigrams_of(tokens).items():
        joint[class_of[first], class_of[second]] += count
    left, right = Counter[int](), Counter[int]()
    for (first, second), count in joint.items():
        left[first] += count
        right[second] += count
    total = sum(joint.values())
    return sum(n / total * math.log(n * total / (left[g] * right[h])) for (g, h), n in joint.items())


def moved(class_of: np.ndarray, word: int, to: int) -> list[int]:
    """The classes after a move; BEGIN goes with END."""
    classes = class_of.tolist()
    classes[word] = to
    classes[BEGIN_ID] = classes[END_ID]
    return classes


def planted_text(rng: np.random.Generator, groups: int, words: int, tokens: int) -> tuple[Sentences, dict[str, int]]:
    """Sentences of a class bigram process in which each class prefers two others; and the class of each word."""
    transitions = np.full((groups, groups), 0.02)
    for group in range(groups):
        transitions[group, (group + 1) % groups] += 1.0
        transitions[group, (group + 3) % groups] += 0.6
    transitions /= transitions.sum(axis=1, keepdims=True)
    text: Sentences = []
    group = 0
    for _ in range(tokens // 10):
        sentence = []
        for _ in range(10):
            group = int(rng.choice(groups, p=transitions[group]))
            sentence.append(f"w{group}.{int(words * rng.random() ** 2)}")
        text.append(sentence)
    return text, {word: int(word[1:].split(".")[0]) for sentence in text for word in sentence}


def normalised_mutual_information(first: Sequence[int], second: Sequence[int]) -> float:
    def entropy(labels: Sequence[object]) -> float:
        return -sum(n / len(labels) * math.log(n / len(labels)) for n in Counter(labels).values())

    shared = entropy(first) + entropy(second) - entropy(list(zip(first, second, strict=True)))
    return 2 * shared / (entropy(first) + entropy(second))
