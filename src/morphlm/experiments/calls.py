"""The paper's experiments and the demo, in one call each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from morphlm.experiments.demo import DemoConfig, DemoResult, run_demo
from morphlm.experiments.reproduce import Preview, ReproduceRequest, Reproduction, look_ahead, reproduce
from morphlm.progress import ProgressOption, reports_progress

STORE = "morphlm-store"  # where results are kept


@reports_progress
def run_recipe(
    recipe: str,
    data: str | Path | None = None,
    *,
    store: str | Path = STORE,
    out: str | Path | None = None,
    languages: Sequence[str] | None = None,
    tokens: int | None = None,
    minutes: float | None = None,
    progress: ProgressOption = None,
) -> Reproduction:
    """Run an experiment of the paper and write its report; what was done before is found in the `store`.

    `recipe` is a name of `recipe_names()`, or the path of a TOML file. `data` is the folder of raw text, which recipes
    need that name no data set. The report goes to the folder `out`, by default in the store. `languages` and `tokens`
    restrict the recipe to some languages and to training texts of so many tokens; `minutes` leaves out as much as is
    needed to be done in this time. `progress` is as of `morphlm.train`.
    """
    return reproduce(_request(recipe, data, store, out, languages, tokens, minutes))


def preview_recipe(
    recipe: str,
    data: str | Path | None = None,
    *,
    store: str | Path = STORE,
    languages: Sequence[str] | None = None,
    tokens: int | None = None,
    minutes: float | None = None,
) -> Preview:
    """What `run_recipe` would do with the same `recipe` and arguments, how long it takes and how much it writes."""
    return look_ahead(_request(recipe, data, store, None, languages, tokens, minutes))


def _request(
    recipe: str,
    data: str | Path | None,
    store: str | Path,
    out: str | Path | None,
    languages: Sequence[str] | None,
    tokens: int | None,
    minutes: float | None,
) -> ReproduceRequest:
    return ReproduceRequest(
        recipe,
        None if data is None else Path(data),
        Path(store),
        None if out is None else Path(out),
        None if languages is None else tuple(languages),
        tokens,
        minutes,
    )


@reports_progress
def make_demo(
    directory: str | Path = "demo",
    *,
    language: str = "cs",
    minutes: float | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
) -> DemoResult:
    """Get the default text, learn from it as `morphlm.learn` does, and look at some words of it.

    Text and model stay in the `directory`. `minutes` bounds the time; by default it is what the text needs. Where the
    text cannot be fetched, a generated language is used. `progress` is as of `morphlm.train`.
    """
    return run_demo(DemoConfig(Path(directory), language, minutes, seed))
