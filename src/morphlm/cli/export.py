"""`morphlm export`: a model's word vectors as a file for other tools."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options, vector_options
from morphlm.files import check_can_write
from morphlm.progress import notify
from morphlm.vectors.export import check_export, export_vectors, read_words
from morphlm.vectors.writing import FORMATS


@click.command(name="export")
@click.argument("model_path", metavar="MODEL")
@click.argument("out")
@click.option("--format", "file_format", type=click.Choice(FORMATS), default="word2vec")
@click.option("--float16", "half", is_flag=True, help="Write half precision, 3 digits (npy and safetensors).")
@click.option("--extra-words", metavar="FILE", help="Also write these words, composed of their known morphemes.")
@vector_options.choice
@vector_options.prepared
@options.as_json
def command(
    model_path: str,
    out: str,
    file_format: str,
    half: bool,
    extra_words: str | None,
    prepared: bool,
    as_json: bool,
    **choice: Any,
) -> None:
    """Write the vectors of all words of MODEL to OUT.

    npy writes the words beside the matrix, to a file ending in .words.txt; safetensors holds them as bytes. With '-'
    the word2vec formats go to standard output. A summary goes to standard error, with --json to standard output.
    """
    options.check_model_first(model_path, out)
    check_export(out, file_format, half=half)
    check_can_write(out)
    extra = [] if extra_words is None else read_words(extra_words)
    vectors = vector_options.model_vectors(model_path, **choice)
    exported = export_vectors(vectors, out, file_format, half=half, extra_words=extra, prepared=prepared)
    if as_json:
        options.print_json(exported.to_json(), err=out == "-")
    else:
        notify(exported.format())
