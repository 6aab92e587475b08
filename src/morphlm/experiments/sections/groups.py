"""CLBL++ against CLBL by the frequency of words (figure 3) and by part of speech (figure 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from morphlm.analysis.bootstrap import PerplexityChange, bootstrap_note
from morphlm.analysis.frequency import UNSEEN
from morphlm.analysis.groups import Group, GroupComparison
from morphlm.analysis.tags import SENTENCE_END
from morphlm.experiments.paper import NONE, in_percent, paper
from morphlm.experiments.sections.section import SEED, Found, Section, most_gained
from morphlm.experiments.steps import SEQUENCES
from morphlm.tables import Table

NO_PARTS_OF_SPEECH = {*SEQUENCES, UNSEEN, SENTENCE_END}
COMMON = 0.02  # share of the tokens that a part of speech must have to be named
RARE = ("1-9", "10-99")  # bins of words that were seen fewer than 100 times


def comparison_from_json(content: Mapping[str, Any]) -> GroupComparison:
    """The inverse of `GroupComparison.to_json`."""
    signatures, models = content["signatures"], content["models"]
    bootstrap = content["bootstrap"]
    return GroupComparison(
        content["by"],
        content["text"],
        (models[0], models[1]),
        tuple(map(_group_from_json, content["groups"])),
        _group_from_json(content["whole"]),
        (signatures[0], signatures[1]),
        bootstrap["seed"],
        bootstrap["resamples"],
        tuple(content["notes"]),
    )


def _group_from_json(content: Mapping[str, Any]) -> Group:
    def real(value: float | None) -> float:
        return float("nan") if value is None else value

    change = PerplexityChange(*(real(content["change"][name]) for name in ("value", "low", "high")))
    baseline, other = (real(content[name]) for name in ("baseline", "other"))
    return Group(content["name"], content["tokens"], content["share"], baseline, other, change)


def frequency(found: Found) -> Iterator[Section]:
    """All languages in one table, then each with its perplexities."""
    compared = {
        found.label(cell): comparison_from_json(result)
        for cell in found.plan.cells
        if (result := found.outcome.get(cell.frequency)) is not None
    }
    if not compared:
        return
    yield Section(
        "frequency",
        "CLBL++ against CLBL by the frequency of words (figure 3)",
        (_changes_by_group(compared, "language"), _rare_words(compared)),
        {label: one.to_json() for label, one in compared.items()},
        {"frequency": list(compared.values())},
    )
    for label, one in compared.items():
        yield Section(f"frequency-{label}", f"By frequency: {label}", (_without_signatures(one),), {})


def _changes_by_group(compared: Mapping[str, GroupComparison], what: str) -> Table:
    """A row a text, a column a group."""
    names = list(dict.fromkeys(group.name for one in compared.values() for group in one.groups))
    rows = []
    for label, one in compared.items():
        changes = {group.name: group.change for group in (*one.groups, one.whole)}
        shown = (changes.get(name) for name in [*names, one.whole.name])
        rows.append([label, *(NONE if change is None else change.format() for change in shown)])
    return Table([what, *names, "all"], rows, [bootstrap_note(SEED)])


def _said_of_rare_words(language: str) -> str:
    said = paper()["frequency"]
    if language in said["languages"]:
        return f"{in_percent(said['low'])} to {in_percent(said['high'])}"
    return "smaller" if language in said["smaller"] else NONE


def _rare_words(compared: Mapping[str, GroupComparison]) -> Table:
    rows = []
    for label, one in compared.items():
        values = [100 * group.change.value for group in one.groups if group.name in RARE and group.tokens]
        if values:
            ours = f"{in_percent(round(max(values), 1))} to {in_percent(round(min(values), 1))}"
            rows.append([label, _said_of_rare_words(label.partition(" ")[0]), ours])
    return Table(["words seen 1 to 99 times", "paper", "here"], rows)


def _without_signatures(one: GroupComparison) -> Table:
    table = one.to_table()
    return Table(table.header, table.rows, list(table.notes)[: -len(one.signatures)])


def tags(found: Found) -> Iterator[Section]:
    """The sequences of tags, then each tagged text with its perplexities."""
    results = [
        (cell, name, result)
        for cell in found.plan.cells
        for name, step in cell.tags.items()
        if (result := found.outcome.get(step)) is not None
    ]
    compared = {
        f"{name} {found.label(cell).partition(' ')[2]}".strip(): comparison_from_json(result)
        for cell, name, result in results
    }
    languages = list(dict.fromkeys(cell.language for cell, _, _ in results))
    if not compared:
        return
    yield Section(
        "tags",
        f"CLBL++ against CLBL by part of speech: {', '.join(languages)} (figure 4)",
        (_sequences(compared, languages),),
        {name: one.to_json() for name, one in compared.items()},
    )
    for name, one in compared.items():
        title = f"By part of speech: {name}"
        yield Section(f"tags-{name}", title, (_without_signatures(one),), {}, {f"tags-{name.replace(' ', '-')}": one})


def _sequences(compared: Mapping[str, GroupComparison], languages: Sequence[str]) -> Table:
    """The two sequences of tags, and where it gains most; the paper's numbers where its language is among them."""
    said = paper()["tags"]
    header = ["tagged text", *SEQUENCES, "gains most on"]
    theirs = ["paper", *(in_percent(said[name]) for name in SEQUENCES), ", ".join(said["most_gained"])]
    rows = [theirs] if said["language"] in languages else []
    for label, one in compared.items():
        groups = {group.name: group for group in one.groups}
        cells = [groups[name].change.format() if name in groups else NONE for name in SEQUENCES]
        usual = {
            name: group.change.value
            for name, group in groups.items()
            if name not in NO_PARTS_OF_SPEECH and group.share >= COMMON
        }
        rows.append([label, *cells, most_gained(usual)])
    return Table(
        header, rows, [bootstrap_note(SEED), "gains most on: of the parts of speech with 2 % of the tokens or more"]
    )
