"""CLBL++ against CLBL by part of speech (figure 4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from morphlm.analysis.tag_alignment import read_tagged_for
from morphlm.analysis.tag_reading import Format, hanta_version
from morphlm.analysis.tags import tag_comparison
from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.errors import ConfigError
from morphlm.experiments.cell import Cell
from morphlm.experiments.recipe import Recipe
from morphlm.experiments.steps.base import Description, Measured, RunContext, StepResult
from morphlm.experiments.steps.groups import BOOTSTRAP_SEED, NAMES, GroupsStep, compared_models
from morphlm.experiments.store import Store
from morphlm.experiments.text_source import TextSource
from morphlm.extras import how_to_install, is_installed
from morphlm.text.tokenise import sacremoses_version

SEQUENCES = ("Adjective Noun", "Adjective Adjective Noun")
HANTA = "HanTa"  # the tagger of German for a text without tags, and the name of its analysis
TAGGING = 35.0  # seconds, of a test text


@dataclass(frozen=True, eq=False)
class TagsStep(GroupsStep):
    """Two models on a text with gold tags or, if its title is HANTA, on one that is tagged for it."""

    tagged: Path
    title: str

    producer = Producer(
        "tags",
        2,
        (
            "morphlm.analysis.tags",
            "morphlm.analysis.tag_alignment",
            "morphlm.analysis.tag_classes",
            "morphlm.analysis.tag_reading",
            "morphlm.analysis.groups",
        ),
    )

    def describe(self) -> Description:
        settings = {"text": self.title, "sequences": list(SEQUENCES), "bootstrap_seed": BOOTSTRAP_SEED}
        settings |= {"sacremoses": sacremoses_version()}
        settings |= {"tagger": hanta_version()} if self.title == HANTA else {}
        name, inputs = f"{self.other.data.name}: by part of speech, {self.title}", (self.baseline, self.other)
        return Description(name, settings, inputs, {self.title: self.tagged})

    @classmethod
    def for_cell(cls, cell: Cell) -> dict[str, TagsStep]:
        models = compared_models(cell)
        return {} if models is None else {name: cls(*models, path, name) for name, path in _tagged_texts(cell).items()}

    @classmethod
    def missing_data(cls, recipe: Recipe, source: TextSource) -> Iterator[str]:
        if not has_hanta():
            yield f"tags of the test text: HanTa is not installed; {how_to_install('pos')}"
        for language in recipe.languages:
            if not source.beside("pos", f"{language}_*.conllu*"):
                yield f"gold tags in {language}: there is no pos/{language}_*.conllu in the folder of data"

    def estimate(self, store: Store, measured: Measured) -> Cost:
        cost = super().estimate(store, measured)
        return replace(cost, seconds=cost.seconds + TAGGING) if self.title == HANTA else cost

    def run(self, context: RunContext) -> StepResult:
        baseline, other = self.baseline.load(context.store), self.other.load(context.store)
        tag_format: Format = "hanta" if self.title == HANTA else "conllu"
        compared = tag_comparison(
            baseline,
            other,
            read_tagged_for([baseline, other], [self.tagged], tag_format),
            sequences=[sequence.split() for sequence in SEQUENCES],
            coarse=True,
            unseen_apart=True,
            names=NAMES,
            seed=BOOTSTRAP_SEED,
        )
        return StepResult(compared.to_json() | {"text": self.title}, self.manifests(context.store))


def has_hanta() -> bool:
    """Whether the tagger is installed."""
    return is_installed("HanTa")


def _tagged_texts(cell: Cell) -> dict[str, Path]:
    """Gold tags where the folder has them, and for German the raw test text, which a tagger tags."""
    texts = _by_stem(cell.source.beside("pos", f"{cell.language}_*.conllu*"))
    test = cell.texts.description.files.get("test")
    if cell.language == "de" and test is not None and has_hanta():
        texts[HANTA] = test
    return texts


def _by_stem(paths: Iterable[Path]) -> dict[str, Path]:
    """Files by their names without endings, which must differ: compressed or not, one text is one analysis."""
    texts: dict[str, Path] = {}
    for path in paths:
        stem = path.name.partition(".")[0]
        if stem in texts:
            raise ConfigError(f"{texts[stem]} and {path} have the same name in reports, {stem}; rename or remove one")
        texts[stem] = path
    return texts
