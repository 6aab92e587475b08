"""The report: one HTML file with everything in it, that opens without a network.

`make_report` loads, scores and writes; `page` puts sections together. A Content-Security-Policy in the page forbids
all requests, so that whoever opens it can be sure that there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from morphlm.display import Row, Tabular, dataclass_repr, flattened
from morphlm.errors import ConfigError
from morphlm.files import atomic_writer, check_can_write
from morphlm.language_model.perplexity import Perplexity
from morphlm.progress import ProgressOption, progress_bar, reports_progress
from morphlm.report.headline import Headline, headline_of
from morphlm.report.html import Markup, joined, paragraph, tag
from morphlm.report.numbers import decimal, share, whole
from morphlm.report.scored_models import ScoredModels, names_of, score_models
from morphlm.report.sections import SECTIONS
from morphlm.report.sections.section import PageSection
from morphlm.tables import whole_percent
from morphlm.version import __version__

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
STYLES = ("style.css", "report.css")
SCRIPTS = ("map.js", "report.js")


@dataclass(frozen=True)
class WrittenReport(Tabular):
    """A report, where it is, and the figures it begins with."""

    out: str
    bytes: int
    sections: tuple[str, ...]
    perplexities: tuple[tuple[str, Perplexity], ...]
    headline: Headline

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        return [{"model": name, **flattened(result.to_json())} for name, result in self.perplexities]

    def to_json(self) -> dict[str, Any]:
        return {
            "out": self.out,
            "bytes": self.bytes,
            "headline": self.headline.to_json(),
            "sections": list(self.sections),
            "perplexities": [{"name": name} | result.to_json() for name, result in self.perplexities],
        }


@reports_progress
def make_report(
    models: Sequence[str | Path],
    test: str | Path,
    out: str | Path,
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
) -> WrittenReport:
    """Write the report on models (directories or ARPA files) and a test text; what is there is replaced in one step.

    Raw text is prepared as the models' training text was; `prepared` is as of `LanguageModel.perplexity`.
    """
    if not models:
        raise ConfigError("no model is named; name one or more")
    check_can_write(out)
    paths = list(map(str, models))
    scored_models = score_models(
        paths, str(test), allow_unknown=allow_unknown, prepared=prepared, encoding=encoding, seed=seed
    )
    return write_report(scored_models, out)


def write_report(scored_models: ScoredModels, out: str | Path) -> WrittenReport:
    """Write the report on models that are loaded and have scored the text."""
    sections, first = make_sections(scored_models), headline_of(scored_models)
    content = page(scored_models, sections, first).encode()
    with atomic_writer(out) as file:
        file.write(content)
    perplexities = tuple((scored_model.name, scored_model.perplexity) for scored_model in scored_models.models)
    return WrittenReport(str(out), len(content), tuple(section.identity for section in sections), perplexities, first)


def make_sections(scored_models: ScoredModels) -> list[PageSection]:
    """All sections in order; one that does not apply says why."""
    sections = []
    with progress_bar("report", len(SECTIONS), unit="section") as bar:
        for make in SECTIONS:
            sections.append(make(scored_models))
            bar.update()
    return sections


# ---------------------------------------------------------------- the page


def page(scored_models: ScoredModels, sections: Sequence[PageSection], headline: Headline) -> Markup:
    """The whole HTML document."""
    title = f"Report on {names_of(scored_models.models)}"
    main = tag("main", joined(section.html() for section in sections))
    footer = tag("footer", f"Made by morphlm {__version__}. This page makes no network requests.", class_="note")
    body = tag("div", _header(title, scored_models, headline), _contents(sections), main, footer, class_="page report")
    scripts = [tag("script", _asset(name)) for name in SCRIPTS]
    document = tag("html", _head(title), tag("body", body, scripts), lang="en")
    return Markup(f"<!DOCTYPE html>\n{document}\n")


def _head(title: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"morphlm {__version__}"),
        tag("title", title),
        [tag("style", _asset(name)) for name in STYLES],
    )


def _asset(name: str) -> Markup:
    """A file of the package; nothing in it ends the element around it, which a test makes sure of."""
    return Markup(files("morphlm.report").joinpath("assets", name).read_text("utf-8"))


def _header(title: str, scored_models: ScoredModels, headline: Headline) -> Markup:
    text, many = scored_models.text, len(scored_models.models)
    size = f"{whole(len(text.sentences))} sentences, {whole(len(text.forms))} tokens"
    lead = f"{'1 model' if many == 1 else f'{many} models'} on {text.name}, {size}. All figures are of this test text."
    clauses = f"{headline.format()}.".replace("; ", ";\n").split("\n")  # a line for each, where there is room
    said = tag("p", joined((tag("span", clause) for clause in clauses), " "), class_="headline")
    return tag("header", tag("h1", title), said, paragraph(lead, class_="muted"), _figures(scored_models, headline))


def _figures(scored_models: ScoredModels, headline: Headline) -> Markup:
    """The numbers that the headline is made of."""
    tiles = [(decimal(headline.perplexity, 1), f"perplexity of {headline.model}")]
    if headline.kneser_ney is not None:
        tiles.append((decimal(headline.kneser_ney, 1), f"perplexity of {headline.baseline}, Kneser-Ney"))
    if headline.with_caches is not None:
        tiles.append((decimal(headline.with_caches, 1), f"perplexity of {headline.cached_model}, with caches"))
    unknown = scored_models.first.perplexity.unknown
    tiles.append((share(unknown, len(scored_models.text.forms)), "of the tokens are words never seen"))
    if headline.composable is not None:
        tiles.append((whole_percent(headline.composable), "of the different words never seen can be composed"))
    entries = [tag("div", tag("dt", name), tag("dd", number)) for number, name in tiles]
    return tag("dl", entries, class_="figures")


def _contents(sections: Sequence[PageSection]) -> Markup:
    entries = [tag("li", tag("a", section.title, href=f"#{section.identity}")) for section in sections]
    return tag("nav", tag("ol", entries), aria_label="Contents", class_="contents")
