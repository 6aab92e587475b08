"""A small folder with the layout of the experiments' data, in a made-up language with endings."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np

from morphlm.experiments.corpora import RECIPES

STEMS = ("škol", "dom", "řek", "ulic", "pol", "měst", "les", "hor", "kniž", "zahrad")
ENDINGS = ("a", "u", "ou", "y", "em", "ám")


def sentence(rng: np.random.Generator) -> str:
    """Endings tend to be repeated; now and then comes a word of its own."""
    ending = ENDINGS[rng.integers(len(ENDINGS))]
    words = [STEMS[rng.integers(len(STEMS))] + ending for _ in range(int(rng.integers(2, 8)))]
    if rng.random() < 0.3:
        words.append("zvlášt" + "".join("abcdefghij"[k] for k in rng.integers(0, 10, 3)))
    return " ".join(words).capitalize() + "."


def write_xz(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress("".join(f"{line}\n" for line in lines).encode()))


def write_data(folder: Path, languages: tuple[str, ...] = ("de", "es"), sentences: int = 300) -> Path:
    """The files of some languages that have no novels, ratings of pairs, and for German a text with tags."""
    for number, language in enumerate(languages):
        rng, recipe = np.random.default_rng(number), RECIPES[language]
        lines = [f"news\tEnglish.\t{sentence(rng)}" for _ in range(sentences)]
        write_xz(folder / "parallel" / f"{recipe.parallel}.tsv.xz", lines)
        for year in (recipe.dev, recipe.test):
            write_xz(folder / "newstest" / f"newstest{year}.{language}.txt.xz", [sentence(rng) for _ in range(40)])
        pairs = [f"{STEMS[k]}a\t{STEMS[k + 1]}u\t{k}" for k in range(len(STEMS) - 1)]
        (folder / "wordsim").mkdir(exist_ok=True)
        (folder / "wordsim" / f"{language}-made.tsv").write_text("".join(f"{pair}\n" for pair in pairs))
        (folder / "pos").mkdir(exist_ok=True)
        (folder / "pos" / f"{language}_made.conllu").write_text(_tagged(rng))
    return folder


def _tagged(rng: np.random.Generator) -> str:
    """Sentences of adjectives and nouns."""
    text = ""
    for _ in range(20):
        for number, word in enumerate(sentence(rng).rstrip(".").split(), 1):
            text += "\t".join([str(number), word, "_", "ADJ" if number % 3 else "NOUN", *"______"]) + "\n"
        text += "\n"
    return text


TINY = """
title = "tiny"
languages = ["de", "es"]
print = {parts}
[text]
tokens = {tokens}
[models]
kinds = {kinds}
kappas = {kappas}
width = 8
settings = {{ epochs = 1, batch = 100 }}
"""


def write_recipe(
    path: Path,
    parts: str = '["corpus", "perplexity"]',
    kinds: str = '["mkn", "clbl", "clbl++"]',
    kappas: str = "[0.2]",
    tokens: str = "1000",
    more: str = "",
) -> Path:
    path.write_text(TINY.format(parts=parts, kinds=kinds, kappas=kappas, tokens=tokens) + more)
    return path
