"""The generated language as a data set on disk: text in three parts, its translation, and the gold tables."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from morphlm.errors import ConfigError, InputError
from morphlm.files import atomic_writer
from morphlm.progress import progress_bar
from morphlm.tables import counted
from morphlm_generated.config import GeneratedConfig
from morphlm_generated.grammar import GeneratedSentence, generate_sentences
from morphlm_generated.phrases import UNALIGNED
from morphlm_generated.segmentation import SegmentationTable
from morphlm_generated.similarity import gold_similarity

LANGUAGES = ("gen", "en")
PARTS = ("train", "dev", "test")
LEAST_SENTENCES = 10
# Of every 20 sentences, one is for development and one is for testing. So a larger data set extends all three parts of
# a smaller one, and no test sentence of one is in the training text of another.
CYCLE = ["train"] * 20
CYCLE[4], CYCLE[9] = "dev", "test"


def write_generated(directory: Path, *, sentences: int = 20_000, seed: int = 1) -> None:
    """Write the data set into an existing, empty folder.

    train, dev and test as PART.gen.txt and PART.en.txt, train.alignment.txt, segmentation.tsv and similarity.tsv.
    """
    if sentences < LEAST_SENTENCES:
        raise ConfigError(
            f"{counted(sentences, 'sentence')} cannot be split into three parts; ask for {LEAST_SENTENCES} or more"
        )
    if not directory.is_dir() or any(directory.iterdir()):
        raise InputError("the data set needs an existing, empty folder; make one", source=str(directory))
    config = GeneratedConfig(sentences=sentences)
    with tempfile.TemporaryDirectory(prefix=".", dir=directory) as scratch:
        table = SegmentationTable(Path(scratch))
        _write_text(directory, config, seed, table)
        with atomic_writer(directory / "segmentation.tsv") as file:
            file.writelines(f"{form}\t{analysis}\n".encode() for form, analysis in table.sorted())
    with atomic_writer(directory / "similarity.tsv") as file:
        for pair in gold_similarity(config, seed):
            file.write(f"{pair.first}\t{pair.second}\t{pair.rating:.2f}\n".encode())


def _write_text(directory: Path, config: GeneratedConfig, seed: int, table: SegmentationTable) -> None:
    """Write the sentences to their parts and note the words in the table."""
    with ExitStack() as stack:
        files = {
            (part, language): stack.enter_context(atomic_writer(directory / f"{part}.{language}.txt"))
            for part in PARTS
            for language in LANGUAGES
        }
        alignment = stack.enter_context(atomic_writer(directory / "train.alignment.txt"))
        bar = stack.enter_context(progress_bar("generating", config.sentences, "sentence"))
        for number, sentence in enumerate(generate_sentences(config, seed)):
            part = CYCLE[number % len(CYCLE)]
            _write_pair(sentence, files[part, "gen"], files[part, "en"])
            if part == "train":
                alignment.write(_pharaoh(sentence).encode())
            table.add(sentence.words)
            bar.update()


def _write_pair(sentence: GeneratedSentence, generated: IO[bytes], english: IO[bytes]) -> None:
    generated.write((" ".join([word.form for word in sentence.words]) + "\n").encode())
    english.write((" ".join(sentence.gloss) + "\n").encode())


def _pharaoh(sentence: GeneratedSentence) -> str:
    """The alignment as a line of i-j pairs, in the order of the gloss."""
    pairs = [f"{source}-{j}" for j, source in enumerate(sentence.sources) if source != UNALIGNED]
    return " ".join(pairs) + "\n"
