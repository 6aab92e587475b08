"""How close a model extended by words comes to one that was trained with them.

    python benchmarks/extension.py OUT cs=cs-novels.txt.xz ru=ru-novels.txt.xz de=de.txt fi=help/fi \
        [--bytes 3000000] [--share 0.1] [--epochs 6]

For each LANGUAGE=TEXT (a text file, of which the first --bytes are taken, or a folder that `morphlm data get` wrote) a
share of the words of the vocabulary is held out: one set of models is trained with these as UNK and then extended by
them, the other is trained with them. OUT keeps what is made, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm import mix, train
from morphlm.files import open_binary
from morphlm.text.datasets import get_dataset
from morphlm.text.prepare import PrepareOptions, prepare_files
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary, load_vocabulary

KINDS = ("clbl++", "clbl+o", "mkn")


@dataclass(frozen=True)
class Texts:
    """The three parts of a language's text."""

    language: str
    folder: Path

    def part(self, name: str) -> Path:
        return self.folder / f"{name}.txt"


def get_texts(language: str, source: Path, out: Path, size: int) -> Texts:
    """The text in three parts, prepared; a folder has three parts already."""
    folder = out / language / "text"
    if folder.exists():
        return Texts(language, folder)
    folder.mkdir(parents=True)
    if not source.is_dir():
        beginning, divided = folder.parent / f"beginning.{language}.txt", folder.parent / "divided"
        with open_binary(source) as stream:
            data = stream.read(size)
        beginning.write_bytes(data[: data.rfind(b"\n") + 1])
        get_dataset(str(beginning), divided, language=language)
        source = divided
    for part in ("train", "dev", "test"):
        found = next(source.glob(f"{part}.*txt"))
        prepare_files(found, folder / f"{part}.txt", PrepareOptions(language=language))
    return Texts(language, folder)


def held_out_words(vocabulary: Vocabulary, share: float) -> list[str]:
    """A random share of the words, in order of their ids."""
    words = len(vocabulary) - END_ID - 1
    chosen = np.random.default_rng(1).permutation(words)[: round(share * words)]
    return [vocabulary.words[END_ID + 1 + k] for k in np.sort(chosen).tolist()]


def without(vocabulary: Vocabulary, words: list[str]) -> Vocabulary:
    """The vocabulary in which these words are UNK."""
    gone = np.array([vocabulary.ids[word] for word in words], np.int64)
    counts = vocabulary.counts.copy()
    counts[UNK_ID] += counts[gone].sum()
    kept = np.delete(np.arange(len(vocabulary)), gone)
    return Vocabulary(tuple(vocabulary.words[k] for k in kept.tolist()), counts[kept])


def make_vocabularies(texts: Texts, folder: Path, share: float) -> list[str]:
    """Writes the vocabulary of the training text with and without the words held out; returns these."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = read_corpus(texts.part("train")).words.vocabulary(0.2, 1)
    words = held_out_words(vocabulary, share)
    vocabulary.save(folder / "with.tsv")
    without(vocabulary, words).save(folder / "without.tsv")
    return words


def train_models(texts: Texts, folder: Path, epochs: int, kinds: tuple[str, ...]) -> None:
    """Models with and without the words, each kind and its mixture with Kneser-Ney."""
    for side in ("without", "with"):
        for kind in kinds:
            settings = {} if kind == "mkn" else {"epochs": epochs, "width": 100}
            place = folder / f"{side}.{kind}"
            if not place.exists() or place.with_name(f"{place.name}.checkpoint").exists():
                given = load_vocabulary(folder / f"{side}.tsv")
                parts = texts.part("train"), texts.part("dev")
                train(kind, *parts, place, resume=True, vocabulary=given, artefacts=folder / "artefacts", **settings)
        place = folder / f"{side}.mixture"
        if not place.exists():
            mix([folder / f"{side}.clbl++", folder / f"{side}.mkn"], texts.part("dev")).save(place)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", nargs="+", help="LANGUAGE=TEXT")
    parser.add_argument("--bytes", type=int, default=3_000_000)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=6)
    given = parser.parse_args()
    for language, _, source in (text.partition("=") for text in given.texts):
        texts = get_texts(language, Path(source), given.out, given.bytes)
        folder = given.out / language
        make_vocabularies(texts, folder, given.share)
        train_models(texts, folder, given.epochs, KINDS if language == "cs" else ("clbl++", "mkn"))


if __name__ == "__main__":
    main()
