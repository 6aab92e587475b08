"""What caches are worth: perplexities of mixtures with and without them, in several languages.

    python benchmarks/make_corpora.py DATA CORPORA
    for l in cs ru de es fr en; do
        morphlm train --all --kinds mkn,clbl++ --train CORPORA/$l/train.$l.txt --dev CORPORA/$l/dev.$l.txt \\
            --out MODELS/$l --wide-context --kappa 0.2
    done
    python benchmarks/caches.py CORPORA MODELS [LANGUAGE...] [--speed]

Caches are trained into MODELS/LANGUAGE, and the scores of each model are kept in MODELS/LANGUAGE/scores, so that an
interrupted run can be repeated. Weights of mixtures are by context and fitted to the development text, as `morphlm mix`
fits them. `--speed` measures instead how many tokens a second the mixture of everything scores, and its parts.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import morphlm
from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.language_model.base import LanguageModel
from morphlm.modelfile import MANIFEST
from morphlm.scoring.mixing import fit_weights
from morphlm.tables import format_columns
from morphlm.vocabulary.corpus import encode_text

LANGUAGES = ("cs", "ru", "de", "es", "fr", "en")
MKN, CLBL, NEURAL, WORDS, CLASSES, MORPHEMES = "mkn", "clbl++", "neural-cache", "cache", "class-cache", "morpheme-cache"
WITH_UNKNOWN = "-unk"  # behind the name of a cache in which unknown words count
ROWS = (
    (MKN,),
    (MKN, WORDS),
    (MKN, MORPHEMES),
    (MKN, WORDS, MORPHEMES),
    (MKN, CLBL),
    (MKN, CLBL, CLASSES),
    (MKN, CLBL, MORPHEMES),
    (MKN, CLBL, WORDS),
    (MKN, CLBL, WORDS, CLASSES),
    (MKN, CLBL, WORDS, MORPHEMES),
    (MKN, NEURAL),
    (MKN, NEURAL, WORDS),
    (MKN, NEURAL, MORPHEMES),
    (MKN, NEURAL, WORDS, MORPHEMES),
    (MKN, WORDS + WITH_UNKNOWN),
    (MKN, CLBL, WORDS + WITH_UNKNOWN),
    (MKN, NEURAL + WITH_UNKNOWN),
    (MKN, NEURAL + WITH_UNKNOWN, MORPHEMES + WITH_UNKNOWN),
)
EVERYTHING = (MKN, NEURAL, WORDS, CLASSES, MORPHEMES)


@dataclass(frozen=True)
class Figures:
    """The perplexities of a mixture."""

    dev: float
    test: float


class Language:
    """The texts and models of one language."""

    def __init__(self, corpora: Path, models: Path, name: str) -> None:
        self.name, self.texts, self.folder = name, corpora / name, models / name

    def text(self, part: str) -> Path:
        return self.texts / f"{part}.{self.name}.txt"

    @cached_property
    def _kneser_ney(self) -> LanguageModel:
        return morphlm.load(self.folder / MKN)

    def tokens(self, part: str) -> Int32Array:
        return encode_text(self.text(part), self._kneser_ney.vocabulary).tokens

    def buckets(self, part: str) -> Int64Array:
        return self._kneser_ney.buckets_before(self.tokens(part))  # type: ignore[attr-defined, no-any-return]

    def model(self, name: str) -> LanguageModel:
        """One that is there, or a cache, which is trained."""
        place, kind = self.folder / name, name.removesuffix(WITH_UNKNOWN)
        unknown = name.endswith(WITH_UNKNOWN)
        if not (place / MANIFEST).is_file():
            if kind == NEURAL:
                morphlm.add_cache(self.folder / CLBL, self.text("dev"), place, cache_unknown=unknown)
            else:
                settings = {"kappa": 0.2, "artefacts": self.folder / "artefacts", "cache_unknown": unknown}
                morphlm.train(kind, self.text("train"), self.text("dev"), place, **settings)
        return morphlm.load(place)

    def scores(self, name: str) -> dict[str, Float64Array]:
        """ln p of every token of both texts, kept in a file."""
        file = self.folder / "scores" / f"{name}.npz"
        if not file.is_file():
            model = self.model(name)
            scores = {part: model.score_tokens(self.tokens(part)) for part in ("dev", "test")}
            file.parent.mkdir(exist_ok=True)
            np.savez(file, **scores)  # type: ignore[arg-type]
        return dict(np.load(file))

    def figures(self, names: tuple[str, ...]) -> Figures:
        """Of a mixture of models, with weights by context."""
        columns = [self.scores(name) for name in names]
        dev, test = (np.stack([column[part] for column in columns], axis=1) for part in ("dev", "test"))
        overall = fit_weights(dev).weights[0]
        buckets, number = self.buckets("dev"), self._kneser_ney.context_buckets  # type: ignore[attr-defined]
        with np.errstate(divide="ignore"):
            weights = np.log(fit_weights(dev, buckets, number, overall).weights)
        mixed = (
            np.logaddexp.reduce(scores + weights[sorted_by], axis=1)
            for scores, sorted_by in ((dev, buckets), (test, self.buckets("test")))
        )
        return Figures(*(float(np.exp(-logprobs.mean())) for logprobs in mixed))


def compare(languages: list[Language]) -> None:
    """A table of development / test perplexities; what all models of a language share is read once."""
    figures = {language.name: [language.figures(row) for row in ROWS] for language in languages}
    rows = [
        [" + ".join(names), *(f"{figures[lang][k].dev:.2f} / {figures[lang][k].test:.2f}" for lang in figures)]
        for k, names in enumerate(ROWS)
    ]
    print(format_columns(["development / test", *figures], rows))
    base, neural = ROWS.index((MKN, CLBL)), ROWS.index((MKN, NEURAL))
    for names in ROWS[base + 1 :]:
        row, against = ROWS.index(names), neural if NEURAL in names and names != (MKN, NEURAL) else base
        gains = [1 - figures[lang][row].dev / figures[lang][against].dev for lang in figures]
        lower = sum(gain > 0 for gain in gains)
        shown = ", ".join(f"{lang} {100 * gain:.2f} %" for lang, gain in zip(figures, gains, strict=True))
        print(f"{' + '.join(names)}: dev lower in {lower} of {len(gains)} than {' + '.join(ROWS[against])} ({shown})")


def measure_speed(language: Language, repeats: int = 8) -> None:
    """Tokens a second of each model and of all together, on the test text; the best of some runs."""
    tokens, total = np.tile(language.tokens("test"), 3), 0.0
    for name in (CLBL, *EVERYTHING):
        model = language.model(name)
        model.score_tokens(tokens[:8192])  # compiles and composes
        seconds = min(_seconds(model, tokens) for _ in range(repeats))
        total += seconds if name in EVERYTHING else 0.0
        print(f"{name:<16} {len(tokens) / seconds:>12,.0f} tokens/s")
    print(f"{'all of them':<16} {len(tokens) / total:>12,.0f} tokens/s")


def _seconds(model: LanguageModel, tokens: Int32Array) -> float:
    began = time.perf_counter()
    model.score_tokens(tokens)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=f"default: {' '.join(LANGUAGES)}")
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    languages = [Language(options.corpora, options.models, name) for name in options.languages or LANGUAGES]
    if options.speed:
        for language in languages:
            measure_speed(language)
    else:
        compare(languages)


if __name__ == "__main__":
    main()
