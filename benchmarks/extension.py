"""How close a model extended by words comes to one that was trained with them, and how long it takes.

    python benchmarks/extension.py OUT cs=cs-novels.txt.xz ru=ru-novels.txt.xz de=de.txt fi=help/fi \\
        [--bytes 3000000] [--share 0.1] [--epochs 6]

For each LANGUAGE=TEXT (a text file, of which the first --bytes are taken, or a folder that `morphlm data get` wrote) a
random share of the words of the vocabulary is held out. One set of models is trained with these as UNK, the other with
them; each is CLBL++, CLBL+o (Czech alone), Kneser-Ney, and the mixture of CLBL++ and Kneser-Ney. Then the first set is
extended by the words: in the way of morphlm, and in others for comparison. Prints a table in Markdown of the test text:
perplexity by word with the end of a sentence, and bits by character, both with the words that stay unknown spelled;
what a token of the words costs, in nats; and how much of the gap between UNK with spelling and training was closed.
OUT keeps what is made, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from morphlm import get_dataset, load, mix, train, train_spelling
from morphlm.arrays import BoolArray, Float32Array, Float64Array, Int32Array
from morphlm.classes.partition import Partition
from morphlm.files import open_binary
from morphlm.language_model.addition import Addition
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.extending import context_moments, extend_logbilinear
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.structure import Endings, build_structure
from morphlm.scoring.extending import make_addition
from morphlm.text.prepare import PrepareOptions, prepare_files
from morphlm.text.reading import END
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary, load_vocabulary

KINDS = ("clbl++", "clbl+o", "mkn")
FORMS = 100_000  # of the list that is timed


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


def make_vocabularies(texts: Texts, folder: Path, share: float) -> dict[str, int]:
    """Writes the vocabulary of the training text with and without the words held out; returns these with counts."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = read_corpus(texts.part("train")).words.vocabulary(0.2, 1)
    words = held_out_words(vocabulary, share)
    vocabulary.save(folder / "with.tsv")
    without(vocabulary, words).save(folder / "without.tsv")
    return {word: int(vocabulary.counts[vocabulary.ids[word]]) for word in words}


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


# ---------------------------------------------------------------- what a text costs


@dataclass(frozen=True)
class TestText:
    """The sentences of a text, and which of its tokens are words that were held out."""

    lines: list[list[str]]
    is_held_out: BoolArray  # by token, the ends of sentences included
    characters: int  # with one for the space or line end after each token

    @classmethod
    def of(cls, path: Path, held_out: set[str]) -> TestText:
        lines = [line.split() for line in path.read_text().splitlines()]
        flags = [word in held_out for line in lines for word in (*line, END)]
        return cls(lines, np.array(flags), sum(len(word) + 1 for line in lines for word in line))


@dataclass(frozen=True)
class Figures:
    """What a text costs under a model."""

    logprobs: Float64Array  # by token, with unknown words spelled
    text: TestText

    @property
    def perplexity(self) -> float:
        return float(np.exp(-self.logprobs.mean()))

    @property
    def bits(self) -> float:
        return float(-self.logprobs.sum() / np.log(2) / self.text.characters)

    @property
    def held_out_nats(self) -> float:
        return float(-self.logprobs[self.text.is_held_out].mean())

    def closed(self, without: Figures, trained: Figures) -> tuple[float, float]:
        """Per cent of the gap, of the text and of the words that were held out."""
        by_text = (self.logprobs.mean() - without.logprobs.mean()) / (trained.logprobs.mean() - without.logprobs.mean())
        by_word = (self.held_out_nats - without.held_out_nats) / (trained.held_out_nats - without.held_out_nats)
        return 100 * float(by_text), 100 * float(by_word)


def measure(model: LanguageModel, text: TestText) -> Figures:
    """Every token, with the words that the model does not know spelled by a model of its vocabulary."""
    ids = np.concatenate([np.append(model.vocabulary.encode(line), END_ID) for line in text.lines]).astype(np.int32)
    logprobs = model.score_tokens(ids)
    forms = [word for line in text.lines for word in (*line, END)]
    unknown = np.flatnonzero(ids == UNK_ID)
    logprobs[unknown] += train_spelling(model.vocabulary).log_shares([forms[k] for k in unknown.tolist()])
    return Figures(logprobs, text)


# ---------------------------------------------------------------- other ways to extend a model, for comparison


def by_weight_alone(model: LogBilinearModel, addition: Addition) -> LogBilinearModel:
    """Shares of P(UNK|h) that do not depend on the context."""
    extended = extend_logbilinear(model, addition)
    first = len(extended.structure.vocabulary) - len(addition.words)
    silent = extended.parameters.b.copy()
    silent[first:] = addition.log_weights
    return with_vectors(extended, None, silent, output=False)


def without_classes(model: LogBilinearModel, addition: Addition) -> LogBilinearModel:
    """x = r alone."""
    extended = extend_logbilinear(model, addition)
    known, structure = len(model.vocabulary), extended.structure
    assert structure.factors is not None
    rows = structure.factors.times(extended.parameters.R)[known:].astype(np.float64)
    moments = context_moments(model.config, structure, extended.parameters, known)
    biases = extended.parameters.b.copy()
    biases[known:] = addition.log_weights - moments.log_mean_exponentials(rows)
    return with_vectors(extended, None, biases)


def with_one_class(model: LogBilinearModel, addition: Addition) -> LogBilinearModel:
    """x = r + s with the likeliest class by the ending in place of the mean of classes."""
    extended = extend_logbilinear(model, addition)
    known, structure, parameters = len(model.vocabulary), extended.structure, extended.parameters
    assert structure.factors is not None
    assert structure.partition is not None
    classes = structure.partition.class_of[known:]
    rows = structure.factors.times(parameters.R)[known:].astype(np.float64) + parameters.S[classes]
    moments = context_moments(model.config, structure, parameters, known)
    biases = parameters.b.copy()
    biases[known:] = addition.log_weights - moments.log_mean_exponentials(rows)
    return with_vectors(extended, Endings(parameters.S, classes.astype(np.int32)), biases)


def with_vectors(
    model: LogBilinearModel, endings: Endings | None, biases: Float32Array, output: bool = True
) -> LogBilinearModel:
    """An extended model with other vectors of endings and other biases, or without vectors of its new words."""
    structure = replace(model.structure, endings=endings)
    other = LogBilinearModel(model.config, structure, model.parameters._replace(b=biases), model.training)
    if output:
        return other
    rows = other._output.copy()
    rows[structure.layout.starts[-2] :] = 0.0
    return LogBilinearModel(model.config, structure, other.parameters, model.training, rows)


def in_real_classes(model: LogBilinearModel, addition: Addition, way: str) -> LogBilinearModel:
    """Way (b): each word in a class of known words, where it takes probability from these; UNK keeps its own.

    Biases follow from the weights as those of known words do from their counts, in the classes they are in.
    """
    extended = extend_logbilinear(model, addition)
    known, structure, parameters = len(model.vocabulary), extended.structure, extended.parameters
    assert structure.factors is not None
    assert structure.partition is not None
    class_of = structure.partition.class_of.copy()
    if way == "score":  # the class that scores best where the composed vector does: after contexts tilted by exp(p . r)
        moments = context_moments(model.config, structure, parameters, known)
        rows = structure.factors.times(parameters.R)[known:].astype(np.float64)
        tilted = moments.mean + rows @ moments.covariance
        class_of[known:] = (tilted @ parameters.S.T + parameters.t).argmax(axis=1)
    biases = parameters.b.copy()
    biases[known:] = biases_in_classes(model, class_of[known:], addition)
    partition = Partition(structure.vocabulary, class_of, structure.partition.classes, "extended")
    placed = build_structure(model.config, structure.vocabulary, partition, structure.factors)
    return LogBilinearModel(model.config, placed, parameters._replace(b=biases), model.training)


def biases_in_classes(model: LogBilinearModel, class_of: Int32Array, addition: Addition) -> Float64Array:
    """The mean bias of a class, and the regression of biases on ln of counts, both relative to their means."""
    assert model.partition is not None
    classes, words = model.partition.classes, np.arange(END_ID + 1, len(model.vocabulary))
    own, biases = model.partition.class_of[words], model.parameters.b[words].astype(np.float64)
    logs = np.log(np.maximum(model.vocabulary.counts[words], 1))
    sizes = np.maximum(np.bincount(own, minlength=classes), 1)
    mean_bias, mean_log = (np.bincount(own, values, classes) / sizes for values in (biases, logs))
    x, y = logs - mean_log[own], biases - mean_bias[own]
    slope = (x @ y) / (x @ x)
    result: Float64Array = mean_bias[class_of] + slope * (np.log(addition.weights) - mean_log[class_of])
    return result


OTHER_WAYS: dict[str, Callable[[LogBilinearModel, Addition], LogBilinearModel]] = {
    "(a) by weight alone": by_weight_alone,
    "(a) r": without_classes,
    "(a) r + s of one class": with_one_class,
    "(b) class by the ending": lambda model, addition: in_real_classes(model, addition, "ending"),
    "(b) class where r scores best": lambda model, addition: in_real_classes(model, addition, "score"),
}


# ---------------------------------------------------------------- the table


def rows_of(language: str, folder: Path, text: TestText, words: dict[str, int], kind: str) -> Iterator[str]:
    """The models of one kind."""
    model = load(folder / f"without.{kind}")
    without, trained = measure(model, text), measure(load(folder / f"with.{kind}"), text)
    yield row(language, kind, "UNK + spelling", without, without, trained)
    for name, counts in (("estimated", None), ("counted", {word: float(count) for word, count in words.items()})):
        addition = make_addition(model, list(words), counts)
        if kind == "clbl++":
            assert isinstance(model, LogBilinearModel)
            for way, make in OTHER_WAYS.items():
                yield row(language, kind, f"{way}, {name}", measure(make(model, addition), text), without, trained)
        figures = measure(model._with_addition(addition), text)
        yield row(language, kind, f"**extended, {name}**", figures, without, trained)
    yield row(language, kind, "trained with them", trained, without, trained)


def row(language: str, kind: str, way: str, figures: Figures, without: Figures, trained: Figures) -> str:
    by_text, by_word = figures.closed(without, trained)
    cells = [language, kind, way, f"{figures.perplexity:,.1f}", f"{figures.bits:.4f}", f"{figures.held_out_nats:.2f}"]
    return "| " + " | ".join([*cells, f"{by_text:.1f}", f"{by_word:.1f}"]) + " |"


HEADER = (
    "| language | model | words | perplexity | bits per character | nats per held-out word | gap closed, text, % | "
    "gap closed, words, % |\n|---|---|---|---|---|---|---|---|"
)


def time_forms(model: LanguageModel, forms: int) -> str:
    """How long it takes to add so many forms: known stems with other known endings."""
    words = [word for word in model.vocabulary.words[END_ID + 1 :] if word.isalpha() and len(word) > 5]
    made = (stem[:-2] + ending[-3:] for ending in words[:200] for stem in words[:2000])
    new = list(islice((form for form in dict.fromkeys(made) if form not in model.vocabulary.ids), forms))
    began = time.perf_counter()
    larger = model.extended(new, prepared=True)
    taken = time.perf_counter() - began
    return f"{len(larger.vocabulary) - len(model.vocabulary):,} forms added to a {model.kind}: {taken:.1f} s"


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
        words = make_vocabularies(texts, folder, given.share)
        kinds = KINDS if language == "cs" else ("clbl++", "mkn")
        train_models(texts, folder, given.epochs, kinds)
        text = TestText.of(texts.part("test"), set(words))
        if language == given.texts[0].partition("=")[0]:
            print(HEADER)
        for kind in (*kinds, "mixture"):
            for line in rows_of(language, folder, text, words, kind):
                print(line, flush=True)
    for kind in ("clbl++", "mixture"):
        print(time_forms(load(folder / f"without.{kind}"), FORMS))


if __name__ == "__main__":
    main()
