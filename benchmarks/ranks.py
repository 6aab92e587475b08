"""What several ranks of MPI cost and save, as a share of one process in the same run.

    python benchmarks/ranks.py [--ranks 2,4] [--kind clbl++] [--words 206000] [--classes 454] [--width 100]
                               [--batch 40000] [--steps 4] [--mpirun mpirun]
    python benchmarks/ranks.py --memory [--words 1000000] [--classes 1000] [--ranks 4]
    python benchmarks/ranks.py --model [--seconds 35] [--cores 8] [--gigabits 10] [--batch 10000] [--words 900000]

The workload is that of benchmarks/logbilinear.py. Printed for each number of ranks: CPU seconds of a rank and step as a
share of one process (the mean over ranks, and the largest), bytes that a rank receives in a step next to the formula of
docs/scaling.md, and the time of a step. With --memory, an epoch is trained with a checkpoint and a model at its end;
the peak of each rank's own memory (without pages of files, which the system takes back when it needs them) is compared
with that of one process. Ranks have one thread each, and --one-core puts all of them on one core, where they take
turns: hyperthreads that work at once take longer for the same work, each by CPU time too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from logbilinear import make_workload
from morphlm.cli.ranked import started_rank
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.engine import Learner
from morphlm.logbilinear.parameters import filled_like
from morphlm.logbilinear.shards import LocalModel
from morphlm.logbilinear.structure import build_structure
from morphlm.ranks import ALONE, Communicator, world
from morphlm.threads import workers
from morphlm.training.config import recipe
from morphlm.training.loop import TrainingTask, _initial_parameters, train_model
from morphlm.training.rank_state import Arrangement
from morphlm.vocabulary.corpus import Corpus

WARM_UP = 2  # steps
# Of the model: the share of a step's work that every rank does, measured with 2 and 4 ranks; different words of
# contexts and morphemes in them, by token of a minibatch; messages of a step, seconds of one, TCP's share of a network
REPLICATED, CONTEXT_WORDS, TOUCHED = 0.085, 0.6, 0.8
MESSAGES, LATENCY, EFFICIENCY = 12, 3e-5, 0.8


def make_task(arguments: argparse.Namespace, tokens: int) -> TrainingTask:
    vocabulary, partition, factors, text = make_workload(arguments.words, arguments.classes, tokens)
    config = variant(arguments.kind, width=arguments.width)
    training = recipe("default", batch=arguments.batch, epochs=1)
    structure = build_structure(config, vocabulary, partition, factors)
    return TrainingTask(config, structure, training, Corpus(text, vocabulary), Corpus(text[:20_000], vocabulary), {})


# ---------------------------------------------------------------- at every rank


def time_steps(comm: Communicator, arguments: argparse.Namespace) -> dict[str, Any]:
    """CPU and wall seconds of a step, bytes received, and what the formula says."""
    task = make_task(arguments, arguments.batch * (arguments.steps + WARM_UP))
    learning = task.training.learning
    arrangement = Arrangement.of(task.structure, learning.shards, task.batch)
    local = LocalModel.of(arrangement.structure, arrangement.sharding, comm)
    parameters = _initial_parameters(task, arrangement, local)
    text, squares = task.train.tokens, filled_like(parameters, 1.0)
    with workers(1) as alone:
        learner = Learner(task.config, local.structure, parameters, squares, learning, len(text), alone, local)
        for number in range(arguments.steps + WARM_UP):
            if number == WARM_UP:
                comm.all_values(None)
                cpu, wall, received = time.process_time(), time.monotonic(), getattr(comm, "bytes_received", 0)
            begin = number * task.batch
            learner.step(text, begin, begin + task.batch, number)
        count, begins = arguments.steps, range(WARM_UP * task.batch, len(text), task.batch)
        return {
            "cpu": (time.process_time() - cpu) / count,
            "wall": (time.monotonic() - wall) / count,
            "bytes": (getattr(comm, "bytes_received", 0) - received) / count,
            "formula": sum(formula(learner, text, begin, begin + task.batch, 0) for begin in begins) / count,
        }


def formula(learner: Learner, text: np.ndarray, begin: int, end: int, key: int) -> float:
    """Bytes that a rank receives in a step, on average: docs/scaling.md has it in words."""
    ranks, width = learner.place.comm.size, learner.config.width
    if ranks == 1:
        return 0.0
    words = len(learner.plan(text, begin, end, key).words)
    output, context = learner.local.output.shared, learner.local.context.shared
    touched = np.zeros(context.held.shape, np.bool_)
    for word in np.unique(text[begin:end]):
        shared = context.of_word
        touched[learner.sharding.shard_of_word[word], shared.items[shared.starts[word] : shared.starts[word + 1]]] = (
            True
        )
    rows = [shared_rows(output.held, output.held, learner), shared_rows(context.held, touched, learner)]
    dense = 2 * (learner.structure.classes + learner.config.distances) * (ranks - 1)
    gathered = (end - begin + words) * (ranks - 1)
    return 4.0 * width * (gathered + dense + sum(rows)) / ranks


def shared_rows(held: np.ndarray, touched: np.ndarray, learner: Learner) -> int:
    """Rows of shared factors that go to another rank and back: holders of those that were touched, but the owner."""
    ranks = [learner.place.shards_of(rank) for rank in range(learner.place.comm.size)]
    holders = np.array([held[shards.start : shards.stop].any(axis=0) for shards in ranks])
    senders = np.array([touched[shards.start : shards.stop].any(axis=0) for shards in ranks])
    is_touched = touched.any(axis=0)
    others = np.maximum(senders.sum(axis=0) - 1, 0) + np.maximum(holders.sum(axis=0) - 1, 0)
    return int(others[is_touched].sum())


def measure_memory(comm: Communicator, arguments: argparse.Namespace) -> dict[str, Any]:
    """The peak of a rank's own memory in a training, in MB."""
    peak = [0]
    threading.Thread(target=_watch, args=(peak,), daemon=True).start()
    if comm.is_first:
        task = make_task(arguments, 5 * arguments.batch)
        with tempfile.TemporaryDirectory() as folder:
            train_model(task, Path(folder) / "model", threads=1, checkpoint_minutes=0.0, comm=comm)
        comm.dismiss()
    else:
        comm.serve()
    return {"memory": peak[0] / 1024}


def _watch(peak: list[int]) -> None:
    """Sample the anonymous memory of this process, in kB."""
    while True:
        status = Path("/proc/self/status").read_text()
        peak[0] = max(peak[0], int(status.partition("RssAnon:")[2].split()[0]))
        time.sleep(0.02)


# ---------------------------------------------------------------- around them


def measure(arguments: argparse.Namespace, ranks: int) -> list[dict[str, Any]]:
    own = [sys.executable, __file__, "--worker", *sys.argv[1:]]
    command = own if ranks == 1 else [arguments.mpirun, "-n", str(ranks), *own]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def report(ranks: int, alone: dict[str, Any], results: list[dict[str, Any]]) -> str:
    if "memory" in alone:
        memory = [result["memory"] for result in results]
        return f"{ranks} ranks: {max(memory):,.0f} MB at most, {max(memory) / alone['memory']:.1%} of one process" + (
            f"; rank 0 {memory[0]:,.0f} MB, the others {np.mean(memory[1:]):,.0f} MB" if ranks > 1 else ""
        )
    cpu = [result["cpu"] for result in results]
    received, predicted = (np.mean([result[name] for result in results]) / 1e6 for name in ("bytes", "formula"))
    return (
        f"{ranks} ranks: CPU of a rank {np.mean(cpu) / alone['cpu']:.1%} of one process (at most "
        f"{max(cpu) / alone['cpu']:.1%}; {np.mean(cpu):.3f} s a step), {received:.2f} MB received a step "
        f"(formula {predicted:.2f}), {results[0]['wall']:.3f} s a step"
    )


def model_table(arguments: argparse.Namespace) -> str:
    """Hours for a billion tokens by 1 to 64 nodes, one rank each, as docs/scaling.md derives them."""
    lines = ["nodes   computing   network   hours   times one"]
    alone = 0.0
    for nodes in (1, 2, 4, 8, 16, 32, 64):
        step = arguments.seconds * arguments.batch / 1e6 / arguments.cores
        computing = step * (REPLICATED + (1 - REPLICATED) / nodes)
        rows = arguments.batch + CONTEXT_WORDS * arguments.batch + 2 * (arguments.morphemes + arguments.classes)
        rows += 2 * min(arguments.morphemes, TOUCHED * arguments.batch)
        received = 4 * arguments.width * rows * (nodes - 1) / nodes
        network = received / (arguments.gigabits * 1e9 / 8 * EFFICIENCY) + MESSAGES * LATENCY * np.log2(nodes)
        hours = (computing + network) * 1e9 / arguments.batch / 3600
        alone = alone or hours
        lines.append(f"{nodes:5} {computing:10.4f}s {network:8.4f}s {hours:7.1f} {alone / hours:10.1f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--kind", default="clbl++")
    parser.add_argument("--words", type=int, default=206_000)
    parser.add_argument("--classes", type=int, default=454)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--batch", type=int, default=40_000)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--one-core", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--model", action="store_true", help="a table of what to expect, computed and not measured")
    parser.add_argument("--seconds", type=float, default=35.0, help="CPU seconds of one process for a million tokens")
    parser.add_argument("--cores", type=int, default=8, help="of a node")
    parser.add_argument("--gigabits", type=float, default=10.0, help="of the network in a second")
    parser.add_argument("--morphemes", type=int, default=60_000, help="shared factors")
    arguments = parser.parse_args()
    if arguments.model:
        print(model_table(arguments))
        return
    if arguments.worker:
        if arguments.one_core:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        comm = world() if started_rank()[1] > 1 else ALONE
        result = (measure_memory if arguments.memory else time_steps)(comm, arguments)
        results = comm.all_values(result)
        if comm.is_first:
            print(json.dumps(results))
        return
    (alone,) = measure(arguments, 1)
    print(report(1, alone, [alone]), flush=True)
    for ranks in map(int, arguments.ranks.split(",")):
        print(report(ranks, alone, measure(arguments, ranks)), flush=True)


if __name__ == "__main__":
    main()
