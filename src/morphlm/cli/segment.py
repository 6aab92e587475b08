"""`morphlm segment`: train a segmenter on words, use it on new ones, compare it with gold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.setting_options import SettingOptions
from morphlm.errors import ConfigError
from morphlm.files import COMPRESSIONS, atomic_writer, check_can_write, is_file
from morphlm.modelfile import check_can_hold_model, learned_part, read_model
from morphlm.progress import notify
from morphlm.segmentation.evaluation import BoundaryScores, evaluate
from morphlm.segmentation.gold import Gold, read_gold
from morphlm.segmentation.morphemes import Morpheme, joined_morphemes
from morphlm.segmentation.segmenter import MorphemeSegmenter, SegmenterConfig, train_segmenter
from morphlm.tables import counted
from morphlm.text.preparation import PrepareOptions, options_of_record
from morphlm.text.raw import prepared_lines, read_raw_blocks, tokens_of
from morphlm.text.reading import UntilRefused
from morphlm.vocabulary.corpus import count_words, warn_if_raw
from morphlm.vocabulary.vocabulary import Vocabulary, load_vocabulary

SEGMENTER_SETTINGS = SettingOptions(SegmenterConfig)
TEXT_EXTENSIONS = (".txt", ".tsv", *COMPRESSIONS)


@click.command(name="segment")
@click.argument("given", nargs=-1, metavar="[WORD|FILE]...")
@click.option("--vocab", type=click.Path(), metavar="FILE", help="Train on a vocabulary (word TAB count).")
@click.option("--train", "texts", multiple=True, metavar="FILE", help="Train on the words of a text; repeat for more.")
@click.option(
    "--load", type=click.Path(), metavar="DIR", help="Load a segmenter and segment words or text with it ['-']."
)
@click.option("--save", type=click.Path(), metavar="DIR", help="Write the trained segmenter here.")
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Write the segmentation here.")
@click.option("--gold", type=click.Path(), metavar="FILE", help="Print precision, recall and F1 of the boundaries.")
@click.option(
    "--labels/--no-labels",
    default=True,
    help="Write morph/STM, as FlatCat does, or the morphs alone, which Morfessor reads.",
)
@SEGMENTER_SETTINGS
@options.seed
@options.allow_unk
@click.option(
    "--prepared", is_flag=True, help="Take words as they stand; else those of raw text, if DIR is of `learn`."
)
@options.encoding
@options.header
@options.as_json
def command(
    given: tuple[str, ...],
    vocab: str | None,
    texts: tuple[str, ...],
    load: str | None,
    save: str | None,
    out: str | None,
    gold: str | None,
    labels: bool,
    seed: int,
    allow_unknown: bool,
    prepared: bool,
    encoding: str | None,
    has_header: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Segment words into labelled morphemes, learned from the words alone.

    With --vocab or --train a segmenter is trained and written to --save, and the segmentation of its words to --out: a
    line is `count morph/PRE + morph/STM + morph/SUF`, with --no-labels `count morph + morph + morph`. Without --out,
    --save, --gold and --json, lines go to standard output.

    WORDs and the words of FILEs (running text, or one word a line; '-' is standard input) are segmented whether they
    were seen in training or not: a line has the word, a tab, and its morphemes. With a directory of `learn`, raw text
    is prepared as its text was.

    \b
      morphlm segment --train train.txt --save cs.segmenter
      morphlm segment --load cs.segmenter nejneuvěřitelnější školou
      morphlm segment --load cs.segmenter test.txt
    """
    _check_one_source(vocab, texts, load, given)
    standard = None if gold is None else read_gold(gold)
    if out is not None:
        check_can_write(out)
    if save is not None:
        check_can_hold_model(save)
    if load is not None:
        segmenter = MorphemeSegmenter.load(load)
    else:
        vocabulary = _vocabulary(vocab, options.as_paths(texts), allow_unknown)
        segmenter = train_segmenter(vocabulary, seed=seed, **SEGMENTER_SETTINGS.chosen(settings))
        notify(f"{counted(len(segmenter.segmentation), 'word')}, {counted(len(segmenter.paths.morphs), 'morph')}")
    scores = {} if standard is None else _compare(segmenter, standard)
    if save is not None:
        segmenter.save(save)
    is_wanted = out is not None or not (gold or as_json or save)
    if given or (load is not None and is_wanted):
        words = _asked(given, None if prepared or load is None else _preparation_of(load), encoding)
        _write_words(segmenter, words, out or "-", labels, has_header, as_json and bool(given))
    elif is_wanted:
        segmenter.write_segmentation(out or "-", labels=labels)
    if given and as_json:
        return
    if as_json and out != "-":
        record = {"configuration": asdict(segmenter.config), "training": dict(segmenter.training)}
        options.print_json(record | {name: score.to_json() for name, score in scores.items()})
    else:
        for name, score in scores.items():
            options.show(f"{name} words: {score.format()}", err=out == "-")


def _preparation_of(directory: str) -> PrepareOptions | None:
    """How the text of `learn` was prepared, if this is its directory; a segmenter alone does not know."""
    model = learned_part(directory)
    return None if model == Path(directory) else options_of_record(read_model(model).training.get("preparation"))


def _vocabulary(path: str | None, texts: list[Path], allow_unknown: bool) -> Vocabulary:
    if path is not None:
        return load_vocabulary(path)
    words = count_words(texts, allow_unknown=allow_unknown)
    warn_if_raw(words, texts)
    return words.vocabulary(kappa=0.0, seed=0)


def _compare(segmenter: MorphemeSegmenter, gold: Gold) -> dict[str, BoundaryScores]:
    """The scores of gold words that were trained on, and of those that were not, segmented as new words."""
    words = {"seen": [w for w in gold if w in segmenter.segmentation]}
    words["new"] = [w for w in gold if w not in segmenter.segmentation]
    return {name: evaluate(segmenter.segment_all(part), gold) for name, part in words.items() if part}


def _check_one_source(vocab: str | None, texts: tuple[str, ...], load: str | None, given: tuple[str, ...]) -> None:
    sources = (vocab is not None) + bool(texts) + (load is not None)
    if sources > 1:
        raise ConfigError("--load uses a segmenter, --vocab and --train make one; give exactly one of them")
    if not sources and given and Path(given[0]).is_dir():
        raise ConfigError(
            f"{given[0]} is a folder; write `morphlm segment --load {' '.join(given)}` if it is a segmenter"
        )
    if not sources:
        raise ConfigError(
            "there is no segmenter; give --load DIR to use one, or --train TEXT or --vocab FILE to train one"
        )


def _write_words(
    segmenter: MorphemeSegmenter,
    asked_words: Iterator[Iterator[str]],
    path: str,
    labels: bool,
    has_header: bool,
    as_json: bool,
) -> None:
    """A line a word, as soon as words arrive."""
    with atomic_writer(path) as file:
        if has_header and not as_json:
            file.write(b"word\tmorphemes\n")
        for words in asked_words:
            asked = UntilRefused(words)
            some = list(asked)
            segmentation = segmenter.segment_all(list(dict.fromkeys(some)))
            file.writelines(f"{_line(word, segmentation[word], labels, as_json)}\n".encode() for word in some)
            file.flush()
            asked.check()


def _line(word: str, morphemes: Sequence[Morpheme], labels: bool, as_json: bool) -> str:
    if as_json:
        shown = [str(morpheme) if labels else morpheme.form for morpheme in morphemes]
        return options.json_line({"word": word, "morphemes": shown})
    return f"{word}\t{joined_morphemes(morphemes, labels=labels)}"


def _asked(given: tuple[str, ...], preparation: PrepareOptions | None, encoding: str | None) -> Iterator[Iterator[str]]:
    """The words that are given themselves, and those of files, block by block."""
    for argument in options.or_stdin(given):
        if argument == "-" or is_file(argument) or _is_path(argument):
            for block in read_raw_blocks(argument, marks="none", encoding=encoding):
                yield (word for line in prepared_lines(block, preparation, allow_unknown=False) for word in line)
        else:
            yield iter(tokens_of(argument, preparation))


def _is_path(argument: str) -> bool:
    """Whether it can only be meant as a file, even if there is none: then that is said."""
    return os.sep in argument or Path(argument).suffix in TEXT_EXTENSIONS
