"""CLBL++ against CLBL by the frequency of words (figure 3) and by part of speech (figure 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from morphlm.analysis.bootstrap import bootstrap_note
from morphlm.analysis.frequency import UNSEEN
from morphlm.analysis.groups import GroupComparison
from morphlm.analysis.tags import SENTENCE_END
from morphlm.experiments.paper import NONE, in_percent, paper
from morphlm.experiments.sections.section import SEED, PlanResults, ReportSection, most_gained
from morphlm.experiments.steps.groups import FrequencyStep
from morphlm.experiments.steps.tags import SEQUENCES, TagsStep
from morphlm.tables import Table

NO_PARTS_OF_SPEECH = {*SEQUENCES, UNSEEN, SENTENCE_END}
COMMON = 0.02  # share of the tokens that a part of speech must have to be named
RARE = ("1-9", "10-99")  # bins of words that were seen fewer than 100 times


def frequency(results: PlanResults) -> Iterator[ReportSection]:
    """All languages in one table, then each with its perplexities."""
    compared = {
        results.label(cell): comparison
        for cell in results.plan.cells
        for comparison in results.of(cell, FrequencyStep).values()
    }
    if not compared:
        return
    yield ReportSection(
        "frequency",
        "CLBL++ against CLBL by the frequency of words (figure 3)",
        (_changes_by_group(compared), _rare_words(compared)),
        {label: comparison.to_json() for label, comparison in compared.items()},
        {"frequency": list(compared.values())},
    )
    for label, comparison in compared.items():
        yield ReportSection(f"frequency-{label}", f"By frequency: {label}", (_without_signatures(comparison),), {})


def _changes_by_group(compared: Mapping[str, GroupComparison]) -> Table:
    """A row a text, a column a group."""
    names = list(dict.fromkeys(group.name for comparison in compared.values() for group in comparison.groups))
    rows = []
    for label, comparison in compared.items():
        changes = {group.name: group.change for group in (*comparison.groups, comparison.whole)}
        shown = (changes.get(name) for name in [*names, comparison.whole.name])
        rows.append([label, *(NONE if change is None else change.format() for change in shown)])
    return Table(["language", *names, "all"], rows, [bootstrap_note(SEED)])


def _paper_on_rare_words(language: str) -> str:
    stated = paper()["frequency"]
    if language in stated["languages"]:
        return f"{in_percent(stated['low'])} to {in_percent(stated['high'])}"
    return "smaller" if language in stated["smaller"] else NONE


def _rare_words(compared: Mapping[str, GroupComparison]) -> Table:
    rows = []
    for label, comparison in compared.items():
        values = [100 * group.change.value for group in comparison.groups if group.name in RARE and group.tokens]
        if values:
            ours = f"{in_percent(round(max(values), 1))} to {in_percent(round(min(values), 1))}"
            rows.append([label, _paper_on_rare_words(label.partition(" ")[0]), ours])
    return Table(["words seen 1 to 99 times", "paper", "here"], rows)


def _without_signatures(comparison: GroupComparison) -> Table:
    table = comparison.to_table()
    return Table(table.header, table.rows, list(table.notes)[: -len(comparison.signatures)])


def tags(results: PlanResults) -> Iterator[ReportSection]:
    """The sequences of tags, then each tagged text with its perplexities."""
    tagged = [(cell, results.of(cell, TagsStep)) for cell in results.plan.cells]
    compared = {
        f"{name} {results.label(cell).partition(' ')[2]}".strip(): comparison
        for cell, comparisons in tagged
        for name, comparison in comparisons.items()
    }
    languages = list(dict.fromkeys(cell.language for cell, comparisons in tagged if comparisons))
    if not compared:
        return
    yield ReportSection(
        "tags",
        f"CLBL++ against CLBL by part of speech: {', '.join(languages)} (figure 4)",
        (_sequences(compared, languages),),
        {name: comparison.to_json() for name, comparison in compared.items()},
    )
    for name, comparison in compared.items():
        title = f"By part of speech: {name}"
        yield ReportSection(
            f"tags-{name}",
            title,
            (_without_signatures(comparison),),
            {},
            {f"tags-{name.replace(' ', '-')}": comparison},
        )


def _sequences(compared: Mapping[str, GroupComparison], languages: Sequence[str]) -> Table:
    """The two sequences of tags, and where it gains most; the paper's numbers where its language is among them."""
    stated = paper()["tags"]
    header = ["tagged text", *SEQUENCES, "gains most on"]
    theirs = ["paper", *(in_percent(stated[name]) for name in SEQUENCES), ", ".join(stated["most_gained"])]
    rows = [theirs] if stated["language"] in languages else []
    for label, comparison in compared.items():
        groups = {group.name: group for group in comparison.groups}
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
