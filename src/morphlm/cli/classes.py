"""`morphlm classes`: a partition of the vocabulary into word classes, or the evaluation of one that a file holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from morphlm.classes.exchange import ANNEALED_PASSES, cluster
from morphlm.classes.formats import FORMATS, read_classes
from morphlm.classes.frequency import frequency_bins
from morphlm.classes.partition import Partition, average_mutual_information
from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.language_model.signature import Signature, in_thousands
from morphlm.progress import notify
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Corpus, encode_text, read_corpus
from morphlm.vocabulary.vocabulary import load_vocabulary

METHODS = ("exchange", "frequency", "root-frequency")


@click.command(name="classes")
@click.option("--train", "files", multiple=True, metavar="FILE", help="Training text; repeat for more files ['-'].")
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Write the classes here.")
@click.option("--classes", "number", type=int, metavar="N", help="Number of classes.  [default: sqrt(|V|)]")
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="exchange",
    help="Exchange clustering, or bins of equal total (root) frequency.",
)
@click.option("--max-class-size", type=int, metavar="N", help="Largest number of words in a class (exchange).")
@click.option(
    "--passes",
    type=click.IntRange(min=0),
    default=ANNEALED_PASSES,
    help="Annealed passes (exchange); more of them find better classes and take longer.",
)
@click.option("--vocab", type=click.Path(), metavar="FILE", help="Use this vocabulary; other words become UNK.")
@options.kappa(0.2)
@options.seed
@options.threads
@click.option(
    "--read",
    "class_file",
    type=click.Path(),
    metavar="FILE",
    help="Read and evaluate the classes of this file instead.",
)
@click.option(
    "--format", "file_format", type=click.Choice(list(FORMATS)), default="tsv", help="Format of the file of --read."
)
@click.option("--examples", is_flag=True, help="Also print the ten most frequent words of each class.")
@options.allow_unk
@options.as_json
def command(
    files: tuple[str, ...],
    vocab: str | None,
    kappa: float,
    seed: int,
    out: str | None,
    allow_unknown: bool,
    examples: bool,
    as_json: bool,
    class_file: str | None,
    file_format: str,
    **choices: Any,  # of _partition
) -> None:
    """Partition the vocabulary of prepared text into classes whose neighbours tell most about each other.

    Prints the mutual information of adjacent classes and their sizes. The file has `class TAB word TAB count` on each
    line, classes by frequency; the models with a class-based softmax take it.

    \b
      morphlm classes --train train.txt --out classes.tsv --examples
      morphlm classes --train train.txt --read brown/paths --format paths
    """
    if class_file is not None and (choices["number"] or choices["max_class_size"] or choices["method"] != "exchange"):
        raise ConfigError("--read takes the classes as they are; leave out --classes, --method and --max-class-size")
    if out is not None:
        check_can_write(out)
    corpus = _corpus(options.or_stdin(files), vocab, kappa, seed, allow_unknown)
    if class_file is None:
        partition = _partition(corpus, seed=seed, **choices)
    else:
        partition = _read(corpus, class_file, file_format)
    if out is not None:
        partition.save(out)
    signature = _signature(partition, None if vocab else kappa, seed)
    _report(partition, signature, examples, as_json, to_stdout=out != "-")


def _corpus(files: list[str], vocab: str | None, kappa: float, seed: int, allow_unknown: bool) -> Corpus:
    if vocab is not None:
        return encode_text(files, load_vocabulary(vocab), allow_unknown=allow_unknown)
    raw = read_corpus(files, allow_unknown=allow_unknown)
    return raw.encode(raw.words.vocabulary(kappa, seed))


def _partition(
    corpus: Corpus, *, method: str, number: int | None, max_class_size: int | None, seed: int, **exchange: Any
) -> Partition:
    if method == "exchange":
        return cluster(corpus, number, seed=seed, max_class_size=max_class_size, **exchange)
    if max_class_size is not None:
        raise ConfigError("frequency bins have no limit of size; use --method exchange or leave out --max-class-size")
    return _evaluated(corpus, frequency_bins(corpus.vocabulary, number, root=method == "root-frequency"))


def _read(corpus: Corpus, path: str, file_format: str) -> Partition:
    file = read_classes(path, file_format, corpus.vocabulary)
    if file.missing or file.ignored:
        notify(f"{path}: {file.format()}")
    return _evaluated(corpus, file.partition)


def _evaluated(corpus: Corpus, partition: Partition) -> Partition:
    return replace(partition, mutual_information=average_mutual_information(corpus, partition))


def _signature(partition: Partition, kappa: float | None, seed: int) -> Signature:
    fields = {"method": partition.method, "C": str(partition.classes), "V": in_thousands(len(partition.vocabulary))}
    fields |= {"kappa": "given" if kappa is None else f"{kappa:g}", "seed": str(seed), "v": __version__}
    return Signature("ami", tuple(fields.items()))


def _report(partition: Partition, signature: Signature, examples: bool, as_json: bool, to_stdout: bool) -> None:
    """What was found; on stderr when standard output carries the classes themselves."""
    if as_json and to_stdout:
        content = partition.to_json() | {"signature": str(signature)}
        options.print_json(content | ({"examples": partition.examples()} if examples else {}))
        return
    click.echo(f"{partition.format()}\nsignature: {signature}", err=not to_stdout)
    if examples:
        rows = [
            [str(number), f"{size:,}", " ".join(words)]
            for number, (size, words) in enumerate(zip(partition.sizes.tolist(), partition.examples(), strict=True))
        ]
        for row in rows:
            click.echo("\t".join(row), err=not to_stdout)
