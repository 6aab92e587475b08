"""Texts of data sets in the style of Hugging Face: rows that are dicts, one field of which is text.

`texts(dataset, "text")` is what `morphlm.train`, `learn`, `perplexity` and all others take as raw lines. Rows need only
be mappings, so the package `datasets` need not be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from morphlm.arguments import shown
from morphlm.errors import ConfigError, InputError, did_you_mean

__all__ = ["Texts", "texts"]

Field = str | Callable[[Mapping[str, Any]], str | None]


class Texts:
    """The texts of a data set, read row by row, each time from its beginning."""

    def __init__(self, dataset: Iterable[Mapping[str, Any]], field: Field) -> None:
        """Refuse what can be gone through only once, since training may read it again."""
        if isinstance(dataset, str | bytes | Mapping) or not isinstance(dataset, Iterable):
            raise ConfigError(f"{shown(dataset)} is no data set; give one split: an iterable of dicts")
        if iter(dataset) is dataset:
            raise ConfigError("the data set can be read only once; give the data set itself, not an iterator of it")
        self._dataset, self._field = dataset, field

    def __iter__(self) -> Iterator[str]:
        for number, row in enumerate(self._rows(), 1):
            text = self._text_of(row, number)
            if text is not None:
                yield text

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """The rows; a data set with columns reads no other than the field's."""
        select = getattr(self._dataset, "select_columns", None)
        columns = getattr(self._dataset, "column_names", None)
        if isinstance(self._field, str) and callable(select) and columns and self._field in columns:
            selected: Iterable[Mapping[str, Any]] = select([self._field])
            return selected
        return self._dataset

    def _text_of(self, row: Mapping[str, Any], number: int) -> str | None:
        if not isinstance(row, Mapping):
            raise InputError(f"{shown(row)} is no row; rows are dicts", source="<dataset>", line=number)
        text = self._field(row) if callable(self._field) else self._value(row, self._field, number)
        if text is not None and not isinstance(text, str):
            raise InputError(f"{shown(text)} is no text; name a field of text", source="<dataset>", line=number)
        return text

    @staticmethod
    def _value(row: Mapping[str, Any], field: str, number: int) -> Any:
        if field not in row:
            problem = f"the row has no field {field!r}; {did_you_mean(field, list(map(str, row)))}"
            raise InputError(problem, source="<dataset>", line=number)
        return row[field]


def texts(dataset: Iterable[Mapping[str, Any]], field: Field = "text") -> Texts:
    """The texts of a data set, for whatever takes raw lines: strings, read row by row and as often as needed.

    `field` names the text in each row, or is a function that finds it: `lambda row: row["translation"]["cs"]`. Rows
    whose text is None are left out.
    """
    return Texts(dataset, field)
