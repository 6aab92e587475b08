"""Perplexity of neural models after so many CPU seconds of training, on the text and vocabulary of ours.

    python -m benchmarks.neural.train CORPUS VOCABULARY OUT --model word-lstm --seconds 180 540 1800

CORPUS is a folder of benchmarks/make_corpora.py (train, dev and test of a language), VOCABULARY one of `morphlm vocab`
or of a model directory. Needs the packages torch and sentencepiece. Each budget is a training of its own, whose step
size falls linearly to nothing by its end (its CPU seconds are those of all threads, evaluations left out); the weights
with the lowest development perplexity count. A training stores checkpoints in OUT and goes on where it was interrupted;
what is complete is only printed. Perplexities count unknown words as UNK and the ends of sentences, as ours do; the
Transformer has no UNK: its figures are per word with unknown words spelled, and bits per character.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from benchmarks.neural.models import SIZES, CharacterLSTM, PieceTransformer, Sizes, WordLSTM
from benchmarks.neural.text import PieceStream, WordStream, characters_of
from torch import Tensor, nn

EVALUATIONS = 12  # in a training, at equal distances of CPU time
CHECKPOINT_SECONDS = 120.0  # of CPU time between checkpoints
LARGEST_GRADIENT = 0.5
PIECES = 8_000


@dataclass(frozen=True)
class Part:
    """A text: its ids, the tokens that perplexity is per, and its characters."""

    stream: Tensor
    tokens: int
    characters: int


@dataclass
class Progress:
    """Where a training is."""

    position: int = 0  # of the next minibatch in every row of the text
    epoch: int = 0
    seconds: float = 0.0
    best: float = math.inf  # development perplexity
    evaluations: list[dict[str, float]] = field(default_factory=list)


def build(name: str, corpus: Path, vocabulary: Path, out: Path) -> tuple[nn.Module, dict[str, Part]]:
    """The model, and the texts as it reads them."""
    language = corpus.name
    paths = {part: corpus / f"{part}.{language}.txt" for part in ("train", "dev", "test")}
    sizes = SIZES[name]
    if name == "transformer":
        stream: Any = PieceStream.train(paths["train"], out / "pieces", PIECES)
        model: nn.Module = PieceTransformer(sizes, len(stream))
    else:
        stream = WordStream.from_vocabulary(vocabulary)
        size = len(stream.words)
        model = WordLSTM(sizes, size) if name == "word-lstm" else CharacterLSTM(sizes, stream.spellings())
    parts = {part: Part(*stream.encode(path), characters_of(path)) for part, path in paths.items()}
    return model, parts


def in_rows(stream: Tensor, rows: int) -> Tensor:
    """The text as parallel streams.  # (T, rows)"""
    length = len(stream) // rows
    return stream[: length * rows].reshape(rows, length).T.contiguous()


@torch.no_grad()
def evaluate(model: nn.Module, part: Part, steps: int) -> float:
    """Nats of a whole text but its first id, read in one stream; the Transformer sees half a window before each id."""
    model.eval()
    text, total, state = part.stream[:, None], 0.0, None
    is_windowed = isinstance(model, PieceTransformer)
    stride = steps // 2 if is_windowed else steps
    for begin in range(0, len(text) - 1, stride):
        first = max(0, begin - (steps - stride))
        end = min(begin + stride, len(text) - 1)
        loss, state = model(text[first:end], text[first + 1 : end + 1], state)
        total += float(loss[begin - first :].sum())
    model.train()
    return total


class Trainer:
    """One training with a budget of CPU seconds."""

    def __init__(self, model: nn.Module, sizes: Sizes, parts: dict[str, Part], out: Path, budget: float) -> None:
        self.model, self.sizes, self.parts, self.budget = model, sizes, parts, budget
        self.text = in_rows(parts["train"].stream, sizes.rows)
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=sizes.rate, weight_decay=1e-2, betas=(0.9, 0.99))
        self.progress, self.state = Progress(), None
        self.checkpoint, self.best = out / f"{budget:.0f}.checkpoint", out / f"{budget:.0f}.best"

    def run(self) -> Progress:
        self._resume()
        evaluated = len(self.progress.evaluations)
        saved = self.progress.seconds
        while self.progress.seconds < self.budget:
            self._step()
            if self.progress.seconds >= (evaluated + 1) * self.budget / EVALUATIONS:
                self._evaluate()
                evaluated = len(self.progress.evaluations)
            if self.progress.seconds - saved > CHECKPOINT_SECONDS:
                saved = self.progress.seconds
                self._save()
        if not evaluated or self.progress.evaluations[-1]["seconds"] < self.progress.seconds:
            self._evaluate()
        self._save()
        return self.progress

    def _step(self) -> None:
        began, progress, sizes = time.process_time(), self.progress, self.sizes
        if progress.position >= len(self.text) - 1:
            progress.position, progress.epoch, self.state = 0, progress.epoch + 1, None
        end = min(progress.position + sizes.steps, len(self.text) - 1)
        inputs, targets = self.text[progress.position : end], self.text[progress.position + 1 : end + 1]
        for group in self.optimiser.param_groups:
            warmup = min(1.0, progress.seconds / (0.02 * self.budget) + 0.01)
            group["lr"] = sizes.rate * warmup * max(0.0, 1 - progress.seconds / self.budget)
        loss, self.state = self.model(inputs, targets, self.state)
        self.optimiser.zero_grad(set_to_none=True)
        loss.mean().backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), LARGEST_GRADIENT)
        self.optimiser.step()
        progress.position = end
        progress.seconds += time.process_time() - began

    def _evaluate(self) -> None:
        dev = self.parts["dev"]
        perplexity = math.exp(evaluate(self.model, dev, self.sizes.steps) / dev.tokens)
        row = {"seconds": self.progress.seconds, "epoch": self.progress.epoch, "dev": perplexity}
        self.progress.evaluations.append(row)
        print(json.dumps(row), flush=True)
        if perplexity < self.progress.best:
            self.progress.best = perplexity
            write(self.best, self.model.state_dict())

    def _save(self) -> None:
        content = {"model": self.model.state_dict(), "optimiser": self.optimiser.state_dict()}
        random = torch.get_rng_state()
        write(self.checkpoint, {**content, "progress": vars(self.progress), "state": self.state, "random": random})

    def _resume(self) -> None:
        if self.checkpoint.exists():
            stored = torch.load(self.checkpoint, weights_only=True)
            self.model.load_state_dict(stored["model"])
            self.optimiser.load_state_dict(stored["optimiser"])
            self.progress, self.state = Progress(**stored["progress"]), stored["state"]
            torch.set_rng_state(stored["random"])


def write(path: Path, content: Any) -> None:
    partial = path.with_suffix(".part")
    torch.save(content, partial)
    partial.replace(path)


def result(trainer: Trainer, name: str) -> dict[str, Any]:
    """The figures of the best weights on the test text."""
    trainer.model.load_state_dict(torch.load(trainer.best, weights_only=True))
    test = trainer.parts["test"]
    nats = evaluate(trainer.model, test, trainer.sizes.steps)
    found: dict[str, Any] = {
        "model": name,
        "budget": trainer.budget,
        "epochs": trainer.progress.epoch,
        "parameters": sum(weights.numel() for weights in trainer.model.parameters()),
        "dev": trainer.progress.best,
        "test": math.exp(nats / test.tokens),
    }
    if name == "transformer":
        found["bits_per_character"] = nats / math.log(2) / test.characters
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", choices=SIZES, required=True)
    parser.add_argument("--seconds", type=float, nargs="+", default=[180, 540, 1800])
    parser.add_argument(
        "--threads", type=int, default=1, help="more take more CPU seconds, as they wait for each other"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    out = options.out / options.model
    out.mkdir(parents=True, exist_ok=True)
    for budget in options.seconds:
        done = out / f"{budget:.0f}.json"
        if not done.exists():
            torch.manual_seed(options.seed)
            model, parts = build(options.model, options.corpus, options.vocabulary, out)
            trainer = Trainer(model, SIZES[options.model], parts, out, budget)
            trainer.run()
            done.write_text(json.dumps(result(trainer, options.model)))
        print(done.read_text(), flush=True)


if __name__ == "__main__":
    main()
