"""The schema of a directory with a manifest: configuration, training record, self-test, texts and tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.schema.documents import parse_json
from morphlm.schema.tensors import Tensor, TensorLayout, check_layout, check_values
from morphlm.schema.values import ListOf, Number, Record, SchemaError, String, Value
from morphlm.tables import counted

LARGEST_TEXT = 1 << 30  # bytes
SELF_TEST = ListOf(
    Record({"tokens": ListOf(String(), longest=20), "logprobs": ListOf(Number(at_most=1e-4), longest=21)}),
    shortest=1,
    longest=20,
)  # of a language model; scored whenever one is loaded, so that a long one would take minutes


@dataclass(frozen=True)
class Text:
    """A text file in UTF-8. What its lines are is for the code that parses it, line by line."""

    lines: str = ""  # the name of a size: the number of lines
    largest: int = LARGEST_TEXT  # bytes

    __repr__ = dataclass_repr

    def check(self, name: str, text: str, sizes: MutableMapping[str, int]) -> None:
        """Note the number of lines. Raises SchemaError if the last one does not end."""
        if text and not text.endswith("\n"):
            raise SchemaError(f"the last line of {name} has no end")
        if self.lines:
            number = text.count("\n")
            if sizes.setdefault(self.lines, number) != number:
                raise SchemaError(f"{name} has {counted(number, 'line')}, not {sizes[self.lines]}")


@dataclass(frozen=True)
class JsonText(Text):
    """A text file that holds one JSON value."""

    value: Value = field(default_factory=lambda: Record({}))
    largest: int = 1 << 24

    __repr__ = dataclass_repr

    def check(self, name: str, text: str, sizes: MutableMapping[str, int]) -> None:
        self.value.check(parse_json(text.encode(), name), name)


@dataclass(frozen=True)
class Contents:
    """What the directory holds, so far as it has been read and checked."""

    configuration: Mapping[str, Any]
    training: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    tensors: Mapping[str, Array] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    layouts: Mapping[str, TensorLayout] = field(default_factory=dict)
    parts: tuple[str, ...] = ()

    __repr__ = dataclass_repr


Texts = Mapping[str, Text]
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class ArtefactSchema:
    """What a directory of a kind holds. Texts and tensors may depend on what has been checked before them.

    Checking goes from the small to the large: configuration, training record and self-test, texts, the header of the
    tensors, their values. Last come relations between arrays, which are functions that name what is wrong, or ''.
    """

    configuration: Value = field(default_factory=lambda: Record({}))
    training: Value = field(default_factory=lambda: Record({}, is_open=True))
    self_test: Value = SELF_TEST
    texts: Texts | Callable[[Mapping[str, Any]], Texts] = field(default_factory=dict)  # of the configuration
    optional_texts: Texts = field(default_factory=dict)
    tensors: Tensors | Callable[[Contents], Tensors] = field(default_factory=dict)
    sizes: Callable[[Mapping[str, Any]], Mapping[str, int]] | None = None  # that the configuration tells
    relations: tuple[Callable[[Contents], str], ...] = ()
    has_parts: bool = False  # other artefacts in `components/`

    __repr__ = dataclass_repr

    def check_records(self, configuration: Any, training: Any, self_test: Any) -> None:
        """The JSON of the manifest. Raises SchemaError."""
        self.configuration.check(configuration, "configuration")
        self.training.check(training, "training")
        self.self_test.check(self_test, "self_test")

    def texts_of(self, configuration: Mapping[str, Any], present: Mapping[str, Any]) -> Texts:
        """The declared texts, of the optional ones those that are present. Raises SchemaError if others are there."""
        needed = self.texts(configuration) if callable(self.texts) else self.texts
        declared = {**needed, **{name: text for name, text in self.optional_texts.items() if name in present}}
        if missing := sorted(declared.keys() - present.keys()):
            raise SchemaError(f"the file {missing[0]} is missing")
        if unknown := sorted(present.keys() - declared.keys()):
            raise SchemaError(f"a file {ascii(unknown[0])[:60]} does not belong there")
        return declared

    def tensors_of(self, contents: Contents) -> Tensors:
        """The declared tensors."""
        return self.tensors(contents) if callable(self.tensors) else self.tensors

    def check_texts(self, configuration: Mapping[str, Any], texts: Mapping[str, str]) -> dict[str, int]:
        """All texts; gives the sizes that configuration and texts tell. Raises SchemaError."""
        sizes = dict(self.sizes(configuration)) if self.sizes is not None else {}
        for name, declared in self.texts_of(configuration, texts).items():
            declared.check(name, texts[name], sizes)
        return sizes

    def check_tensors(
        self, contents: Contents, layouts: Mapping[str, TensorLayout], sizes: MutableMapping[str, int]
    ) -> None:
        """What the header says of the tensors, before any of their data is looked at. Raises SchemaError."""
        check_layout(self.tensors_of(contents), layouts, sizes)

    def check_contents(self, contents: Contents) -> None:
        """The values of the tensors, and what must hold between them. Raises SchemaError."""
        for name, declared in self.tensors_of(contents).items():
            check_values(name, declared, contents.tensors[name], contents.sizes)
        for relation in self.relations:
            if problem := relation(contents):
                raise SchemaError(problem)
