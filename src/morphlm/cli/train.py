"""`morphlm train`: one subcommand a kind of model, and --all for all of them."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options, training_options
from morphlm.errors import ConfigError, TrainingError
from morphlm.files import check_can_make, check_can_write
from morphlm.modelfile import check_can_hold_model
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.progress import notify
from morphlm.training.inputs import InputOptions
from morphlm.training.pipeline import MODELS, Comparison, ModelOptions, RunOptions, Trained, train_all, train_one
from morphlm.vocabulary.vocabulary import load_vocabulary

DESCRIPTIONS = {
    "lbl": "The log-bilinear model: one softmax over all words, trained by noise-contrastive estimation.",
    "lbl+c": "LBL whose context words are sums of their factors.",
    "lbl+o": "LBL whose output words are sums of their factors.",
    "lbl++": "LBL whose words are sums of their factors on both sides.",
    "clbl": "The class-based log-bilinear model: P(w|h) = P(c|h) P(w|h,c).",
    "clbl+c": "CLBL whose context words are sums of their factors.",
    "clbl+o": "CLBL whose output words are sums of their factors.",
    "clbl++": "CLBL whose words are sums of their factors, morphemes by default, on both sides.",
}


def _training_options(command: training_options.Command) -> training_options.Command:
    """All options of a log-bilinear model."""
    out = click.option("--out", type=click.Path(), metavar="DIR", help="Write the model directory here.")
    parts = [
        training_options.texts,
        out,
        training_options.model,
        training_options.materials,
        training_options.learning,
        training_options.running,
        options.as_json,
    ]
    return options.applied(parts)(command)


@click.group(name="train", invoke_without_command=True, no_args_is_help=True)
@click.option("--all", "everything", is_flag=True, help="Train the eight log-bilinear models and mkn into DIR/KIND.")
@click.option("--kinds", metavar="KIND,...", help="With --all: only these, for example mkn,clbl,clbl++.")
@_training_options
@click.pass_context
def command(context: click.Context, /, everything: bool, kinds: str | None, **given: Any) -> None:
    """Train a model on prepared text: one sentence a line, tokens between spaces.

    The options below are those of --all. What is complete already, from the same text with the same settings, is not
    trained again.

    \b
      morphlm train clbl++ --train train.txt --dev dev.txt --out cs.clbl++
      morphlm train --all --train train.txt --dev dev.txt --test test.txt --out models
    """
    if context.invoked_subcommand is not None:
        if everything or training_options.command_line(context, ()):
            raise ConfigError(f"options of `{context.invoked_subcommand}` stand behind it, and --all stands alone")
        return
    if not everything:
        raise ConfigError("name a kind of model, or give --all; `morphlm train --help` lists them")
    chosen = MODELS if kinds is None else list(dict.fromkeys(kind.strip() for kind in kinds.split(",")))
    training_options.check_used(context, chosen)
    comparison = train_all(*_what(given), kinds=chosen, stages=given["stages"], test=given["test"])
    _report_trained(comparison, given["as_json"])
    if comparison.failures:
        raise TrainingError(f"the training of {', '.join(comparison.failures)} failed; see above")


def _what(given: dict[str, Any]) -> tuple[list[str], str, str, InputOptions, ModelOptions, RunOptions]:
    """The texts and the place of the model, which must be named, and all choices."""
    if given["dev"] is None:
        raise ConfigError("there is no development text to stop by; give --dev FILE")
    if given["out"] is None:
        raise ConfigError("there is no place for the model; give --out DIR")
    return (
        options.or_stdin(given["files"]),
        given["dev"],
        given["out"],
        training_options.input_options(given),
        training_options.model_options(given),
        training_options.run_options(given),
    )


def _report_trained(trained: Trained | Comparison, as_json: bool) -> None:
    """What a training has reached."""
    if as_json:
        options.print_json(trained.to_json())
    else:
        click.echo(trained.format())


def _logbilinear(kind: str) -> click.Command:
    """The subcommand of one of the eight models."""

    @click.command(name=kind, help=f"{DESCRIPTIONS[kind]}\n\n{_CHAIN}")
    @_training_options
    @click.pass_context
    def train_kind(context: click.Context, /, **given: Any) -> None:
        training_options.check_used(context, [kind])
        _report_trained(train_one(kind, *_what(given), stages=given["stages"], test=given["test"]), given["as_json"])

    return train_kind


_CHAIN = (
    "Vocabulary, morphemes and classes are made from the training text as far as they are needed and not given, and "
    "kept for the next model. The model with the lowest development perplexity is written to --out, with a log of all "
    "evaluations. Ctrl-C leaves a checkpoint from which --resume goes on to the same result."
)
for _kind in DESCRIPTIONS:
    command.add_command(_logbilinear(_kind))


@command.command(name="mkn")
@click.option("--train", "files", multiple=True, metavar="FILE", help="Training text; repeat for more files ['-'].")
@click.option("--out", type=click.Path(), metavar="DIR", help="Write the model directory here.")
@click.option("--arpa", type=click.Path(dir_okay=False), metavar="FILE", help="Write the model as ARPA here.")
@click.option("--order", default=4, show_default=True, type=click.IntRange(1, 100), help="n of the n-grams.")
@options.kappa(0.0)
@options.seed
@click.option("--vocab", type=click.Path(), metavar="FILE", help="Use this vocabulary; other words become UNK.")
@click.option("--open/--closed", "is_open", default=True, show_default=True, help="Whether unknown words are scored.")
@options.allow_unk
@options.as_json
def mkn(
    files: tuple[str, ...],
    out: str | None,
    arpa: str | None,
    order: int,
    kappa: float,
    seed: int,
    vocab: str | None,
    is_open: bool,
    allow_unk: bool,
    as_json: bool,
) -> None:
    """Interpolated modified Kneser-Ney, equal to KenLM's lmplz."""
    if out is None and arpa is None:
        raise ConfigError("there is no place for the model; give --out DIR, --arpa FILE or both")
    texts = options.or_stdin(files)
    if vocab == "-" and "-" in texts:
        raise ConfigError("text and vocabulary cannot both come from standard input; name a file for one of them")
    if out is not None:
        check_can_hold_model(out)
        check_can_make(out)
    if arpa is not None:
        check_can_write(arpa)
    model = train_ngram(
        texts,
        order,
        kappa=kappa,
        seed=seed,
        open_vocabulary=is_open,
        vocabulary=None if vocab is None else load_vocabulary(vocab),
        allow_unknown=allow_unk,
    )
    for warning in model.warnings:
        notify(f"warning: {warning}")
    if out is not None:
        model.save(out)
    if arpa is not None:
        model.write_arpa(arpa)
    _report(model, as_json, to_stdout=arpa != "-")


def _report(model: NgramModel, as_json: bool, to_stdout: bool) -> None:
    """What was trained; on stderr when standard output carries the model itself."""
    sizes = model.trie.sizes
    if as_json:
        facts = {"kind": model.kind, "order": model.order, "ngrams": sizes, "vocabulary": len(model.vocabulary)}
        options.print_json(facts | {"training": model.training, "signature": str(model.signature)}, err=not to_stdout)
        return
    counts = ", ".join(f"{size:,} {n}-grams" for n, size in enumerate(sizes, 1))
    click.echo(f"mkn: {model.training['tokens']:,} tokens, {counts}", err=not to_stdout)
