"""`morphlm translate decode`: text in, translations out, line by line."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.translate import settings
from morphlm.errors import ConfigError
from morphlm.files import atomic_writer
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.progress import notify, progress_bar
from morphlm.ranks import current
from morphlm.tables import counted
from morphlm.text.reading import Block, Mending, UntilRefused, read_blocks, repair_messages
from morphlm.translation.decoder.translation import Translation
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.system.config import how_to_mend
from morphlm.translation.system.directory import read_manifest
from morphlm.translation.system.kbest_lists import NOTATIONS, KBestNotation
from morphlm.translation.system.output import OutputOptions, Renderer, numbered, renderer
from morphlm.translation.system.ranked import Answer, Answers, RankedDecoding, SystemAtRank, translate_apart
from morphlm.translation.system.segments import MARKUP, ConstraintReader, Markup, Segment, SegmentReader
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.truecasing import TextWriter
from morphlm.translation.system.weights import given_weights

Prepare = Callable[[Block], Iterator[Segment]]  # of each line


@click.command(name="decode")
@click.argument("directory", metavar="DIR")
@click.argument("file", default="-", metavar="[FILE]")
@click.option(
    "--kbest",
    type=click.IntRange(min=1),
    help="Write k-best lists of this length.",
)
@click.option(
    "--kbest-format",
    "notation",
    type=click.Choice(NOTATIONS),
    help="Features as `Name= value` (moses) or `Name=value` (cdec).  [default: moses]",
)
@click.option("--tokenised", is_flag=True, help="Write tokens between spaces, not put together again.")
@click.option("--truecase", is_flag=True, help="Give the text capital letters, by the recaser of the system.")
@click.option("--recaser", metavar="MODEL", help="The same by another one, of `translate recaser`.")
@click.option("--prepared", is_flag=True, help="The input is prepared already: tokens between spaces.")
@click.option("--graph", is_flag=True, help="With --json: also the graph of the search, which is large.")
@click.option("--run", type=int, metavar="SEED", help="Weights of this tuning run.  [default: the best one]")
@click.option("--weights", metavar="FILE|'NAME=W ...'", help="These weights instead; features not named have 0.")
@click.option("--extra-rules", metavar="FILE", help="Rules in cdec's format that join those of every sentence.")
@click.option("--grammar", metavar="FILE", help="Rules in cdec's format instead of those of the training text.")
@click.option(
    "--sentence-grammars", is_flag=True, help='Lines may be `<seg grammar="FILE" id="N">text</seg>`, as in cdec.'
)
@click.option(
    "--markup",
    type=click.Choice(MARKUP),
    default="keep",
    show_default=True,
    help="Other tags in the text: translate them like words, or refuse the line.",
)
@click.option("--force", metavar="FILE", help="Write the score of each line of FILE as the translation; -inf for none.")
@click.option("--prefix", metavar="FILE", help="Translations begin with the words of each line of FILE.")
@click.option("--incomplete", is_flag=True, help="With --prefix: the last of these words may go on.")
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
    notation: KBestNotation | None,
    tokenised: bool,
    truecase: bool,
    recaser: str | None,
    prepared: bool,
    graph: bool,
    run: int | None,
    weights: str | None,
    extra_rules: str | None,
    grammar: str | None,
    sentence_grammars: bool,
    markup: Markup,
    force: str | None,
    prefix: str | None,
    incomplete: bool,
    unknown_contexts: UnknownContexts,
    open_vocabulary: bool,
    mend: bool,
    threads: int | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Translate FILE (standard input) with the system in DIR, a sentence a line; an empty line stays empty.

    Text is prepared as the training text was. Words that the system does not know stay as they are. Lines are answered
    in order, as soon as they are there. Under mpirun all ranks translate, some lines at a time.

    \b
      echo "Good morning, Europe." | morphlm translate decode system
      morphlm translate decode system test.en --kbest 100 > test.kbest
    """
    if graph and not as_json:
        raise ConfigError("--graph is a part of the JSON; add --json")
    if notation is not None and kbest is None:
        raise ConfigError("--kbest-format is the format of k-best lists; add --kbest")
    if run is not None and weights is not None:
        raise ConfigError("--run and --weights are two choices of weights; give one")
    if (force is not None and prefix is not None) or (incomplete and prefix is None):
        raise ConfigError(
            "--force and --prefix are two things to ask, --incomplete belongs to --prefix; give one of them"
        )
    options.check_one_stdin(file, *(path for path in (extra_rules, grammar, force, prefix) if path is not None))
    wanted = OutputOptions(
        kbest,
        as_json,
        graph,
        notation or "moses",
        scores=force is not None,
        constrained=force is not None or prefix is not None,
    )
    lowercase = read_manifest(directory).config.lowercase and not prepared
    system = TranslationSystem.load(
        directory,
        run=run,
        weights=None if weights is None else given_weights(weights),
        extra=[] if extra_rules is None else [ExtraRules.read(extra_rules, lowercase=lowercase)],
        grammar=None if grammar is None else ExtraRules.read(grammar, lowercase=lowercase),
        unknown_contexts=unknown_contexts,
        open_vocabulary=open_vocabulary,
        sentence_grammars=sentence_grammars,
        **settings.search.chosen(values),
    )
    mending = Mending(keep_lines=True) if mend else None
    blocks = read_blocks(file, mending=mending, cure=how_to_mend())
    is_cased = truecase or recaser is not None
    writer = TextWriter(system.config, system.load_recaser(recaser) if is_cased else None, tokenised)
    reader = SegmentReader(system.config, prepared, markup, sentence_grammars, is_cased)
    constraints = None
    if force is not None or prefix is not None:
        constraints = ConstraintReader(
            force or prefix or "",
            system.config,
            prepared=prepared,
            is_whole=force is not None,
            is_incomplete=incomplete,
            mending=mending,
        )

    def segments(block: Block) -> Iterator[Segment]:
        found = reader.segments(block, mending=mending)
        return found if constraints is None else constraints.constrained(found)

    answered = _answered(system, blocks, segments, wanted, writer, threads)
    with atomic_writer("-") as out, closing(_numbered(answered, wanted)) as lines:
        for line in lines:
            out.write(((options.json_line(line) if isinstance(line, dict) else line) + "\n").encode())
            out.flush()
    if constraints is not None:
        constraints.check_end()
    if missing := system.missing_features:
        notify(f"warning: weights of features that no grammar has: {', '.join(missing)}")
    if mending is not None:
        for message in repair_messages(mending.repairs):
            notify(message)
    if system.tuned is None and weights is None:
        notify("warning: this system is not tuned; `morphlm translate tune` finds better weights")


def _answered(
    system: TranslationSystem,
    blocks: Iterator[Block],
    prepare: Prepare,
    wanted: OutputOptions,
    writer: TextWriter,
    threads: int | None,
) -> Answers:
    """Each segment with what is written for it, by this process or by all ranks."""
    comm = current()
    if comm.size == 1 or system.origin is None:
        yield from _answered_alone(system, blocks, prepare, renderer(wanted, writer), threads)
        return
    lines = (
        (number, segment) for block in blocks for number, segment in enumerate(prepare(block), block.first_line - 1)
    )
    at_rank = SystemAtRank(system.origin, system)
    yield from translate_apart(comm, RankedDecoding(at_rank, wanted, writer, comm.threads_of(threads)), lines)


def _answered_alone(
    system: TranslationSystem, blocks: Iterator[Block], prepare: Prepare, render: Renderer, threads: int | None
) -> Answers:
    """What is there is translated together, so that a line in a pipe is answered at once."""

    def task(segment: Segment, found: Translation | None) -> tuple[Segment, Answer]:
        return segment, (found is None, render(segment, found))

    for block in blocks:
        prepared = UntilRefused(prepare(block))
        results = system.map_segments(task, prepared, threads=threads)
        for line, (segment, answer) in enumerate(results, block.first_line - 1):
            yield (line, segment), answer
        prepared.check()


def _numbered(answered: Answers, wanted: OutputOptions) -> Generator[str | dict[str, Any], None, None]:
    """What is written, line by line."""
    unreachable = 0
    with closing(answered), progress_bar("decoding", unit="sentence") as bar:
        for (line, segment), (is_missing, rendered) in answered:
            yield from numbered(line, rendered, wanted, segment.number)
            unreachable += is_missing
            bar.update()
    if unreachable:
        notify(f"{counted(unreachable, 'sentence')} cannot be translated so by the rules of this system")
