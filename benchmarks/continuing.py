"""What a model remembers of its text, and learns of another, when its training is continued there.

    python benchmarks/continuing.py DATA OUT [--tokens 200000] [--old news] [--new libreoffice_help] [--kind clbl++]

DATA has `parallel/en-cs.tsv.xz`, of lines `origin TAB English TAB Czech`; the Czech side of two origins is taken, each
line once. A model is trained on the old one and then continued on the new one, with weights that decay towards 0 and
towards the old ones, each without and with old text among the new. For comparison: the old model as it is and extended
by the new words, a model of the new text alone, the mixture of both, with a weight that fits both development texts,
and a model of both texts. Prints a table in Markdown: perplexities of both test texts, by word with the end of a
sentence, and with unknown words spelled, so that vocabularies can be compared. OUT keeps what is made, so that an
interrupted run goes on.
"""

from __future__ import annotations

import argparse
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm import extend, load, train, train_spelling
from morphlm.arrays import Float64Array
from morphlm.language_model.base import LanguageModel
from morphlm.text.prepare import PrepareOptions, prepare_line
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

HELD_OUT = 0.1  # of the tokens of a training text, for development and again for the test
BLOCK = 50  # lines that are in the same part of a text
WAYS = {"weights decay towards 0": False, "weights decay towards the old ones": True}


@dataclass(frozen=True)
class Domain:
    """The three parts of a text."""

    folder: Path

    def part(self, name: str) -> Path:
        return self.folder / f"{name}.txt"

    def lines(self, name: str) -> list[list[str]]:
        return [line.split() for line in self.part(name).read_text().splitlines()]


# ---------------------------------------------------------------- texts


def get_domain(data: Path, origin: str, out: Path, tokens: int) -> Domain:
    """The lines of an origin, prepared: every 12th block of them is for development, the one after it for the test."""
    domain = Domain(out / "text" / origin)
    if domain.folder.exists():
        return domain
    parts: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    room = {"train": tokens, "dev": int(tokens * HELD_OUT), "test": int(tokens * HELD_OUT)}
    for number, line in enumerate(_lines(data / "parallel" / "en-cs.tsv.xz", origin)):
        part = {0: "dev", 1: "test"}.get(number // BLOCK % 12, "train")
        if room[part] > 0:
            parts[part].append(line)
            room[part] -= line.count(" ") + 2
    domain.folder.mkdir(parents=True)
    for part, lines in parts.items():
        domain.part(part).write_text("".join(f"{line}\n" for line in lines))
    return domain


def _lines(path: Path, origin: str) -> Iterator[str]:
    options, seen = PrepareOptions(language="cs"), set()
    with lzma.open(path, "rt") as file:
        for row in file:
            name, _, czech = row.rstrip("\n").split("\t")
            line = " ".join(prepare_line(czech, options)) if name == origin else ""
            if line and line not in seen:
                seen.add(line)
                yield line


# ---------------------------------------------------------------- what a text costs


def log_probabilities(model: LanguageModel, lines: list[list[str]]) -> Float64Array:
    """Of every token, with the words that the model does not know spelled by a model of its vocabulary."""
    ids = np.concatenate([np.append(model.vocabulary.encode(line), END_ID) for line in lines]).astype(np.int32)
    forms = [word for line in lines for word in (*line, "")]
    unknown = np.flatnonzero(ids == UNK_ID).tolist()
    logprobs = model.score_tokens(ids)
    logprobs[unknown] += train_spelling(model.vocabulary).log_shares([forms[k] for k in unknown])
    return logprobs


def perplexity(logprobs: Float64Array) -> float:
    return float(np.exp(-logprobs.mean()))


def fitted_weight(one: Float64Array, other: Float64Array) -> float:
    """The weight of one of two models, by EM."""
    weight, first, second = 0.5, np.exp(one), np.exp(other)
    for _ in range(200):
        weight = float((weight * first / (weight * first + (1 - weight) * second)).mean())
    return weight


class Table:
    """Prints a line for each model."""

    def __init__(self, old: Domain, new: Domain) -> None:
        self.old, self.new = old, new
        print("| model | words | old text | new text |\n|---|---|---|---|")

    def add(self, name: str, model: LanguageModel) -> None:
        figures = [perplexity(log_probabilities(model, domain.lines("test"))) for domain in (self.old, self.new)]
        self._print(name, len(model.vocabulary), figures)

    def add_mixture(self, models: list[LanguageModel]) -> None:
        dev = self.old.lines("dev") + self.new.lines("dev")
        weight = fitted_weight(*(log_probabilities(model, dev) for model in models))
        figures = []
        for domain in (self.old, self.new):
            one, other = (log_probabilities(model, domain.lines("test")) for model in models)
            figures.append(perplexity(np.logaddexp(one + np.log(weight), other + np.log(1 - weight))))
        words = set(models[0].vocabulary.words) | set(models[1].vocabulary.words)
        self._print(f"mixture of both, {weight:.2f} old", len(words), figures)

    def _print(self, name: str, words: int, figures: list[float]) -> None:
        print(f"| {name} | {words:,} | {figures[0]:,.1f} | {figures[1]:,.1f} |", flush=True)


# ---------------------------------------------------------------- models


def trained(kind: str, text: Path | list[Path], dev: Path, place: Path, **settings: Any) -> LanguageModel:
    """The model at a place, trained if it is not there."""
    if not place.exists() or place.with_name(f"{place.name}.checkpoint").exists():
        train(kind, text, dev, place, resume=True, progress=False, **settings)
    return load(place)


def extended(model: LanguageModel, new: Domain) -> LanguageModel:
    """The old model with the words that a continued one has, too."""
    words = read_corpus(new.part("train")).words.vocabulary(0.2, 1)
    return extend(model, list(words.words[END_ID + 1 :]), new.part("train"), prepared=True).model


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokens", type=int, default=200_000)
    parser.add_argument("--old", default="news")
    parser.add_argument("--new", default="libreoffice_help")
    parser.add_argument("--kind", default="clbl++")
    given = parser.parse_args()
    kind, out = given.kind, given.out
    old, new = (get_domain(given.data, origin, out, given.tokens) for origin in (given.old, given.new))
    table = Table(old, new)
    first = trained(kind, old.part("train"), old.part("dev"), out / "old")
    table.add("old text", first)
    table.add("old text, extended by words", extended(first, new))
    for share in (0.0, 0.2, 0.5):
        replay = {"old_text": old.part("train"), "old_share": share} if share else {}
        for way, stay in WAYS.items():
            place = out / f"continued-{share}-{stay}"
            settings = {"continue_from": out / "old", "stay": stay, **replay}
            model = trained(kind, new.part("train"), new.part("dev"), place, **settings)
            table.add(f"continued, {share:.0%} old text, {way}", model)
    second = trained(kind, new.part("train"), new.part("dev"), out / "new")
    table.add("new text", second)
    table.add_mixture([first, second])
    both = {name: [old.part(name), new.part(name)] for name in ("train", "dev")}
    table.add("both texts", trained(kind, both["train"], both["dev"], out / "both"))


if __name__ == "__main__":
    main()
