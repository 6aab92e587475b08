"""Word classes with examples."""

from __future__ import annotations

from morphlm.classes.partition import Partition
from morphlm.report.examples import spread
from morphlm.report.html import Markup, foreign, joined, missing, names, numbers, paragraph, table, tag, words
from morphlm.report.numbers import decimal, whole
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.section import PageSection

SHOWN, WORDS, LEAST_WORDS = 14, 10, 5
EXPLANATION = (
    "Models with classes (CLBL, CLBL++, ...) first predict the class of the next word and then the word within it. "
    "Words that stand in the same places share a class, so a class often holds one kind of word, such as months or "
    "verbs in the past tense. These classes are a sample from frequent to rare, each with its most frequent words."
)
NONE = (
    "None of these models has word classes: n-gram models and plain LBL models predict words directly. Train clbl or "
    "clbl++ to have some."
)


def classes(scored_models: ScoredModels) -> PageSection:
    """The partitions; a table for all models that share one."""
    groups = scored_models.groups(
        lambda scored_model: None if scored_model.model.partition is None else _key(scored_model.model.partition)
    )
    parts = [_partition(scored_models, group) for group in groups] or [missing(NONE)]
    without = [scored_model for scored_model in scored_models.models if scored_model.model.partition is None]
    if groups and without:
        parts.append(paragraph(f"Without classes: {names_of(without)}.", class_="note"))
    return PageSection("classes", "Word classes", EXPLANATION, joined(parts))


def _key(partition: Partition) -> tuple[bytes, tuple[str, ...]]:
    return partition.class_of.tobytes(), partition.vocabulary.words


def _partition(scored_models: ScoredModels, group: list[ScoredModel]) -> Markup:
    partition = group[0].model.partition
    assert partition is not None
    chosen = some_classes(partition)
    examples = partition.examples(WORDS)
    rows = [
        [str(number), whole(int(partition.sizes[number])), foreign("  ".join(examples[number]), scored_models.language)]
        for number in chosen
    ]
    figures = partition.to_json()["sizes"]
    caption = (
        f"{whole(partition.classes)} classes of {whole(int(partition.sizes.sum()))} words{_method(group[0])}; "
        f"{whole(figures['min'])} to {whole(figures['max'])} words in a class, median {decimal(figures['median'], 0)}"
    )
    return joined(
        [
            tag("h3", f"Classes of {names_of(group)}"),
            table([*names("class"), *numbers("words"), *words("most frequent words")], rows, caption),
        ]
    )


def _method(scored_model: ScoredModel) -> str:
    """How the classes were found, from the record of the training."""
    records = (part.training.get("classes") for part in scored_model.model.parts)
    record_of_classes = next((record for record in records if isinstance(record, dict)), {})
    return f" ({record_of_classes['method']})" if "method" in record_of_classes else ""


def some_classes(partition: Partition) -> list[int]:
    """Of those that are not too small, if there are any."""
    large = [number for number, size in enumerate(partition.sizes.tolist()) if size >= LEAST_WORDS]
    return spread(large or list(range(partition.classes)), SHOWN)
