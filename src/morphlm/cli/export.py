"""`morphlm export`: a model's word vectors as a file for other tools, or the whole model compiled for decoders."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options, vector_options
from morphlm.compiled.exporting import CompiledExport, check_compiled_path, export_compiled
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.progress import notify
from morphlm.scoring.loading import load
from morphlm.text.reading import read_blocks, split_tokens
from morphlm.vectors.export import Exported, check_export, export_vectors, read_words
from morphlm.vectors.writing import FORMATS

COMPILED = "compiled"  # the format that is no format of vectors


@click.command(name="export")
@click.argument("model_path", metavar="MODEL")
@click.argument("out")
@click.option("--format", "file_format", type=click.Choice((*FORMATS, COMPILED)), default="word2vec")
@click.option("--float16", "half", is_flag=True, help="Write half precision, 3 digits (npy, safetensors, compiled).")
@click.option("--extra-words", metavar="FILE", help="Also write these words, composed of their known morphemes.")
@click.option("--after", metavar="FILE", help="Fix the wide context of a compiled model by this text.")
@vector_options.choice
@vector_options.prepared
@options.as_json
def command(
    model_path: str,
    out: str,
    file_format: str,
    half: bool,
    extra_words: str | None,
    after: str | None,
    prepared: bool,
    as_json: bool,
    **choice: Any,
) -> None:
    """Write the vectors of all words of MODEL to OUT, or (--format compiled) MODEL itself for decoders.

    npy writes the words beside the matrix, to a file ending in .words.txt; safetensors holds them as bytes. With '-'
    the word2vec formats go to standard output. A summary goes to standard error, with --json to standard output.

    A compiled model is one file that is mapped and scored as it is, by morphlm and by the C++ header morphlm.hpp.
    """
    options.check_model_first(model_path, out)
    if file_format == COMPILED:
        exported: CompiledExport | Exported = _compile(model_path, out, half, extra_words, after, prepared, choice)
    else:
        exported = _write_vectors(model_path, out, file_format, half, extra_words, after, prepared, choice)
    if as_json:
        options.print_json(exported.to_json(), err=out == "-")
    else:
        notify(exported.format())


def _compile(
    path: str, out: str, half: bool, extra_words: str | None, after: str | None, prepared: bool, choice: dict[str, Any]
) -> CompiledExport:
    if choice != {"side": "both", "centre": False, "normalise": False}:
        raise ConfigError("a compiled model has all of its vectors as they are; leave the options of vectors out")
    check_compiled_path(out)
    extra = [] if extra_words is None else read_words(extra_words)
    lines = [] if after is None else [line for block in read_blocks(after) for line in block.lines()]
    model = load(path)
    text = [split_tokens(line) if prepared else model.tokens(line) for line in lines]
    if after is None and model.reach:
        notify("wide contexts and caches stay empty; --after FILE fixes them by a text")
    return export_compiled(model, out, float16=half, extra_words=extra, prepared=prepared, after=text)


def _write_vectors(
    path: str,
    out: str,
    file_format: str,
    half: bool,
    extra_words: str | None,
    after: str | None,
    prepared: bool,
    choice: dict[str, Any],
) -> Exported:
    if after is not None:
        raise ConfigError("vectors depend on no text before; leave --after out, or take --format compiled")
    check_export(out, file_format, half=half)
    check_can_write(out)
    extra = [] if extra_words is None else read_words(extra_words)
    vectors = vector_options.model_vectors(path, **choice)
    return export_vectors(vectors, out, file_format, half=half, extra_words=extra, prepared=prepared)
