"""A command that mpirun or srun has started several times: rank 0 runs it, the others help where it asks for them."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from morphlm import command
from morphlm.errors import MorphlmError
from morphlm.progress import messages_to

if TYPE_CHECKING:
    from morphlm.ranks import Communicator

# What mpirun and srun set: the number of processes, and that of this one.
SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
NUMBERS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK")
COMMANDS = ("train", "tune", "reproduce", "translate")  # those that have work for several ranks
TRANSLATION = ("build", "tune", "decode")  # subcommands of `translate` that have; others run at rank 0 alone


def _variable(names: Sequence[str]) -> int | None:
    return next((int(os.environ[name]) for name in names if os.environ.get(name, "").isdigit()), None)


def started_rank() -> tuple[int, int]:
    """Which of how many processes of mpirun or srun this is; (0, 1) if it is none."""
    number, count = _variable(NUMBERS), _variable(SIZES)
    return (0, 1) if number is None or count is None else (number, count)


def run_ranked(arguments: Sequence[str], run: Callable[[], int]) -> int:
    """The exit status of the command, at rank 0; the others have 0."""
    number, count = started_rank()
    if count == 1 or arguments[:1] == [] or arguments[0] not in COMMANDS:
        return run()
    if arguments[0] == "translate" and not set(arguments[1:2]) & set(TRANSLATION):
        return run() if number == 0 else 0
    from morphlm import ranks  # noqa: PLC0415  # with NumPy, which takes longer to load than a page of help

    try:
        comm = ranks.world()
    except MorphlmError:
        if number == 0:
            raise
        return 2  # rank 0 says why
    command.arguments = ()  # no helpers compile beside: what MPI has in memory does not bear being forked
    return _lead(comm, run) if comm.is_first else _follow(comm)


def _lead(comm: Communicator, run: Callable[[], int]) -> int:
    """Run the command, then let the others go; if they are in the midst of something, they are stopped."""
    from morphlm import ranks  # noqa: PLC0415

    status = 1
    try:
        with ranks.using(comm):
            status = run()
    except BaseException as error:
        if comm.are_waiting or isinstance(error, SystemExit):
            raise
        traceback.print_exception(error)
    finally:
        if comm.are_waiting:
            comm.dismiss()
        else:
            sys.stdout.flush()
            comm.abort(status)
    return status


def _follow(comm: Communicator) -> int:
    """Help rank 0, which hears of Ctrl-C too, and say nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, messages_to(nowhere):
            comm.serve()
    except BaseException as error:
        print(f"morphlm: rank {comm.rank} on {comm.host} failed:", file=sys.stderr)
        traceback.print_exception(error)
        comm.abort()
    return 0
