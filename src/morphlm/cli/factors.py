"""`morphlm factors`: a vocabulary's words as factors, from any source of mu."""

from __future__ import annotations

from pathlib import Path

import click

from morphlm.cli import options
from morphlm.files import atomic_writer, check_can_write
from morphlm.segmentation.factors import FACTORS_FILE, MORPHEMES_FILE, build_factors
from morphlm.segmentation.source_spec import choose_source
from morphlm.segmentation.sources.registry import BUILT_IN
from morphlm.vocabulary.vocabulary import load_vocabulary

SOURCES = "; ".join(f"{source.name}:{source.argument}, {source.description}" for source in BUILT_IN)


@click.command(
    name="factors",
    help=f"""Map each word of a vocabulary to its factors: its surface form and what a source gives.

SOURCE is NAME:ARGUMENT, one of: {SOURCES}. Installed packages may add others.

With --out, `{MORPHEMES_FILE}` (word TAB factor factor ...) and `{FACTORS_FILE}` (kind TAB factor) are written into
that folder.""",
)
@click.argument("source")
@click.option("--vocab", required=True, metavar="FILE", help="The vocabulary, as `morphlm vocab --out` writes it.")
@click.option("--out", metavar="DIR", type=click.Path(file_okay=False), help="Write the tables into this folder.")
@click.option(
    "--surface/--no-surface",
    default=True,
    show_default=True,
    help="Whether the surface form of a word is one of its factors.",
)
@click.option(
    "--labels/--no-labels", default=True, show_default=True, help="Whether in/PRE and in/STM are different factors."
)
@options.as_json
def command(source: str, vocab: str, out: str | None, surface: bool, labels: bool, as_json: bool) -> None:
    """Build the factors of a vocabulary; the help text is above, because it lists the sources."""
    vocabulary = load_vocabulary(vocab)
    factors = build_factors(vocabulary, choose_source(source, vocabulary, labels=labels), surface=surface)
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
        for name, text in factors.to_texts().items():
            check_can_write(Path(out) / name)
            with atomic_writer(Path(out) / name) as file:
                file.write(text.encode())
    options.print_result(factors, as_json)
