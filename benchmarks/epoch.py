"""CPU seconds of an epoch on a real text, and the time until the first minibatch is done, in a process that just began.

    python benchmarks/epoch.py TRAIN DEV STAGES [--kind clbl++] [--width 100] [--threads 2] [--gather 64] [--epochs 1]

STAGES is a folder where vocabulary, segmenter and classes are found or kept; run it twice, so that these are there and
the kernels compiled. The recipe is the default one, with dropout and weight decay, but the step stays as it is. The
development perplexity after each epoch is printed too.
"""

from __future__ import annotations

import time

STARTED = time.perf_counter()  # before the heavy imports

import argparse  # noqa: E402
import math  # noqa: E402

from morphlm.logbilinear.config import VARIANTS  # noqa: E402
from morphlm.logbilinear.engine import DECAY_EVERY, Learner  # noqa: E402
from morphlm.logbilinear.gathering import gathering_of_epoch  # noqa: E402
from morphlm.logbilinear.kernels.wide import TokenOrigin  # noqa: E402
from morphlm.logbilinear.parameters import filled_like, initial_parameters  # noqa: E402
from morphlm.logbilinear.structure import arranged_by_class  # noqa: E402
from morphlm.threads import (  # noqa: E402
    Workers,
    available_cores,
    workers,
)
from morphlm.training.batches import minibatch_key, shuffled_positions  # noqa: E402
from morphlm.training.inputs import InputOptions  # noqa: E402
from morphlm.training.logbilinear import training_task  # noqa: E402
from morphlm.training.loop import TrainingTask  # noqa: E402
from morphlm.training.pipeline import ModelOptions, inputs_of  # noqa: E402


def new_learner(task: TrainingTask, pool: Workers) -> Learner:
    """With initial parameters, as training makes them."""
    training = task.training
    structure, order = arranged_by_class(task.structure)
    parameters = initial_parameters(task.config, task.structure, 1, training.init_std, near_identity=True)
    parameters = parameters._replace(R=parameters.R[order])
    squares = filled_like(parameters, training.learning.first_squares(task.config))
    return Learner(task.config, structure, parameters, squares, training.learning, len(task.train.tokens), pool)


def measure(task: TrainingTask, learner: Learner, epoch: int, ready: float) -> None:
    """One epoch, minibatch by minibatch, as training does it."""
    text, length = task.train.tokens, task.batch
    origin = TokenOrigin(text, shuffled_positions(text, 1, epoch))
    stream = text[origin.positions]
    gathering = gathering_of_epoch(task.config, learner.structure, task.training.learning)
    undecayed = 0
    cpu, wall = time.process_time(), time.perf_counter()
    for number, begin in enumerate(range(0, len(stream), length)):
        end = min(begin + length, len(stream))
        gathered = None if gathering is None else gathering.next(stream, begin, end)
        learner.step(stream, begin, end, minibatch_key(1, epoch, number), origin, gathered)
        undecayed += end - begin
        if number == 0 and epoch == 0:
            now = time.perf_counter()
            print(f"first minibatch {now - STARTED:.1f} s after the start, {now - ready:.1f} s after the text was read")
        if (number + 1) % DECAY_EVERY == 0 or end == len(stream):
            learner.decay(undecayed)
            undecayed = 0
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    types = len(task.structure.vocabulary)
    print(f"{task.config.kind}, d = {task.config.width}, {len(stream):,} tokens, {types:,} types, L = {length:,}")
    threads = learner.workers.threads
    print(
        f"epoch {epoch + 1}: {cpu:.1f} CPU s, {wall:.1f} s with {threads} threads, {len(stream) / wall:,.0f} tokens/s"
    )
    logprobs = learner.log_probabilities(task.dev.tokens)
    print(f"development perplexity {math.exp(-math.fsum(logprobs) / len(logprobs)):.2f}", flush=True)
    learner.tidy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("stages")
    parser.add_argument("--kind", choices=VARIANTS, default="clbl++")
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--gather", type=int, help="tokens of a class that learn its words together")
    parser.add_argument("--epochs", type=int, default=1)
    options = parser.parse_args()
    settings = {} if options.gather is None else {"gather": options.gather}
    choices = ModelOptions(settings, width=options.width)
    inputs = inputs_of([options.kind], options.train, options.dev, InputOptions(), options.stages)
    gathered = time.perf_counter()
    task = training_task(options.kind, inputs, choices.of(options.kind))
    with workers(options.threads) as pool:
        learner = new_learner(task, pool)
        for epoch in range(options.epochs):
            measure(task, learner, epoch, gathered)


if __name__ == "__main__":
    main()
