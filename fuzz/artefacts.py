"""Small models, systems, records and files that the package itself writes: what the fuzzer begins from."""

from __future__ import annotations

import io
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

import morphlm
from morphlm.experiments.store import Record, Store
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import filled_like
from morphlm.segmentation.segmenter import train_segmenter
from morphlm.text.datasets.registry import get_dataset
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_files
from morphlm.training.checkpoint import Progress, write_checkpoint
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.tuning import TuningText, tune_system
from morphlm.translation.tuning.loop import TuningConfig
from morphlm.translation.tuning.mert import MertConfig

STEMS, ENDINGS = ("škol", "dom", "řek", "měst"), ("a", "u", "ou")
WORDS = [stem + ending for stem in STEMS for ending in ENDINGS]
IDENTITY = "fuzz"  # of the checkpoint
STEP, STEP_KEY = "corpus", "0123456789abcdef" * 4  # of the record of an experiment
TRANSLATED = ("the small house", "a house .")  # what the translation system is asked


def sentences(count: int, seed: int = 1) -> list[list[str]]:
    """Sentences of a few words with stems and endings."""
    rng = np.random.default_rng(seed)
    return [[WORDS[word] for word in rng.integers(len(WORDS), size=rng.integers(1, 6))] for _ in range(count)]


def make_artefacts(folder: Path) -> Path:
    """Fill a folder: one entry for each target that begins from an artefact."""
    folder.mkdir(parents=True, exist_ok=True)
    _make_models(folder)
    _make_system(folder)
    _make_vectors(folder)
    _make_records(folder)
    return folder


def _make_models(folder: Path) -> None:
    train, dev = sentences(40), sentences(8, seed=2)
    mkn = morphlm.train_ngram(train, order=3)
    mkn.save(folder / "mkn")
    mkn.write_arpa(folder / "model.arpa")
    mkn.vocabulary.save(folder / "vocabulary.tsv")
    segmenter = train_segmenter(dict.fromkeys(WORDS, 2))
    segmenter.save(folder / "segmenter")
    options: dict[str, Any] = {"kappa": 0, "order": 3, "width": 3, "epochs": 1, "classes": 3}
    model = morphlm.train("clbl++", train, dev, out=folder / "clbl++", factors=segmenter, **options)
    assert isinstance(model, LogBilinearModel)
    for name, factors in (("ngrams", "ngrams:2-3"), ("pieces", "bpe:30")):
        morphlm.train("clbl+c", train, dev, out=folder / name, factors=factors, **options)
    squares = filled_like(model.parameters, 1.0)
    write_checkpoint(folder / "checkpoint", IDENTITY, Progress(), model.parameters, squares)
    mixture = morphlm.mix([morphlm.load(folder / "mkn"), model], dev)
    mixture.save(folder / "mixture")
    morphlm.export_compiled(mixture, folder / "model.mlm")


def _make_system(folder: Path) -> None:
    source = ["the house", "the small house", "a house .", "the man sees a small house ."]
    target = ["la casa", "la casa pequeña", "una casa .", "el hombre ve una casa pequeña ."]
    for name, lines in (("source.txt", source), ("target.txt", target)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    (folder / "rules").write_text("[X] ||| the [X,1] ||| la [X,1] ||| EgivenF=-0.4 Mine=1 ||| 0-0\n")
    morphlm.train_ngram(folder / "target.txt", order=2).save(folder / "lm")
    config = SystemConfig(tokenise=False).with_decoder(pop_limit=10)
    models = [NamedModel("mkn", folder / "lm")]
    texts = Sources(folder / "source.txt", folder / "target.txt", models=models, extra_rules=folder / "rules")
    build_system(folder / "system", texts, config, threads=1)
    text = TuningText(*(tuple(tuple(line.split()) for line in lines) for lines in (source, target)))
    tune_system(folder / "system", text, TuningConfig(kbest=5, iterations=1, mert=MertConfig(restarts=1)), seeds=(1,))


def _make_vectors(folder: Path) -> None:
    vectors = morphlm.load(folder / "clbl++").vectors
    place = folder / "vectors"
    place.mkdir()
    for name in ("word2vec", "word2vec-binary", "npy", "safetensors"):
        suffix = {"word2vec": ".txt", "word2vec-binary": ".bin"}.get(name, f".{name}")
        morphlm.export_vectors(vectors, place / f"vectors{suffix}", name)
    (place / "fasttext.bin").write_bytes(_fasttext_model(list(vectors.words[:3]), buckets=7, width=2))


def _fasttext_model(words: list[str], buckets: int, width: int) -> bytes:
    """A small model as fastText writes it, with n-grams of 2 to 3 letters."""
    settings = struct.pack("<12id", width, 5, 5, 1, 5, 1, 2, 2, buckets, 2, 3, 100, 1e-4)
    sizes = struct.pack("<3i2q", len(words), len(words), 0, 100, -1)
    entries = b"".join(word.encode() + b"\0" + struct.pack("<qb", 5, 0) for word in words)
    shapes = ((len(words) + buckets, width), (len(words), width))
    matrices = (b"\0" + struct.pack("<2q", *shape) + np.ones(shape, "<f4").tobytes() for shape in shapes)
    return struct.pack("<2i", 793712314, 12) + settings + sizes + entries + b"".join(matrices)


def _make_records(folder: Path) -> None:
    _make_package(folder / "package.deb")
    (folder / "raw.txt").write_text("Pro novou školu.\nPro děti 2012.\n" * 20)
    (folder / "prepared").mkdir()
    prepare_files([folder / "raw.txt"], folder / "prepared" / "text.txt", PrepareOptions(language="cs"), processes=1)
    get_dataset(folder / "raw.txt", folder / "dataset", language="cs")
    record = Record(STEP_KEY, STEP, "corpus cs", 1.5, 1.0, True, {"tokens": 7}, {})
    Store(folder / "store").shelf(STEP).keep(STEP_KEY, record)


def _make_package(path: Path) -> None:
    """A Debian package with one file: an `ar` archive that holds a compressed tar archive."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        entry = tarfile.TarInfo("./usr/share/page.html")
        entry.size = 5
        tar.addfile(entry, io.BytesIO(b"<p>x\n"))
    members = {"debian-binary": b"2.0\n", "data.tar.gz": archive.getvalue()}
    content = b"!<arch>\n"
    for name, data in members.items():
        content += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
        )
    path.write_bytes(content)
