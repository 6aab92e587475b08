"""Character n-grams as factors, with marks for the word's edges, as in fastText: `<sk`, `sko`, ..., `la>`."""

from __future__ import annotations

from functools import cache

from morphlm.errors import ConfigError
from morphlm.segmentation.morphemes import letters
from morphlm.segmentation.sources.factorisation import Factorisation


def character_ngrams(shortest: int = 3, longest: int = 5) -> Factorisation:
    """All runs of `shortest` to `longest` letters of <word>, by length and then by place; seen words and others alike.

    A letter is one with its combining marks. An n-gram that occurs twice in a word is its factor twice.
    """
    if not 1 <= shortest <= longest:
        raise ConfigError(f"character n-grams of {shortest} to {longest} letters; ask for 1 <= shortest <= longest")

    def ngrams_of(word: str) -> list[str]:
        if word.isalnum():  # no combining marks, so that letters are characters
            text = f"<{word}>"
            return [text[begin:end] for begin, end in _runs(len(text), shortest, longest)]
        atoms = ["<", *letters(word), ">"]
        return ["".join(atoms[begin:end]) for begin, end in _runs(len(atoms), shortest, longest)]

    return Factorisation(ngrams_of, f"character n-grams {shortest}-{longest}")


@cache
def _runs(length: int, shortest: int, longest: int) -> list[tuple[int, int]]:
    """Begin and end of all runs; a mark of an edge by itself is none."""
    runs = [(begin, begin + n) for n in range(shortest, longest + 1) for begin in range(length - n + 1)]
    return [run for run in runs if run not in ((0, 1), (length - 1, length))]
