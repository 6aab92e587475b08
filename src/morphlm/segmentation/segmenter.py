"""The segmenter: learns labelled morphemes from a vocabulary, and segments the words that it has never seen.

Training words keep the analysis that training gave them. Any other word gets its best path through the categories, over
the morphemes that were learned and over stems that were not: a new stem costs as much as spelling it, so that a known
ending is found behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arguments import check_word, shown
from morphlm.arrays import Array, Int64Array
from morphlm.display import dataclass_repr, described, html_table
from morphlm.errors import FormatError, InputError
from morphlm.files import atomic_writer
from morphlm.machine import machine_type
from morphlm.modelfile import LEARNED_SEGMENTER, ModelFiles, learned_part, read_model, write_model
from morphlm.progress import ProgressOption, progress_bar, reports_progress
from morphlm.segmentation.baseline import WordMorphs, train_baseline
from morphlm.segmentation.categories import CategoryConfig, CategoryModel, used_slots, usual_threshold
from morphlm.segmentation.encoding import (
    DAMPENINGS,
    Dampening,
    EncodedWords,
    WordSource,
    encode_words,
    normalised,
)
from morphlm.segmentation.kernels.paths import CATEGORIES
from morphlm.segmentation.morphemes import LABELS, Morpheme, Segmentation, joined_morphemes
from morphlm.segmentation.new_words import (
    PathModel,
    generalised,
    parse_paths,
    paths_of_baseline,
    paths_of_categories,
    string_of,
)
from morphlm.settings import Settings, setting
from morphlm.vocabulary.vocabulary import parse_counts

Analysis = tuple[Morpheme, ...]

KIND = "segmenter"
MORPHEMES, SEGMENTATION = "morphemes.tsv", "segmentation.txt"
SELF_TEST_WORDS = 5
LONGEST_WORD = 10_000  # characters; the search takes the square of a word's length, here about a second


@dataclass(frozen=True)
class SegmenterConfig(Settings):
    """What defines a trained segmenter, apart from the words."""

    corpus_weight: float = setting(
        0.5,
        "Weight of the words against the lexicon when morphemes are learned; a lower one gives more boundaries.",
        above=0,
    )
    perplexity_threshold: float | None = setting(
        None,
        "Perplexity of neighbours that makes a morph an affix.",
        above=1,
        default_text="20 sqrt(words / 50,000), at least 2.5",
    )
    dampening: Dampening = setting(
        "types", "Count each word once, by the logarithm of its count, or by its count.", choices=DAMPENINGS
    )
    categories: bool = setting(
        True,
        "Label morphemes PRE, STM and SUF, or run the Morfessor baseline alone.",
        option="--categories/--no-categories",
    )
    seed: int = 1  # order of the words in the search

    __repr__ = dataclass_repr


@dataclass(frozen=True)
class MorphemeSegmenter:
    """A trained segmenter."""

    segmentation: Segmentation  # of the words that it was trained on
    counts: Int64Array  # what each of them counted
    config: SegmenterConfig
    paths: PathModel
    training: Mapping[str, Any]  # costs, number of words and morphs

    def __repr__(self) -> str:
        return described(self, words=len(self.segmentation), morphs=len(self.paths.morphs), config=self.config)

    def _repr_html_(self) -> str:
        return html_table(self.segmentation.frame_rows(), repr(self))

    def segment(self, word: str) -> Analysis:
        """The morphemes of a word, seen or not; joined they give the word in NFC."""
        check_word(word)
        return self.segment_all([word])[word]

    @reports_progress
    def segment_all(self, words: Iterable[str], *, progress: ProgressOption = None) -> Segmentation:
        """The morphemes of many words."""
        if isinstance(words, str | bytes) or not isinstance(words, Iterable):
            raise InputError(f"{shown(words)} is no list of words; give one, or ask segment for a single word")
        words = list(words)
        for word in words:
            check_word(word)
        analyses = {word: self.segmentation.analyses.get(normalised(word)) for word in words}
        new = [word for word, analysis in analyses.items() if analysis is None]
        with progress_bar("segmenting", len(new), "word") as bar:
            for word, analysis in zip(new, self._new_words(new), strict=True):
                analyses[word] = analysis
                bar.update()
        return Segmentation({word: analysis for word, analysis in analyses.items() if analysis is not None})

    def _new_words(self, words: Sequence[str]) -> Iterator[Analysis]:
        if "" in words:
            raise InputError("an empty word cannot be segmented; remove it")
        longest = max(map(len, words), default=0)
        if longest > LONGEST_WORD:
            raise InputError(
                f"a word of {longest:,} characters takes too long to segment; words have at most {LONGEST_WORD:,}"
            )
        names = LABELS if self.config.categories else (None,) * CATEGORIES
        known: list[dict[str, Morpheme]] = [{} for _ in names]  # one object for each; to make one takes longer
        for forms, labels in self.paths.pieces(list(map(normalised, words))):
            analysis = []
            for form, label in zip(forms, labels, strict=True):
                morpheme = known[label].get(form)
                if morpheme is None:
                    morpheme = known[label][form] = Morpheme(form, names[label])
                analysis.append(morpheme)
            yield tuple(analysis)

    def lines(self, *, labels: bool = True) -> Iterator[str]:
        """The training words as FlatCat writes them, `count morph/CAT + morph/CAT`; without labels, as Morfessor."""
        for count, word in zip(self.counts.tolist(), self.segmentation, strict=True):
            yield f"{count} {joined_morphemes(self.segmentation[word], labels=labels)}"

    def write_segmentation(self, path: str | Path, *, labels: bool = True) -> None:
        """Write a line a word, for FlatCat or, without labels, for Morfessor, which takes labels for letters."""
        with atomic_writer(path) as file:
            file.writelines(f"{line}\n".encode() for line in self.lines(labels=labels))

    def save(self, path: str | Path) -> None:
        tested = [*self.segmentation][:SELF_TEST_WORDS]
        write_model(
            path,
            ModelFiles(
                kind=KIND,
                configuration=asdict(self.config),
                training=dict(self.training),
                tensors=self.paths.tensors(),
                texts={MORPHEMES: self.paths.table(), SEGMENTATION: "".join(f"{line}\n" for line in self.lines())},
                self_test=[{"word": word, "best_path": self._best_path(word)} for word in tested],
            ),
        )

    def _best_path(self, word: str) -> str:
        """The path of a word as if it were new."""
        return " ".join(map(str, next(self._new_words([word]))))

    @classmethod
    def load(cls, path: str | Path) -> MorphemeSegmenter:
        """Read a directory that `save` or `morphlm learn` wrote; what is damaged or of another kind is refused."""
        files = read_model(learned_part(path, LEARNED_SEGMENTER))
        if files.kind != KIND:
            raise FormatError(f"{path}: this is a model of kind {files.kind}, not a segmenter; name another folder")
        try:
            segmenter = cls._from_files(files)
            failed = [
                case["word"] for case in files.self_test if segmenter._best_path(case["word"]) != case["best_path"]
            ]
        except FormatError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise FormatError(f"{path}: parts are missing or do not fit ({error}); train it again") from error
        if failed:
            raise FormatError(
                f"{path}: the self-test failed on {failed[0]!r}; the segmenter and this version of morphlm do not "
                "agree, train it again"
            )
        return segmenter

    @classmethod
    def _from_files(cls, files: ModelFiles) -> MorphemeSegmenter:
        analyses, counts = _parse_lines(files.texts[SEGMENTATION])
        paths = parse_paths(files.texts[MORPHEMES], files.tensors)
        return cls(Segmentation(analyses), counts, SegmenterConfig(**files.configuration), paths, files.training)


def _parse_lines(text: str) -> tuple[dict[str, Analysis], Int64Array]:
    """Read the lines of a segmenter; a ValueError says what is wrong."""
    analyses: dict[str, Analysis] = {}
    numbers: list[str] = []
    for line in text.split("\n")[:-1]:
        count, _, rest = line.partition(" ")
        analysis = tuple(map(_parse_morpheme, rest.split(" + ")))
        analyses["".join(morpheme.form for morpheme in analysis)] = analysis
        numbers.append(count)
    if len(analyses) != len(numbers):
        raise ValueError(f"{SEGMENTATION} has a word twice")
    counts = parse_counts(numbers)
    if counts is None:
        raise ValueError(f"{SEGMENTATION} has a count that is none")
    return analyses, counts


def _parse_morpheme(text: str) -> Morpheme:
    form, slash, label = text.rpartition("/")
    return Morpheme(form, label) if slash and form and label in LABELS else Morpheme(text)


# ---------------------------------------------------------------- training


@reports_progress
def train_segmenter(words: WordSource, *, progress: ProgressOption = None, **settings: Any) -> MorphemeSegmenter:
    """Learn morphemes from words and their counts, or from a vocabulary; `settings` are fields of SegmenterConfig."""
    config = SegmenterConfig(**settings)
    encoded = encode_words(words, config.dampening)
    baseline = train_baseline(encoded, config.corpus_weight, np.random.default_rng(config.seed))
    training: dict[str, Any] = {"words": len(encoded.words), "baseline_costs": list(baseline.costs)}
    morphs, labels = baseline.morphs, None
    if config.categories:
        threshold = config.perplexity_threshold or usual_threshold(len(encoded.words))
        model = CategoryModel(encoded, morphs, CategoryConfig(config.corpus_weight, threshold))
        training |= {"perplexity_threshold": threshold, "category_costs": model.train()}
        model = generalised(model.cleaned())
        labelled = model.state.words
        morphs, labels = WordMorphs(model.state.table, labelled.morphs, labelled.sizes), labelled.labels
        paths = paths_of_categories(model)
    else:
        paths = paths_of_baseline(encoded, morphs)
    training |= {"morphs": len(paths.morphs), "machine": dict(machine_type())}
    analyses = dict(zip(encoded.words, _analyses(encoded, morphs, labels), strict=True))
    return MorphemeSegmenter(Segmentation(analyses), encoded.counts, config, paths, training)


def _analyses(words: EncodedWords, morphs: WordMorphs, labels: Array | None) -> Iterator[Analysis]:
    """The morphemes of each word, one object for each different morpheme."""
    mask = used_slots(words.bounds, morphs.sizes)
    used = morphs.morphs[mask].astype(np.int64) * (CATEGORIES + 1)
    used += CATEGORIES if labels is None else labels[mask]
    keys, inverse = np.unique(used, return_inverse=True)
    names = (*LABELS, None, None)
    table = [
        Morpheme(string_of(words, morphs.table, key // (CATEGORIES + 1)), names[key % (CATEGORIES + 1)])
        for key in keys.tolist()
    ]
    flat, at = [table[i] for i in inverse.tolist()], 0
    for size in morphs.sizes.tolist():
        yield tuple(flat[at : at + size])
        at += size
