"""Data sets of rows with a text in them: read row by row, as often as needed, wherever raw lines are taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import morphlm
from morphlm.errors import ConfigError, InputError
from morphlm.integrations.datasets import texts
from tests.integrations.models import HELD_OUT, model_of
from tests.training.small import sentences

TRAIN = [" ".join(sentence) for sentence in sentences(200, 1, rare=True)]
ROWS = [{"id": number, "text": text} for number, text in enumerate(TRAIN)]


class Streamed:
    """A data set that makes its rows one by one and counts them."""

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.made, self.passes = lines, 0, 0

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        self.passes += 1
        for line in self.lines:
            self.made += 1
            yield {"text": line, "other": None}


def test_rows_are_read_one_by_one_and_again() -> None:
    dataset = Streamed(TRAIN)
    lines = texts(dataset)
    assert dataset.made == 0
    assert next(iter(lines)) == TRAIN[0]
    assert dataset.made == 1
    assert list(lines) == list(lines) == TRAIN


def test_training_perplexity_and_learning_take_it(tmp_path: Any) -> None:
    dataset = Streamed(TRAIN)
    model = morphlm.train("mkn", texts(dataset), texts(Streamed(HELD_OUT)), kappa=0)
    expected = morphlm.train("mkn", TRAIN, HELD_OUT, kappa=0)
    assert model.perplexity(texts(Streamed(HELD_OUT))).logprob == expected.perplexity(HELD_OUT).logprob
    assert dataset.passes <= 2  # once to see whether its items are strings
    assert dataset.made <= len(TRAIN) + 1
    assert model_of("mixture").perplexity(texts(Streamed(HELD_OUT))).sentences == len(HELD_OUT)
    learned = morphlm.learn(texts(Streamed(TRAIN)), tmp_path / "learned", language="cs", minutes=0.02)
    assert learned.model.perplexity(HELD_OUT).tokens > 0


def test_other_fields_functions_and_empty_rows() -> None:
    rows: list[dict[str, Any]] = [
        {"translation": {"cs": "škola"}},
        {"translation": {"cs": None}},
        {"translation": {"cs": "dům"}},
    ]
    assert list(texts(rows, lambda row: row["translation"]["cs"])) == ["škola", "dům"]
    plain: list[dict[str, Any]] = [{"sentence": "škola"}, {"sentence": None}, {"sentence": ""}]
    assert list(texts(plain, "sentence")) == ["škola", ""]


def test_what_is_no_data_set_is_refused() -> None:
    with pytest.raises(ConfigError, match="can be read only once"):
        texts(iter(ROWS))
    for wrong in (None, "text", {"train": ROWS}):
        with pytest.raises(ConfigError, match="give one split"):
            texts(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"<dataset>:1: the row has no field 'texts'; do you mean text\?"):
        list(texts(ROWS, "texts"))
    with pytest.raises(InputError, match="<dataset>:1: 0 is no text"):
        list(texts(ROWS, "id"))
    with pytest.raises(InputError, match="<dataset>:2: 'škola' is no row"):
        list(texts([ROWS[0], "škola"]))  # type: ignore[list-item]


# ---------------------------------------------------------------- the package


def made(kind: str) -> Any:
    package = pytest.importorskip("datasets")
    if kind == "in memory":
        return package.Dataset.from_list(ROWS)
    if kind == "columns for torch":
        return package.Dataset.from_list(ROWS).with_format("numpy")
    if kind == "iterable":
        return package.Dataset.from_list(ROWS).to_iterable_dataset(num_shards=3)
    return package.IterableDataset.from_generator(lambda: iter(ROWS))


@pytest.mark.parametrize("kind", ["in memory", "columns for torch", "iterable", "generated"])
def test_data_sets_of_hugging_face(kind: str) -> None:
    lines = texts(made(kind), "text")
    assert list(lines) == list(lines) == TRAIN
    model = morphlm.train("mkn", lines, HELD_OUT, kappa=0)
    assert model.perplexity(lines).logprob == morphlm.train("mkn", TRAIN, HELD_OUT, kappa=0).perplexity(TRAIN).logprob


def test_only_the_column_of_the_text_is_read() -> None:
    package = pytest.importorskip("datasets")
    dataset = package.Dataset.from_list(ROWS)
    seen: list[list[str]] = []
    select = dataset.select_columns

    def noted(names: list[str]) -> Any:
        seen.append(names)
        return select(names)

    dataset.select_columns = noted
    assert next(iter(texts(dataset))) == TRAIN[0]
    assert seen == [["text"]]


def test_a_data_set_with_splits_is_refused() -> None:
    package = pytest.importorskip("datasets")
    with pytest.raises(ConfigError, match="give one split"):
        texts(package.DatasetDict({"train": package.Dataset.from_list(ROWS)}))
