"""`morphlm classes`: a partition of the vocabulary into word classes, or the evaluation of one that a file holds."""

from __future__ import annotations

from typing import Any

import click

from morphlm.classes.formats import FORMATS, read_given_classes
from morphlm.classes.methods import ClassOptions, make_classes, read_for_classes
from morphlm.classes.partition import Partition
from morphlm.cli import options
from morphlm.cli.setting_options import SettingOptions
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.language_model.signature import Signature, in_thousands
from morphlm.version import __version__

CLASS_SETTINGS = SettingOptions(ClassOptions)


@click.command(name="classes")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--train", "files", multiple=True, metavar="FILE", help="Training text, as TEXT; repeatable ['-'].")
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Write the classes here.")
@CLASS_SETTINGS
@click.option("--vocab", type=click.Path(), metavar="FILE", help="Use this vocabulary; other words become UNK.")
@options.kappa(0.2)
@options.seed
@click.option(
    "--read",
    "class_file",
    type=click.Path(),
    metavar="FILE",
    help="Read and evaluate the classes of this file instead.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(list(FORMATS)),
    default="tsv",
    show_default=True,
    help="Format of the file of --read.",
)
@click.option("--examples", is_flag=True, help="Also print the ten most frequent words of each class.")
@options.header
@options.allow_unk
@options.as_json
def command(
    texts: tuple[str, ...],
    files: tuple[str, ...],
    vocab: str | None,
    kappa: float,
    seed: int,
    out: str | None,
    allow_unknown: bool,
    examples: bool,
    has_header: bool,
    as_json: bool,
    class_file: str | None,
    file_format: str,
    **settings: Any,
) -> None:
    """Partition the vocabulary of prepared text into classes whose neighbours tell most about each other.

    Prints the mutual information of adjacent classes and their sizes. The file has `class TAB word TAB count` on each
    line, classes by frequency; the models with a class-based softmax take it.

    \b
      morphlm classes train.txt --out classes.tsv --examples
      morphlm classes train.txt --read brown/paths --format paths
    """
    chosen = ClassOptions(**CLASS_SETTINGS.chosen(settings), seed=seed)
    if class_file is not None and (chosen.number or chosen.max_class_size or chosen.method != "exchange"):
        raise ConfigError("--read takes the classes as they are; leave out --classes, --method and --max-class-size")
    if out is not None:
        check_can_write(out)
    given = options.as_paths(options.or_stdin((*files, *texts)))
    corpus = read_for_classes(given, vocab, kappa, seed, allow_unknown=allow_unknown)
    if class_file is None:
        partition = make_classes(corpus, chosen)
    else:
        partition = read_given_classes(class_file, file_format, corpus.vocabulary)
    if partition.mutual_information is None:
        partition = partition.measured_on(corpus)
    if out is not None:
        partition.save(out)
    signature = _signature(partition, None if vocab else kappa, seed)
    _report(partition, signature, examples, has_header, as_json, to_stdout=out != "-")


def _signature(partition: Partition, kappa: float | None, seed: int) -> Signature:
    fields = {"method": partition.method, "C": str(partition.classes), "V": in_thousands(len(partition.vocabulary))}
    fields |= {"kappa": "given" if kappa is None else f"{kappa:g}", "seed": str(seed), "v": __version__}
    return Signature("ami", tuple(fields.items()))


def _report(
    partition: Partition, signature: Signature, examples: bool, has_header: bool, as_json: bool, to_stdout: bool
) -> None:
    """Print the result; on stderr when standard output carries the classes themselves."""
    if as_json and to_stdout:
        content = partition.to_json() | {"signature": str(signature)}
        options.print_json(content | ({"examples": partition.examples()} if examples else {}))
        return
    options.show(f"{partition.format()}\nsignature: {signature}", err=not to_stdout)
    if examples:
        if has_header:
            options.show("class\tsize\twords", err=not to_stdout)
        for number, (size, words) in enumerate(zip(partition.sizes.tolist(), partition.examples(), strict=True)):
            options.show(f"{number}\t{size:,}\t{' '.join(words)}", err=not to_stdout)
