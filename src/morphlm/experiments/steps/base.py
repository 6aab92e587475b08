"""What every step of an experiment is: a result with a key that is known before it is made.

A kind of step is one class in one module of this folder. It says how a step is described (`describe`; the key follows
from that and from the `producer`), estimated (`estimate`), run (`run`) and rendered: `location` is what the list of
steps prints of it, `read` turns its JSON into what sections of the report work with. `for_cell` says which steps of
this kind the models of a cell need; parts.py lists the kinds that a part of a report asks for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.store import Record, Store, hashes_of
from morphlm.lazy import cached_property

if TYPE_CHECKING:  # a cell has steps
    from morphlm.experiments.cell import Cell
    from morphlm.experiments.recipe import Recipe
    from morphlm.experiments.text_source import TextSource

SHORT_KEY = 8  # digits of a key in the name of a folder
START = 1.5  # seconds of a step before and after its work: reading, loading, writing

Content = TypeVar("Content")
Shared = TypeVar("Shared")
Measured = Mapping[str, Mapping[str, Any]]  # key -> results that tell sizes: those of texts and of training inputs


@dataclass(frozen=True)
class Description:
    """What the key of a step is made of, and its name."""

    name: str  # in lists and messages: `cs 1m kappa 0.2, clbl++`
    settings: Mapping[str, Any] = field(default_factory=dict)  # JSON
    inputs: tuple[Step[Any], ...] = ()  # whose results it depends on
    files: Mapping[str, Path] = field(default_factory=dict)  # from outside the store, by role; their content counts
    run_after: tuple[Step[Any], ...] = ()  # save it time when they are done before; they are not part of the key


@dataclass(frozen=True)
class StepResult:
    """What running a step gives."""

    content: dict[str, Any]  # for the record and the report; JSON
    files: Sequence[Path] = ()  # below the store: once one of them changes, the step is to be run again
    fresh: bool = True  # all of the work was done now, so that its time tells something


@dataclass
class RunContext:
    """What a step may use while it runs: the store, in which the results of its inputs lie."""

    store: Store
    warn: Callable[[str], None]  # shows a message to the user; all else that a step prints goes to its log
    _shared: tuple[str, Any] | None = None

    def shared(self, key: str, make: Callable[[], Shared]) -> Shared:
        """What the next steps need again. Only the last one is held in memory, which may be too small for two."""
        if self._shared is None or self._shared[0] != key:
            self._shared = None
            self._shared = (key, make())
        result: Shared = self._shared[1]
        return result


class Step(ABC, Generic[Content]):
    """One piece of work with one result. Subclasses are frozen dataclasses; steps with the same key are equal."""

    producer: ClassVar[Producer]  # its name is the kind of step
    is_evaluation: ClassVar[bool] = False  # a quick one is still run when the time is up

    @abstractmethod
    def describe(self) -> Description:
        """What it is called and what its result depends on."""

    @cached_property
    def description(self) -> Description:
        return self.describe()

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def inputs(self) -> tuple[Step[Any], ...]:
        return self.description.inputs

    @property
    def needs(self) -> tuple[Step[Any], ...]:
        return (*self.description.inputs, *self.description.run_after)

    @cached_property
    def key(self) -> str:
        """The hash of everything that the result depends on."""
        settings, files = dict(self.description.settings), hashes_of(self.description.files)
        return self.producer.key(settings=settings, inputs=[step.key for step in self.inputs], files=files)

    @property
    def short_key(self) -> str:
        return self.key[:SHORT_KEY]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @classmethod
    def for_cell(cls, cell: Cell) -> Mapping[str, Step[Any]]:
        """The steps of this kind for the models of a cell, by what reports call them."""
        return {}

    @classmethod
    def missing_data(cls, recipe: Recipe, source: TextSource) -> Iterator[str]:
        """What the folder of data lacks for steps of this kind."""
        yield from ()

    @abstractmethod
    def estimate(self, store: Store, measured: Measured) -> Cost:
        """Its time and disk space; `measured` has the real sizes of texts and vocabularies that exist."""

    @property
    def group(self) -> str:
        """Steps of one group take similar time: what one of them took corrects the estimates of the others."""
        return self.producer.name

    @abstractmethod
    def run(self, context: RunContext) -> StepResult:
        """Do the work; the results of its inputs are in the store."""

    def find(self, store: Store) -> Record | None:
        """The record of an earlier run, if all of it is still there."""
        return store.shelf(self.producer.name).find(self.key)

    def location(self, store: Store) -> Path | None:
        """The directory of its result, if the list of steps should show it."""
        return None

    def read(self, content: dict[str, Any]) -> Content:
        """What sections of the report work with; by default the JSON itself."""
        result: Any = content
        return result  # type: ignore[no-any-return]


def in_order(wanted: Iterable[Step[Any]]) -> list[Step[Any]]:
    """The steps and all that they need, each once, a step after those it needs."""
    ordered: dict[str, Step[Any]] = {}
    for step in wanted:
        for needed in _with_needs(step, ordered):
            ordered[needed.key] = needed
    return list(ordered.values())


def _with_needs(step: Step[Any], ordered: Mapping[str, Step[Any]]) -> Iterator[Step[Any]]:
    if step.key in ordered:
        return
    for need in step.needs:
        yield from _with_needs(need, ordered)
    yield step
