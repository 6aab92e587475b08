"""Before ranks train together: one process a machine compiles the kernels, and all must compute the same bits.

Another type of CPU, or another BLAS, rounds sums otherwise; a training on both could be repeated nowhere. So every rank
makes a small step of the same kind of model, and those whose result differs from rank 0's are refused.
"""

from __future__ import annotations

import hashlib

import numpy as np

from morphlm.errors import ConfigError
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig
from morphlm.logbilinear.engine import Learner
from morphlm.logbilinear.kernels.records import SparseRows
from morphlm.logbilinear.kernels.wide import TokenOrigin
from morphlm.logbilinear.parameters import filled_like, initial_parameters
from morphlm.logbilinear.structure import FactorRows, Structure, WordsElsewhere, build_layout, identity_rows
from morphlm.machine import describe_machine, machine_type
from morphlm.ranks import Communicator
from morphlm.threads import workers
from morphlm.vocabulary.vocabulary import END_ID

WORDS, CLASSES, MORPHEMES, TOKENS = 300, 10, 40, 1500


def check_ranks(comm: Communicator, config: LogBilinearConfig, learning: LearningConfig) -> None:
    """Compile on one rank of each machine, load on all others; refuse ranks that compute other bits than rank 0."""
    if comm.size == 1:
        return
    digest = small_step(config, learning) if comm.node_rank == 0 else ""
    comm.all_values(None)  # the machine code is there
    found = comm.all_values((comm.host, describe_machine(machine_type()), digest or small_step(config, learning)))
    first_host, first_machine, expected = found[0]
    others = dict.fromkeys(f"{host} ({machine})" for host, machine, digest in found if digest != expected)
    if others:
        raise ConfigError(
            f"{', '.join(others)} computes other last digits than {first_host} ({first_machine}); run all ranks on one "
            "type of machine, with the same versions of morphlm and its packages"
        )


def small_step(config: LogBilinearConfig, learning: LearningConfig) -> str:
    """A hash of what a step and an evaluation of a small model come to."""
    structure, rng = _small_structure(config), np.random.default_rng(1)
    stream = rng.integers(END_ID, WORDS, TOKENS).astype(np.int32)
    stream[::20] = END_ID
    stream[-1] = END_ID
    parameters = initial_parameters(config, structure, 1, 0.1)
    squares = filled_like(parameters, learning.first_squares(config))
    with workers(1) as alone:
        learner = Learner(config, structure, parameters, squares, learning, TOKENS, alone)
        origin = TokenOrigin(stream, np.arange(TOKENS, dtype=np.int32))
        objective = learner.step(stream, 0, TOKENS, 1, origin)
        learner.decay(TOKENS)
        scores = learner.log_probabilities(stream)
    digest = hashlib.sha256(np.float64(objective).tobytes() + scores.tobytes())
    for array in (*parameters, *squares):
        digest.update(array.tobytes())
    return digest.hexdigest()


def _small_structure(config: LogBilinearConfig) -> Structure:
    """Words with two morphemes each, and classes, as far as the model has such."""
    plain, words = identity_rows(WORDS), np.arange(WORDS, dtype=np.int32)
    items = np.stack([words, WORDS + words % MORPHEMES, WORDS + words // 7 % MORPHEMES], axis=1).reshape(-1)
    factored = FactorRows(
        SparseRows(np.arange(WORDS + 1, dtype=np.int64) * 3, items.astype(np.int32)), WORDS + MORPHEMES, WORDS
    )
    class_of = words % (CLASSES if config.classes else 1)
    class_of[1] = class_of[END_ID]
    members = [words[(class_of == c) & (words != 1)] for c in range(class_of.max() + 1)]
    output = factored if config.output_factors else plain
    return Structure(
        vocabulary=WordsElsewhere((), np.arange(WORDS, 0, -1, dtype=np.int64)),
        partition=None,
        factors=None,
        context=factored if config.context_factors else plain,
        output=output,
        layout=build_layout(members, output),
        class_of=class_of,
    )
