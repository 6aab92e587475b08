"""The report of an experiment: report.md with our numbers beside the paper's, results.json, and pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.errors import FormatError, MorphlmError
from morphlm.experiments.plan import Plan
from morphlm.experiments.recipe import Recipe, format_amount
from morphlm.experiments.running import Outcome
from morphlm.experiments.schema import REPORT_FILE
from morphlm.experiments.sections import ReportSection, sections_of, signatures_in
from morphlm.extras import MissingExtraError
from morphlm.files import atomic_writer, make_folder
from morphlm.kinds import kind_named
from morphlm.progress import notify
from morphlm.report.pictures import save_picture
from morphlm.schema import read_document
from morphlm.training.pipeline import declared_settings
from morphlm.version import __version__

REPORT, RESULTS = "report.md", "results.json"
EXTENSIONS = (".svg", ".png")


@dataclass(frozen=True)
class Report:
    """The results of one recipe."""

    plan: Plan
    sections: tuple[ReportSection, ...]
    left_out: tuple[str, ...]
    missing: tuple[str, ...]  # what the data lack
    late: tuple[str, ...]  # steps that the time did not suffice for
    failed: Mapping[str, str]
    skipped: tuple[str, ...]  # steps that need what failed

    @property
    def what_lacks(self) -> list[str]:
        return [
            *(f"left out to fit the time: {what}" for what in self.left_out),
            *(f"not in the data: {what}" for what in self.missing),
            *(f"no time for: {name}" for name in self.late),
            *(f"failed: {name}: {why}" for name, why in self.failed.items()),
            *(f"not possible without these: {name}" for name in self.skipped),
        ]

    def format(self) -> str:
        """For the terminal: the tables, and what the report lacks."""
        recipe = self.plan.recipe
        lines = [_heading(recipe)]
        for section in self.sections:
            lines += [f"\n{section.title}", *(f"{table.format()}\n" for table in section.tables)]
        return "\n".join([*lines, *self.what_lacks]).rstrip()

    def markdown(self, pictures: Mapping[str, Sequence[str]]) -> str:
        """A document with the tables, the pictures and all signatures."""
        recipe = self.plan.recipe
        parts = [f"# {_heading(recipe)}", _what_was_run(self.plan)]
        if self.what_lacks:
            parts.append("Not in this report:\n\n" + "\n".join(f"- {line}" for line in self.what_lacks))
        for section in self.sections:
            parts.append(f"## {section.title}")
            parts += [table.markdown() for table in section.tables]
            parts += [f"![{name}]({name}.svg)" for name in pictures.get(section.name, ())]
        if signatures := signatures_in(self.sections):
            parts += ["## Signatures", "```\n" + "\n".join(signatures) + "\n```"]
        return "\n\n".join(parts) + "\n"

    def to_json(self) -> dict[str, Any]:
        recipe = self.plan.recipe
        return {
            "recipe": recipe.name,
            "release": __version__,
            "languages": list(recipe.languages),
            "tokens": list(recipe.tokens),
            "kinds": list(recipe.kinds),
            "kappas": list(recipe.kappas),
            "seeds": list(recipe.seeds),
            "results": {section.name: dict(section.content) for section in self.sections if section.content},
            "left_out": list(self.left_out),
            "missing": list(self.missing),
            "late": list(self.late),
            "failed": dict(self.failed),
            "skipped": list(self.skipped),
        }


def _heading(recipe: Recipe) -> str:
    return f"{recipe.name}: {recipe.title}" if recipe.title else recipe.name


def _what_was_run(plan: Plan) -> str:
    recipe, options = plan.recipe, plan.recipe.options
    texts = ", ".join(map(format_amount, recipe.tokens))
    sides = ", of the target side of each pair to translate" if recipe.translation.pairs else ""
    kinds = ", ".join([*recipe.kinds, *(f"{kind} with wide contexts" for kind in recipe.wide)])
    kappas, seeds = ", ".join(f"{kappa:g}" for kappa in recipe.kappas), ", ".join(map(str, recipe.seeds))
    declared = [entry for kind in recipe.kinds for entry in declared_settings(kind_named(kind)).values()]
    named = {entry.name: entry.default for entry in declared if entry.name in ("order", "width", "recipe")}
    settings = ", ".join(f"{name} {value}" for name, value in {**named, **options.settings}.items())
    lines = [
        f"Repeats: {recipe.paper or 'nothing of the paper'}",
        f"Languages: {', '.join(recipe.languages)}",
        f"Training texts: {texts} tokens of {recipe.dataset or 'the folder of data'}{sides}",
        f"Models: {kinds}; {settings}",
        f"kappa {kappas}; seed {seeds}; morphlm {__version__}",
    ]
    if "translation" in recipe.print:
        asked = recipe.translation
        lines.append(f"Translation: {asked.tuning:,} sentences to tune on, {asked.test:,} to test")
    return "\n".join(f"- {line}" for line in lines)


def make_report(plan: Plan, outcome: Outcome, left_out: Sequence[str]) -> Report:
    """What the steps of a plan gave; a part that cannot be made of it is named among what failed."""
    names = {step.name for step in plan.steps}
    failed = {**plan.failed, **{name: why for name, why in outcome.failed.items() if name in names}}
    sections, failures = sections_of(plan, outcome)
    failed |= failures
    return Report(
        plan,
        tuple(sections),
        tuple(left_out),
        plan.missing,
        tuple(name for name in outcome.late if name in names),
        failed,
        tuple(name for name in outcome.skipped if name in names),
    )


def write_report(report: Report, folder: Path) -> None:
    """Write report.md, results.json and the pictures."""
    make_folder(folder)
    before = _pictures_before(report, folder)
    pictures: dict[str, list[str]] = {}
    for section in report.sections:
        for name, result in section.pictures.items():
            if _draw(result, folder, name):
                pictures.setdefault(section.name, []).append(name)
    write_text(folder / REPORT, report.markdown(pictures))
    files = [f"{name}{extension}" for names in pictures.values() for name in names for extension in EXTENSIONS]
    for name in before - {*files}:
        (folder / name).unlink(missing_ok=True)
    write_json(folder / RESULTS, report.to_json() | {"pictures": files})


def _pictures_before(report: Report, folder: Path) -> set[str]:
    """The pictures that an earlier report of the recipe says it has in the folder; what else lies there is not ours."""
    try:
        earlier = read_document(folder / RESULTS, REPORT_FILE)
    except (OSError, FormatError):
        return set()
    names = earlier["pictures"] if earlier["recipe"] == report.plan.recipe.name else []
    return {name for name in names if name.endswith(EXTENSIONS)}


def _draw(result: Any, folder: Path, name: str) -> bool:
    """A picture that cannot be drawn costs the report only the picture."""
    try:
        for extension in EXTENSIONS:
            save_picture(result, folder / f"{name}{extension}")
    except MissingExtraError:  # which was said before all work
        return False
    except MorphlmError as error:
        notify(f"no picture of {name}: {error}")
        return False
    return True


def write_text(path: Path, text: str) -> None:
    """Replace a file in one step."""
    with atomic_writer(path) as stream:
        stream.write(text.encode())


def write_json(path: Path, content: Any) -> None:
    """Replace a file in one step."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
