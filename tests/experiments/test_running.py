"""Doing steps: nothing twice, whatever happens in between; failures and time limits; estimates."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import ConfigError, MorphlmError, TrainingError
from morphlm.experiments.estimate import PRIOR, Estimator, forecast
from morphlm.experiments.running import Outcome, StepRunner, find_done
from morphlm.experiments.steps.base import RunContext, StepResult
from morphlm.experiments.store import Record, Store
from morphlm.files import cannot_write, sha256_of
from morphlm.modelfile import canonical_json
from morphlm.progress_line import ProgressLine

from .fake_steps import FakeStep, FakeTraining

A = FakeStep("a", {"n": 1})
B = FakeStep("b", {"n": 2}, (A,))
C = FakeStep("c", {"n": 3}, (B,))
D = FakeStep("d", {"n": 4})
ALL = [A, B, C, D]


def run_all(store: Store, steps: Sequence[FakeStep], deadline: float | None = None) -> Outcome:
    with ProgressLine("test", len(steps), 1.0) as progress_line:
        runner = StepRunner(store, Estimator(store), progress_line, deadline)
        return runner.run(steps, find_done(steps, store))


def run(store: Store, work: Callable[[FakeStep], StepResult]) -> Outcome:
    return run_all(store, [replace(step, work=work) for step in ALL])


def result_of(step: FakeStep) -> StepResult:
    return StepResult({"value": step.name})


def record_path(store: Store, step: FakeStep) -> Path:
    return store.shelf(step.producer.name).path(step.key)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_nothing_is_done_twice(store: Store) -> None:
    calls = Counter[str]()

    def work(step: FakeStep) -> StepResult:
        calls[step.name] += 1
        return result_of(step)

    first, second = run(store, work), run(store, work)
    assert calls == dict.fromkeys("abcd", 1)
    assert first.results == second.results == {step.key: {"value": step.name} for step in ALL}
    assert (first.reused, second.reused) == (0, 4)


def full_disk(path: str) -> MorphlmError:
    """As whatever writes files says it."""
    error = OSError(errno.ENOSPC, "full")
    said = cannot_write(path, error)
    said.__cause__ = error
    return said


@pytest.mark.parametrize(
    "stop",
    [KeyboardInterrupt, OSError(errno.ENOSPC, "full"), full_disk("model")],
    ids=["Ctrl-C", "full disk", "full disk, in words"],
)
def test_it_goes_on_where_it_was_stopped(store: Store, stop: BaseException) -> None:
    calls = Counter[str]()

    def work(step: FakeStep) -> StepResult:
        calls[step.name] += 1
        if step == C and calls["c"] == 1:
            raise stop
        return result_of(step)

    with pytest.raises((KeyboardInterrupt, OSError, MorphlmError)):
        run(store, work)
    assert len(run(store, work).results) == 4
    assert calls == {"a": 1, "b": 1, "c": 2, "d": 1}


def test_killed_at_any_call_that_writes(store: Store, tmp_path: Path) -> None:
    """A child is killed before its nth call of write, fsync or replace; what is found after it is whole."""
    for moment in range(12):
        place = Store(tmp_path / f"store{moment}")
        if (child := os.fork()) == 0:
            _die_at(moment)
            run(place, result_of)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        done = find_done(ALL, place)
        assert all(record.result == {"value": record.name} for record in done.values())
        assert os.WIFSIGNALED(status) == (len(done) < 4)
        assert len(run(place, result_of).results) == 4


def _die_at(moment: int) -> None:
    left = [moment]

    def watched(original: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return original(*arguments, **named)

        return call

    os.fsync = watched(os.fsync)  # type: ignore[assignment]
    Path.replace = watched(Path.replace)  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize("damage", ["cut", "changed", "other key", "empty"])
def test_a_damaged_result_does_not_count(store: Store, damage: str) -> None:
    run(store, result_of)
    path = record_path(store, B)
    content = path.read_text()
    path.write_text(
        {
            "cut": content[:-20],
            "changed": content.replace('"value": "b"', '"value": "x"'),
            "other key": record_path(store, A).read_text(),
            "empty": "",
        }[damage]
    )
    assert set(find_done(ALL, store)) == {A.key, C.key, D.key}
    assert run(store, result_of).results[B.key] == {"value": "b"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("files", []), ("files", None), ("files", "x"), ("files", {"x": 1})),
        *(("files", {"\0": "x"}), ("files", {"/dev/zero": "x"})),
        *(("key", {}), ("kind", None), ("name", 1), ("group", []), ("result", [1]), ("fresh", 1)),
        *(("seconds", "1"), ("expected", None), ("seconds", True)),
    ],
)
def test_a_record_with_something_else_in_a_field_does_not_count(store: Store, field: str, value: Any) -> None:
    run(store, result_of)
    path = record_path(store, B)
    content = json.loads(path.read_bytes()) | {field: value}
    content.pop("digest")
    path.write_text(json.dumps(content | {"digest": sha256(canonical_json(content)).hexdigest()}))
    assert set(find_done(ALL, store)) == {A.key, C.key, D.key}
    assert all(isinstance(record.files, dict) for record in store.records())


def test_deeply_nested_json_is_no_record(store: Store) -> None:
    run(store, result_of)
    record_path(store, B).write_text("[" * 100_000)
    assert len([*store.records()]) == 3


def test_a_result_whose_file_is_gone_does_not_count(store: Store) -> None:
    file = store.folder / "models" / "x"

    def work(step: FakeStep) -> StepResult:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("content")
        return StepResult({}, [file])

    run(store, work)
    assert len(find_done(ALL, store)) == 4
    file.write_text("Content of another length")
    assert not find_done(ALL, store)
    file.unlink()
    assert not find_done(ALL, store)


@pytest.mark.parametrize("changes", [True, False])
def test_what_is_made_of_something_is_made_again_when_that_comes_out_differently(store: Store, changes: bool) -> None:
    contents, calls = {"a": "first"}, Counter[str]()
    file = store.folder / "texts" / "a"

    def work(step: FakeStep) -> StepResult:
        calls[step.name] += 1
        file.parent.mkdir(parents=True, exist_ok=True)
        if step == A:
            file.write_text(contents["a"])
        return StepResult({"value": f"{step.name} of {contents['a']}"}, [file] if step in (A, B) else [])

    run(store, work)
    record_path(store, A).unlink()
    if changes:
        contents["a"] = "second"
    again = run(store, work)
    assert calls == {"a": 2, "b": 1 + changes, "c": 1, "d": 1}
    assert again.results[B.key] == {"value": f"b of {contents['a']}"}
    assert again.reused == 3 - changes


def test_a_failure_stops_only_what_needs_it(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    def work(step: FakeStep) -> StepResult:
        if step == B:
            raise TrainingError("diverged")
        return result_of(step)

    outcome = run(store, work)
    assert outcome.failed == {"b": "diverged"}
    assert outcome.skipped == ["c"]
    assert set(outcome.results) == {A.key, D.key}
    assert "b: failed: diverged" in capsys.readouterr().err
    assert len(run(store, result_of).results) == 4


def test_no_step_begins_that_does_not_fit(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    """Of trainings of 1, 90 and 2 seconds, the second does not fit in 60; its test needs it, that of the third not."""
    one, long, two = (FakeTraining(f"model {n}", {"n": n}) for n in (1, 90, 2))
    tests = [FakeStep(f"test {model.numbers['n']}", {"n": 3}, (model,)) for model in (long, two)]
    steps = [one, long, tests[0], two, tests[1]]
    outcome = run_all(store, steps, time.monotonic() + 60)
    assert outcome.late == ["model 90", "test 90"]
    assert set(outcome.results) == {one.key, two.key, tests[1].key}
    assert "model 90: left out, there is too little time for it" in capsys.readouterr().err


def test_what_needs_something_that_failed_is_skipped_and_not_late(store: Store) -> None:
    """Also if something else that it needs was left out; and what it runs after must be done too."""

    def fail(step: FakeStep) -> StepResult:
        raise TrainingError("diverged")

    late, failed = FakeTraining("late", {"n": 90}), FakeTraining("failed", {"n": 1}, work=fail)
    both, helped = FakeStep("both", {"n": 2}, (late, failed)), FakeStep("helped", {"n": 3}, helpers=(failed,))
    outcome = run_all(store, [late, failed, both, helped], time.monotonic() + 60)
    assert (outcome.late, outcome.skipped, [*outcome.failed]) == (["late"], ["both", "helped"], ["failed"])


def test_what_steps_share_is_made_once_and_only_the_last_is_held(store: Store) -> None:
    context, made = RunContext(store, print), list[str]()

    def share(key: str) -> str:
        def make() -> str:
            made.append(key)
            return key.upper()

        return context.shared(key, make)

    assert [share(key) for key in "aabba"] == [*"AABBA"]
    assert made == [*"aba"]


def test_what_is_trained_is_tested_even_after_the_time(store: Store) -> None:
    quick, slow = (FakeStep(f"test {n}", {"n": n}) for n in (5, 50))
    outcome = run_all(store, [quick, slow, FakeTraining("model", {"n": 5})], time.monotonic() - 10)
    assert outcome.late == ["test 50", "model"]


def test_what_a_step_says_goes_to_its_log(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    from morphlm.progress import notify

    def work(step: FakeStep) -> StepResult:
        notify(f"working on {step.name}")
        return result_of(step)

    run(store, work)
    assert store.log(f"a-{A.short_key}").read_text() == "working on a\n"
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[1/4] a", "[2/4] b", "[3/4] c", "[4/4] d"]


def test_one_at_a_time(store: Store) -> None:
    refusal = r"another process is writing here; .* give another store="
    with store.locked(), pytest.raises(ConfigError, match=refusal), store.locked():
        pass


# ---------------------------------------------------------------- estimates


def test_a_forecast_counts_what_is_left(store: Store) -> None:
    found = forecast(ALL, {A.key, C.key}, Estimator(store))
    assert (found.steps, found.done, found.seconds) == (4, 2, 2 + 4)
    assert found.bytes == 2 * 100 + 4000  # what stays, and the most that is needed beside it
    assert found.format("r", store) == f"r: 4 steps, 2 done; about 6 s and 5 kB in {store.folder}"


def test_estimates_learn_from_real_times(store: Store) -> None:
    estimator = Estimator(store)
    assert estimator.seconds(B) == 2.0
    slow = Record("k", "fake", "", 10 * PRIOR, PRIOR, True, {}, {})
    estimator.learn([slow, replace(slow, fresh=False, seconds=0.0)])
    # Of all steps: (10 P + P) / 2 P = 5.5; of this kind: (10 P + 5.5 P) / 2 P.
    assert estimator.seconds(B) == pytest.approx(2 * 7.75)
    assert estimator.seconds(FakeTraining("other", {"n": 2})) == pytest.approx(2 * 5.5)


def test_what_is_known_of_a_group_counts_more_than_what_is_known_of_all_steps(store: Store) -> None:
    """Evaluations are as quick as expected, trainings take 9 times as long."""
    estimator = Estimator(store)
    quick = Record("k", "fake", "", PRIOR, PRIOR, True, {}, {}, "fake")
    estimator.learn([quick, replace(quick, kind="training", seconds=9 * PRIOR, group="training")])
    # Of all steps: (1 + 9 + 1) P / 3 P; then of each group, with that as what is assumed.
    assert estimator.seconds(FakeStep("one", {"n": 1})) == pytest.approx((1 + 11 / 3) / 2)
    assert estimator.seconds(FakeTraining("one", {"n": 1})) == pytest.approx((9 + 11 / 3) / 2)


def test_records_are_what_was_kept(store: Store) -> None:
    run(store, result_of)
    assert sorted(record.name for record in store.records()) == ["a", "b", "c", "d"]
    assert json.loads(record_path(store, A).read_bytes())["expected"] == 1.0
    assert len(sha256_of(record_path(store, A))) == 64
