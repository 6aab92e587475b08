"""`morphlm analyse pos`: two models by part of speech."""

from __future__ import annotations

from typing import Any

import click

from morphlm.analysis.tag_alignment import read_tagged_for
from morphlm.analysis.tag_reading import Column, Format
from morphlm.analysis.tags import tag_comparison
from morphlm.cli import options
from morphlm.cli.analyse.options import load_two, pictures, show, two_models


@click.command(name="pos")
@two_models
@click.argument("files", nargs=-1, metavar="[TAGGED]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["conllu", "slashes", "hanta"]),
    default="conllu",
    help="CoNLL-U; token/TAG, a sentence a line; or raw German text, which HanTa tags (extra: pos).",
)
@click.option(
    "--column",
    type=click.Choice(["upos", "xpos"]),
    default="upos",
    help="Which tags of CoNLL-U: universal ones or the language's own.",
)
@click.option("--coarse", is_flag=True, help="Group UPOS or STTS tags: Noun, Adjective, Verb, ..., Rest.")
@click.option("--unseen-apart", is_flag=True, help="Put words unknown to the baseline into a group of their own.")
@click.option(
    "--sequence",
    "sequences",
    multiple=True,
    metavar="TAG,TAG",
    help="Also compare on this sequence of tags (repeatable).",
)
@click.option("--text", metavar="FILE", help="Text of the same sentences to score.")
@options.prepared
@options.encoding
@pictures
@options.seed
@options.as_json
def command(
    baseline: str,
    other: str,
    files: tuple[str, ...],
    form: Format,
    column: Column,
    sequences: tuple[str, ...],
    text: str | None,
    prepared: bool | None,
    encoding: str | None,
    pictures: tuple[str, ...],
    as_json: bool,
    **choices: Any,
) -> None:
    """Perplexity of two models on tagged text, by part of speech and on sequences of tags.

    Tagged tokens keep their case in the file; they are prepared like the models' training text, and every token that
    results has the tag. A token for several words (zum: zu dem) has their tags, ADP+DET. The change is that of OTHER
    relative to BASELINE.

    \b
      morphlm analyse pos de.clbl de.clbl++ test.conllu --sequence ADJ,NOUN --sequence ADJ,ADJ,NOUN
      morphlm analyse pos de.clbl de.clbl++ raw.de.txt --format hanta --coarse --sequence Adjective,Noun
    """
    paths = options.or_stdin(files)
    options.check_one_stdin(baseline, other, *paths, *([] if text is None else [text]))
    options.check_model_first(baseline, *paths)
    options.check_model_first(other, *paths)
    first, second, names = load_two(baseline, other)
    tagged = read_tagged_for([first, second], paths, form, column=column, text=text)
    split = [sequence.split(",") for sequence in sequences]
    result = tag_comparison(
        first, second, tagged, sequences=split, text=text, prepared=prepared, encoding=encoding, names=names, **choices
    )
    show(result, as_json, pictures)
