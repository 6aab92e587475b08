"""The shortcuts leave instructions, events and messages as Numba has them, and nothing of them stays."""

from __future__ import annotations

import gc
import importlib
import io
import itertools
from typing import Any

import numba
import numpy as np
import pytest

from morphlm.compiling import njit
from morphlm.compiling import shortcuts as module
from morphlm.compiling.helpers import PLANS
from morphlm.compiling.kernel import Kernel
from morphlm.compiling.lowering import KernelLowering
from morphlm.compiling.shortcuts import _if_heard, post_process, shortcuts
from morphlm.compiling.signatures import kernel_named, parse_signature

bytecode: Any = importlib.import_module("numba.core.bytecode")
cpu_target: Any = importlib.import_module("numba.core.registry").cpu_target
errors: Any = importlib.import_module("numba.core.errors")
event: Any = importlib.import_module("numba.core.event")
inline_closurecall: Any = importlib.import_module("numba.core.inline_closurecall")
ir: Any = importlib.import_module("numba.core.ir")
ir_utils: Any = importlib.import_module("numba.core.ir_utils")
postproc: Any = importlib.import_module("numba.core.postproc")
run_frontend: Any = importlib.import_module("numba.core.compiler").run_frontend
unboxers: Any = importlib.import_module("numba.core.pythonapi")._unboxers.functions

PLANNED = dict(line.split("\t")[1:] for line in PLANS.read_text().splitlines())  # name of a kernel -> signature
WITH_LOOPS = (
    "morphlm.segmentation.kernels.baseline.search",
    "morphlm.classes.kernels.move_words",
    "morphlm.ngram.kernels.interpolate",
    "morphlm.ngram.kernels.score_tokens",
)
WITH_INLINED = (
    "morphlm.logbilinear.kernels.context.update_factors",
    "morphlm.logbilinear.kernels.softmax.class_softmax",
    "morphlm.logbilinear.kernels.query.log_probability",
)


def text_of(function: Any) -> str:
    """All blocks and instructions, `del`s among them."""
    text = io.StringIO()
    function.dump(file=text)
    return text.getvalue()


class StopError(Exception):
    """Raised where LLVM's code would be made."""


@pytest.fixture
def instructions(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compiles a kernel up to its last instructions, with Numba's counters as they were in the run before."""
    final: dict[Any, Any] = {}
    lower: Any = KernelLowering.run_pass

    def stop(lowering: Any, state: Any) -> Any:
        if state.func_id.func in final:
            final[state.func_id.func] = state.func_ir
            raise StopError
        return lower(lowering, state)

    def compile_once(function: Any, options: dict[str, Any], signature: tuple[Any, ...]) -> Any:
        final[function] = None
        with pytest.raises(StopError):
            Kernel(function, targetoptions=dict(options)).compile(signature)
        return final.pop(function)

    def compile_twice(name: str) -> Any:
        kernel, signature = kernel_named(name), parse_signature(PLANNED[name])
        compile_once(kernel.py_func, kernel.targetoptions, signature)  # callees are there from now on
        # Names of inlined variables and labels of blocks; no code is made of them.
        monkeypatch.setattr(bytecode.FunctionIdentity, "_unique_ids", itertools.count(10**9))
        monkeypatch.setattr(ir_utils._the_max_label, "_value", 10**9)
        return compile_once(kernel.py_func, kernel.targetoptions, signature)

    monkeypatch.setattr(KernelLowering, "run_pass", stop)
    return compile_twice


# ---------------------------------------------------------------- lifetimes of variables


@pytest.mark.parametrize("name", [*WITH_LOOPS, *WITH_INLINED])
def test_instructions_end_as_if_lifetimes_were_found_after_each_pass(
    name: str, instructions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = text_of(instructions(name))
    runs: list[bool] = []

    def numbas_run(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        runs.append(emit_dels)
        module._post_process(processor, emit_dels, extend_lifetimes)

    monkeypatch.setattr(module, "post_process", numbas_run)
    assert text_of(instructions(name)) == short
    assert short.count("\n    del ") > 20
    assert True in runs and False in runs


@pytest.mark.parametrize("extend_lifetimes", [False, True])
@pytest.mark.parametrize("emit_dels", [False, True])
def test_one_pass_gives_the_instructions_of_numbas(emit_dels: bool, extend_lifetimes: bool) -> None:
    for name in PLANNED:
        ours, numbas = (run_frontend(kernel_named(name).py_func) for _ in range(2))
        post_process(postproc.PostProcessor(ours), emit_dels, extend_lifetimes)
        postproc.PostProcessor(numbas).run(emit_dels, extend_lifetimes)
        assert text_of(ours) == text_of(numbas), name
        assert ("\n    del " in text_of(ours)) == emit_dels
        lifetimes = [function.variable_lifetime.deadmaps for function in (ours, numbas)]
        assert lifetimes[0].internal == lifetimes[1].internal and lifetimes[0].escaping == lifetimes[1].escaping


def counted_down(n: int) -> Any:
    step = 2
    while n > 0:
        yield n * step
        n -= 1


def test_generators_have_their_variables_between_two_values() -> None:
    ours, numbas = (run_frontend(counted_down) for _ in range(2))
    post_process(postproc.PostProcessor(ours))
    postproc.PostProcessor(numbas).run()
    assert ours.generator_info.state_vars == numbas.generator_info.state_vars != []
    values = njit()(counted_down)

    @njit()
    def add_up(n: int) -> int:
        total = 0
        for value in values(n):
            total += value
        return total

    assert add_up(4) == 2 * (4 + 3 + 2 + 1)


# ---------------------------------------------------------------- inlined functions


@pytest.mark.parametrize("name", WITH_INLINED)
def test_inlined_functions_have_the_instructions_of_copies(
    name: str, instructions: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    inlined: list[Any] = []

    def with_copies(worker: Any, *arguments: Any) -> Any:
        inlined.append(arguments[3])
        return module._inline_function(worker, *arguments)

    without = instructions(name)
    monkeypatch.setattr(module, "inline_function", with_copies)
    assert text_of(without) == text_of(instructions(name))
    assert inlined


def twice(x: float) -> float:
    return x + x


def test_a_function_that_is_inlined_twice_shares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    merged: list[Any] = []
    lower: Any = KernelLowering.run_pass

    def record(lowering: Any, state: Any) -> Any:
        merged.append(state.func_ir)
        return lower(lowering, state)

    monkeypatch.setattr(KernelLowering, "run_pass", record)
    inlined = njit(inline="always")(twice)

    @njit()
    def four_and_two(x: float) -> Any:
        return inlined(inlined(x)), inlined(x)

    assert four_and_two(3.0) == (12.0, 6.0)
    found = [statement for block in merged[-1].blocks.values() for statement in block.body]
    assert sum("twice" in str(statement) for statement in found) > 6
    assert len({id(statement) for statement in found}) == len(found)
    computed = [statement.value for statement in found if isinstance(statement, ir.Assign)]
    expressions = [id(value) for value in computed if isinstance(value, ir.Expr)]
    assert len(set(expressions)) == len(expressions) > 3


# ---------------------------------------------------------------- events


def heard_while_compiling(decorate: Any, kinds: tuple[str, ...]) -> list[tuple[str, str]]:
    """Kinds of events and whether they begin or end, of the compilation of one function."""
    listener = event.RecordingListener()
    function = decorate()(lambda x: x * 2.0)
    with event.install_listener(kinds[0], listener), event.install_listener(kinds[1], listener):
        assert function(1.5) == 3.0
    return [(one.kind, one.status.name) for _, one in listener.buffer]


def test_who_listens_hears_what_numba_does() -> None:
    kinds = ("numba:llvm_lock", "numba:run_pass")
    ours, numbas = (heard_while_compiling(decorate, kinds) for decorate in (njit, numba.njit))
    for kind in kinds:
        statuses = [status for one, status in ours if one == kind]
        assert statuses.count("START") == statuses.count("END") > 5
    assert set(ours) == set(numbas)


def test_without_listeners_no_event_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(event, "_registered", {})
    monkeypatch.setattr(event, "Event", lambda *_, **details: made.append(details["kind"]))
    monkeypatch.setattr(event, "broadcast", lambda _: None)
    event.start_event("numba:run_pass")
    assert made == ["numba:run_pass"]
    with shortcuts():
        event.start_event("numba:run_pass", data={})
        event.end_event("numba:run_pass", data={}, exc_details=None)
    assert made == ["numba:run_pass"]
    event.end_event("numba:run_pass")
    assert made == ["numba:run_pass"] * 2


def test_an_event_is_told_with_all_that_belongs_to_it() -> None:
    told: list[Any] = []
    tell = _if_heard(lambda *arguments, **others: told.append((arguments, others)))
    tell("numba:run_pass", {"a": 1}, exc_details=None)
    assert told == []
    with event.install_listener("numba:run_pass", event.RecordingListener()):
        tell("numba:run_pass", {"a": 1}, exc_details=None)
        tell("numba:llvm_lock", {})  # nobody hears those
    assert told == [(("numba:run_pass", {"a": 1}), {"exc_details": None})]


# ---------------------------------------------------------------- messages and failures


def misspelt(values: Any) -> Any:
    return values.smu()


def failure_of(function: Any) -> str:
    with pytest.raises(numba.TypingError) as caught:
        function(np.zeros(2))
    return str(caught.value)


def test_messages_are_coloured_but_for_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(errors.termcolor()), "errmsg", lambda _, message: f"<red>{message}")
    before = failure_of(numba.njit(misspelt))
    assert "<red>Unknown attribute 'smu'" in before
    ours = failure_of(njit()(misspelt))
    assert "Unknown attribute 'smu'" in ours and "<red>" not in ours
    assert ours == before.replace("<red>", "")
    assert failure_of(numba.njit(misspelt)) == before
    assert errors.termcolor().errmsg("text") == "<red>text"


def replaced_parts() -> list[Any]:
    """All that is another while a kernel is compiled."""
    context = cpu_target.target_context
    return [
        ir.Inst._rec_list_vars,
        numba.types.Function.get_call_type,
        postproc.PostProcessor.run,
        inline_closurecall.InlineWorker.inline_function,
        inline_closurecall.copy,
        type(errors.termcolor()).errmsg,
        event.start_event,
        event.end_event,
        context.data_model_manager,
        context.codegen()._library_class,
        *(unboxers.get(kind) for kind in (numba.types.Array, numba.types.NamedTuple, numba.types.NamedUniTuple)),
        gc.isenabled(),
    ]


def fail(*_: Any, **__: Any) -> None:
    raise StopError


def inlines_what_cannot_be(values: Any) -> Any:
    return refused(values)


refused: Any = njit(inline="always")(misspelt)


@pytest.mark.parametrize("function", [misspelt, inlines_what_cannot_be])
def test_everything_is_as_before_after_a_failure(function: Any) -> None:
    before = replaced_parts()
    failure_of(njit()(function))
    assert replaced_parts() == before


def test_everything_is_as_before_after_a_failure_of_llvms_or_within_an_inlined_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inlined = njit(inline="always")(twice)

    def calls_inlined(x: float) -> float:
        return inlined(x)

    before = replaced_parts()
    for owner, name in ((KernelLowering, "run_pass"), (inline_closurecall.InlineWorker, "inline_ir")):
        with monkeypatch.context() as patch, pytest.raises(StopError):
            patch.setattr(owner, name, fail)
            njit()(calls_inlined)(2.0)
        assert replaced_parts() == before
    assert njit()(calls_inlined)(2.0) == 4.0
    assert replaced_parts() == before


def test_all_of_it_is_replaced_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    before, meanwhile = replaced_parts(), []
    lower: Any = KernelLowering.run_pass

    def record(lowering: Any, state: Any) -> Any:
        meanwhile.append(replaced_parts())
        return lower(lowering, state)

    monkeypatch.setattr(KernelLowering, "run_pass", record)
    assert njit()(twice)(2.0) == 4.0
    same = [at for at, (one, other) in enumerate(zip(before, meanwhile[0], strict=True)) if one == other]
    assert same == [4]  # `copy`, which is another only while a function is inlined
