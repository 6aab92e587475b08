"""A small raw text in a made-up language, and a way to learn from it within seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from morphlm.learning.record import LearnRecord, read_record

STEMS = ("škol", "dom", "řek", "ulic", "pol", "měst", "les", "hor", "kniž", "zahrad", "stol", "okn")
ENDINGS = ("a", "u", "ou", "y", "em", "ám")


def sentence(rng: np.random.Generator) -> str:
    """Endings tend to be repeated; now and then comes a word of its own."""
    ending = ENDINGS[rng.integers(len(ENDINGS))]
    words = [STEMS[rng.integers(len(STEMS))] + ending for _ in range(int(rng.integers(3, 9)))]
    if rng.random() < 0.3:
        words.append("zvlášt" + "".join("abcdefghij"[k] for k in rng.integers(0, 10, 3)))
    return " ".join(words).capitalize() + "."


def paragraphs(count: int, seed: int = 1) -> list[str]:
    """Paragraphs of four sentences each, about 30 tokens."""
    rng = np.random.default_rng(seed)
    return [" ".join(sentence(rng) for _ in range(4)) for _ in range(count)]


def write_text(path: Path, count: int = 100, seed: int = 1) -> Path:
    """A raw text with a paragraph a line."""
    path.write_text("".join(f"{paragraph}\n" for paragraph in paragraphs(count, seed)))
    return path


def record_of(out: Path) -> LearnRecord:
    return read_record(out / "learn.json")


def model_bytes(out: Path) -> dict[str, bytes]:
    """Every file of the model, the segmenter and the texts."""
    folders = [out / name for name in ("model", "segmenter", "text", "vectors")]
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in paths}
