"""`morphlm translate decode`: text in, translations out, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.files import atomic_writer
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.progress import notify, progress_bar
from morphlm.text.reading import Block, Mending, UntilRefused, read_blocks, repair_messages, split_tokens
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.system.config import how_to_mend
from morphlm.translation.system.directory import read_manifest
from morphlm.translation.system.output import OutputOptions, numbered, renderer
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.weights import given_weights

Prepare = Callable[[Block], Iterator[list[str]]]  # the tokens of each line


@click.command(name="decode")
@click.argument("directory", metavar="DIR")
@click.argument("file", default="-", metavar="[FILE]")
@click.option(
    "--kbest",
    type=click.IntRange(min=1),
    help="Write k-best lists of this length, in Moses' format.",
)
@click.option("--tokenised", is_flag=True, help="Write tokens between spaces, not put together again.")
@click.option("--prepared", is_flag=True, help="The input is prepared already: tokens between spaces.")
@click.option("--graph", is_flag=True, help="With --json: also the graph of the search, which is large.")
@click.option("--run", type=int, metavar="SEED", help="Weights of this tuning run.  [default: the best one]")
@click.option("--weights", metavar="FILE|'NAME=W ...'", help="These weights instead; features not named have 0.")
@click.option("--extra-rules", metavar="FILE", help="Rules in cdec's format that join those of every sentence.")
@click.option("--grammar", metavar="FILE", help="Rules in cdec's format instead of those of the training text.")
@options.unknown_contexts
@options.open_vocabulary
@settings.mend
@settings.search
@settings.threads
@options.as_json_lines
def command(
    directory: str,
    file: str,
    kbest: int | None,
    tokenised: bool,
    prepared: bool,
    graph: bool,
    run: int | None,
    weights: str | None,
    extra_rules: str | None,
    grammar: str | None,
    unknown_contexts: UnknownContexts,
    open_vocabulary: bool,
    mend: bool,
    threads: int | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Translate FILE (standard input) with the system in DIR, a sentence a line; an empty line stays empty.

    Text is prepared as the training text was. Words that the system does not know stay as they are. Lines are answered
    in order, as soon as they are there.

    \b
      echo "Good morning, Europe." | morphlm translate decode system
      morphlm translate decode system test.en --kbest 100 > test.kbest
    """
    if graph and not as_json:
        raise ConfigError("--graph is a part of the JSON; add --json")
    if run is not None and weights is not None:
        raise ConfigError("--run and --weights are two choices of weights; give one")
    options.check_one_stdin(file, *(path for path in (extra_rules, grammar) if path is not None))
    wanted = OutputOptions(tokenised, kbest, as_json, graph)
    lowercase = read_manifest(directory).config.lowercase and not prepared
    system = TranslationSystem.load(
        directory,
        run=run,
        weights=None if weights is None else given_weights(weights),
        extra=[] if extra_rules is None else [ExtraRules.read(extra_rules, lowercase=lowercase)],
        grammar=None if grammar is None else ExtraRules.read(grammar, lowercase=lowercase),
        unknown_contexts=unknown_contexts,
        open_vocabulary=open_vocabulary,
        **settings.search.chosen(values),
    )
    mending = Mending(keep_lines=True) if mend else None
    blocks = read_blocks(file, mending=mending, cure=how_to_mend())

    def sentences(block: Block) -> Iterator[list[str]]:
        return map(split_tokens, block.lines()) if prepared else system.config.sentences(block, mending=mending)

    with atomic_writer("-") as out:
        for line in _translated(system, blocks, sentences, wanted, threads):
            out.write(((options.json_line(line) if isinstance(line, dict) else line) + "\n").encode())
            out.flush()
    if mending is not None:
        for message in repair_messages(mending.repairs):
            notify(message)
    if system.tuned is None and weights is None:
        notify("warning: this system is not tuned; `morphlm translate tune` finds better weights")


def _translated(
    system: TranslationSystem, blocks: Iterator[Block], prepare: Prepare, wanted: OutputOptions, threads: int | None
) -> Iterator[str | dict[str, Any]]:
    """What is there is translated together, so that a line in a pipe is answered at once."""
    render = renderer(wanted, system.config)
    with progress_bar("decoding", unit="sentence") as bar:
        for block in blocks:
            prepared = UntilRefused(prepare(block))
            translations = system.map(render, prepared, threads=threads)
            for number, rendered in enumerate(translations, block.first_line - 1):
                yield from numbered(number, rendered, wanted)
                bar.update()
            prepared.check()
