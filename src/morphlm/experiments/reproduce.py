"""The paper's tables and figures again, by one call. `look_ahead` and `reproduce` show the whole way:

recipe -> plan its steps -> find those that are done -> estimate the others -> run them -> render the report.

What is done stays in a store, so that a run that was stopped goes on where it was, and recipes share their work.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morphlm.costs import format_duration, format_size
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError
from morphlm.experiments.budget import SPARE, Reduction, reductions, restrict, shorten
from morphlm.experiments.estimate import Estimator, Forecast, forecast
from morphlm.experiments.plan import Plan, make_plan
from morphlm.experiments.recipe import Recipe, load_recipe, members_of
from morphlm.experiments.running import Outcome, StepRunner, find_done
from morphlm.experiments.steps.base import Step
from morphlm.experiments.store import Record, Store, check_store
from morphlm.experiments.text_source import TextSource
from morphlm.experiments.writing import REPORT, RESULTS, Report, make_report, write_json, write_report, write_text
from morphlm.extras import check_extra, how_to_install, is_installed
from morphlm.files import check_can_make
from morphlm.progress import notify
from morphlm.progress_line import ProgressLine
from morphlm.wording import either, option


@dataclass(frozen=True)
class ReproduceRequest:
    """What the user asks for."""

    recipe: str  # a name, or the path of a file
    data: Path | None = None  # the folder of raw data; needed unless the recipe names a data set
    store: Path = Path("morphlm-store")
    out: Path | None = None  # of the report; None: in the store
    languages: tuple[str, ...] | None = None  # only these
    tokens: int | None = None  # of the training texts, at most
    minutes: float | None = None

    __repr__ = dataclass_repr


def look_ahead(request: ReproduceRequest) -> Preview:
    """What would be done, how long it takes and how much it writes; nothing is run or written.

    With a time limit, recipes are reduced step by step until the estimate fits.
    """
    recipe = load_recipe(request.recipe)
    store = check_store(request.store)
    recipes = shorten(restrict(members_of(recipe), request.languages), request.tokens)
    estimator = Estimator(store)
    estimator.learn(store.records())
    previews = (_preview(recipe.name, reduction, request, store, estimator) for reduction in reductions(recipes))
    return next(previews) if request.minutes is None else _first_that_fits(previews, request.minutes)


def _preview(name: str, reduction: Reduction, request: ReproduceRequest, store: Store, estimator: Estimator) -> Preview:
    plans = tuple(make_plan(recipe, _source_of(recipe, request.data)) for recipe in reduction.recipes)
    if not any(plan.cells for plan in plans):
        raise InputError(next(why for plan in plans for why in plan.failed.values()))
    steps = tuple({step.key: step for plan in plans for step in plan.steps}.values())
    done = find_done(steps, store)
    remaining = forecast(steps, set(done), estimator)
    return Preview(name, plans, reduction.left_out, store, steps, done, estimator, remaining)


def reproduce(request: ReproduceRequest) -> Reproduction:
    """Do what is not done yet and write the report."""
    begin = time.monotonic()
    preview = look_ahead(request)
    _announce(preview)
    check_extras(preview.plans)
    check_disk_space(preview)
    folder = request.out or preview.store.report(preview.name)
    check_can_make(folder / REPORT)  # before hours of work
    deadline = None if request.minutes is None else begin + 60 * request.minutes
    with preview.store.locked():
        outcome = _run(preview, deadline)
    reports = tuple(make_report(plan, outcome, _notes_of(plan, preview)) for plan in preview.plans)
    left_out = _notes_of_no_plan(preview)
    _write(preview.name, reports, folder, left_out)
    notify(f"written to {folder / REPORT}")
    failed = outcome.failed | {name: why for report in reports for name, why in report.failed.items()}
    return Reproduction(preview.name, reports, folder, failed, left_out)


def check_extras(plans: Sequence[Plan]) -> None:
    """Before hours of work: translations cannot be judged without sacreBLEU; pictures can be drawn later."""
    if any(plan.recipe.translation.pairs for plan in plans):
        check_extra("sacrebleu", "translation", "this recipe translates, and BLEU needs")
    if not is_installed("matplotlib"):
        notify(f"warning: there will be no pictures; {how_to_install('pictures')}, and the same command draws them")


@dataclass(frozen=True)
class Preview:
    """What would be done."""

    name: str
    plans: tuple[Plan, ...]
    left_out: tuple[str, ...]
    store: Store
    steps: tuple[Step[Any], ...]
    done: dict[str, Record]
    estimator: Estimator
    forecast: Forecast

    __repr__ = dataclass_repr

    def format(self) -> str:
        """The steps, a line each, and the estimate."""
        lines = []
        for step in self.steps:
            state = "done" if step.key in self.done else format_duration(self.estimator.seconds(step))
            path = step.location(self.store)
            lines.append(f"{state:>10}  {step.name}" + ("" if path is None else f"  {path}"))
        missing = [f"not possible: {name}: {why}" for plan in self.plans for name, why in plan.failed.items()]
        missing += [f"not in the data: {what}" for plan in self.plans for what in plan.missing]
        out = map(_left_out, self.left_out)
        return "\n".join([*lines, *missing, *out, self.forecast.format(self.name, self.store)])

    def to_json(self) -> dict[str, Any]:
        figures = {"seconds": round(self.forecast.seconds, 1), "bytes": round(self.forecast.bytes)}
        missing = [what for plan in self.plans for what in (*plan.failed.values(), *plan.missing)]
        steps = [self._step_to_json(step) for step in self.steps]
        return {"recipe": self.name, "steps": steps, **figures, "left_out": list(self.left_out), "missing": missing}

    def _step_to_json(self, step: Step[Any]) -> dict[str, Any]:
        is_done, path = step.key in self.done, step.location(self.store)
        return {
            "name": step.name,
            "kind": step.producer.name,
            "key": step.key,
            "done": is_done,
            "seconds": 0.0 if is_done else round(self.estimator.seconds(step), 1),
        } | ({} if path is None else {"place": str(path)})


@dataclass(frozen=True)
class Reproduction:
    """What was done."""

    name: str
    reports: tuple[Report, ...]
    folder: Path  # where they are written
    failed: dict[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  # recipes that have no report

    __repr__ = dataclass_repr

    def format(self) -> str:
        return "\n\n".join([*(report.format() for report in self.reports), *map(_left_out, self.left_out)])

    def to_json(self) -> dict[str, Any]:
        return {
            "recipe": self.name,
            "folder": str(self.folder),
            "reports": [report.to_json() for report in self.reports],
            "left_out": list(self.left_out),
        }


# ---------------------------------------------------------------- before it starts


def _source_of(recipe: Recipe, data: Path | None) -> TextSource:
    """Where the texts come from; --data goes before the data set that a recipe names."""
    if data is None and recipe.dataset is None:
        raise ConfigError(
            f"{recipe.name} names no data set; give {either('--data DIR', 'data=')}, a folder of raw text"
        )
    return TextSource(data) if data is not None else TextSource(dataset=recipe.dataset)


def _first_that_fits(previews: Iterable[Preview], minutes: float) -> Preview:
    """The first, and so the largest, that is done in time."""
    smallest: Preview | None = None
    for preview in previews:
        if preview.forecast.seconds <= SPARE * 60 * minutes:
            return preview
        if smallest is None or preview.forecast.seconds < smallest.forecast.seconds:
            smallest = preview
    assert smallest is not None
    without = f" even without: {'; '.join(smallest.left_out)}" if smallest.left_out else ""
    raise ConfigError(
        f"{smallest.name} takes about {format_duration(smallest.forecast.seconds)}{without}; "
        f"give {option('--minutes', math.ceil(smallest.forecast.seconds / SPARE / 60))} or more"
    )


def _announce(preview: Preview) -> None:
    notify(preview.forecast.format(preview.name, preview.store))
    for why in dict.fromkeys(why for plan in preview.plans for why in plan.failed.values()):
        notify(f"warning: {why}")
    for what in preview.left_out:
        notify(_left_out(what))


def check_disk_space(preview: Preview) -> None:
    """Refuse to begin what the disk cannot hold."""
    needed, free = preview.forecast.bytes, preview.store.free_bytes()
    if needed > free:
        raise ConfigError(
            f"{preview.store.folder}: about {format_size(needed)} are needed and {format_size(free)} are free; make "
            f"room, give another {option('--store')}, fewer {option('--languages')} or {option('--tokens')}"
        )


# ---------------------------------------------------------------- the run and its report


def _run(preview: Preview, deadline: float | None) -> Outcome:
    waiting = len(preview.steps) - len(preview.done)
    with ProgressLine(preview.name, waiting, preview.forecast.seconds) as progress_line:
        runner = StepRunner(preview.store, preview.estimator, progress_line, deadline)
        try:
            return runner.run(preview.steps, preview.done)
        except KeyboardInterrupt:
            progress_line.notify("stopped; the same command goes on from here")
            raise


def _notes_of(plan: Plan, preview: Preview) -> Sequence[str]:
    """What was left out of this recipe."""
    if len(preview.plans) == 1:
        return preview.left_out
    prefix = f"{plan.recipe.name}: "
    return [note.removeprefix(prefix) for note in preview.left_out if note.startswith(prefix)]


def _notes_of_no_plan(preview: Preview) -> tuple[str, ...]:
    """What was left out and stands in no report: whole recipes."""
    if len(preview.plans) == 1:
        return ()
    in_reports = {f"{plan.recipe.name}: {note}" for plan in preview.plans for note in _notes_of(plan, preview)}
    return tuple(note for note in preview.left_out if note not in in_reports)


def _left_out(what: str) -> str:
    return f"left out to fit the time: {what}"


def _write(name: str, reports: Sequence[Report], folder: Path, left_out: Sequence[str]) -> None:
    """One report in the folder itself; several in folders of their own, and a list of them."""
    if len(reports) == 1:
        write_report(reports[0], folder)
        return
    for report in reports:
        write_report(report, folder / report.plan.recipe.name)
    recipes = [report.plan.recipe for report in reports]
    lines = [f"- [{recipe.name}]({recipe.name}/{REPORT}): {recipe.title}" for recipe in recipes]
    lines += [f"- {_left_out(what)}" for what in left_out]
    write_text(folder / REPORT, f"# {name}\n\n" + "\n".join(lines) + "\n")
    write_json(folder / RESULTS, [report.to_json() for report in reports])
