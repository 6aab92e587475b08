"""`morphlm segment`: train a segmenter on words, use it on new ones, compare it with gold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from morphlm.cli import options
from morphlm.cli.setting_options import SettingOptions
from morphlm.errors import ConfigError, InputError
from morphlm.files import atomic_writer, check_can_write
from morphlm.modelfile import check_can_hold_model
from morphlm.progress import notify
from morphlm.segmentation.evaluation import BoundaryScores, evaluate
from morphlm.segmentation.gold import Gold, read_gold
from morphlm.segmentation.segmenter import MorphemeSegmenter, SegmenterConfig, train_segmenter
from morphlm.text.reading import Block, UntilRefused, read_blocks, split_tokens
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.vocabulary import Vocabulary, load_vocabulary

SEGMENTER_SETTINGS = SettingOptions(SegmenterConfig)


@click.command(name="segment")
@click.argument("files", nargs=-1, metavar="[WORDS]...")
@click.option("--vocab", type=click.Path(), metavar="FILE", help="Train on a vocabulary (word TAB count).")
@click.option("--train", "texts", multiple=True, metavar="FILE", help="Train on the words of a text; repeat for more.")
@click.option(
    "--load", type=click.Path(), metavar="DIR", help="Load a segmenter and segment WORDS, one word a line ['-']."
)
@click.option("--save", type=click.Path(), metavar="DIR", help="Write the trained segmenter here.")
@click.option("--out", type=click.Path(dir_okay=False), metavar="FILE", help="Write the segmentation here.")
@click.option("--gold", type=click.Path(), metavar="FILE", help="Print precision, recall and F1 of the boundaries.")
@SEGMENTER_SETTINGS
@options.seed
@options.allow_unk
@options.as_json
def command(
    files: tuple[str, ...],
    vocab: str | None,
    texts: tuple[str, ...],
    load: str | None,
    save: str | None,
    out: str | None,
    gold: str | None,
    seed: int,
    allow_unknown: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Segment words into labelled morphemes, learned from the words alone.

    With --vocab or --train a segmenter is trained and written to --save, and the segmentation of its words to --out.
    With --load the given WORDS are segmented, whether seen in training or not. A line is
    `count morph/PRE + morph/STM + morph/SUF`. Without --out, --save, --gold and --json, lines go to standard output.
    """
    if (vocab is not None) + bool(texts) + (load is not None) != 1:
        raise ConfigError(
            "the words to learn from are missing or given twice; give exactly one of --vocab, --train, --load"
        )
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
        notify(f"{len(segmenter.segmentation):,} words, {len(segmenter.paths.morphs):,} morphs")
    scores = {} if standard is None else _compare(segmenter, standard)
    _write(segmenter, files, load is not None, save, out, to_stdout=not (gold or as_json))
    if as_json and out != "-":
        record = {"configuration": asdict(segmenter.config), "training": dict(segmenter.training)}
        options.print_json(record | {name: score.to_json() for name, score in scores.items()})
    else:
        for name, score in scores.items():
            options.show(f"{name} words: {score.format()}", err=out == "-")


def _vocabulary(path: str | None, texts: list[Path], allow_unknown: bool) -> Vocabulary:
    if path is not None:
        return load_vocabulary(path)
    return read_corpus(texts, allow_unknown=allow_unknown).words.vocabulary(kappa=0.0, seed=0)


def _compare(segmenter: MorphemeSegmenter, gold: Gold) -> dict[str, BoundaryScores]:
    """The scores of gold words that were trained on, and of those that were not, segmented as new words."""
    words = {"seen": [w for w in gold if w in segmenter.segmentation]}
    words["new"] = [w for w in gold if w not in segmenter.segmentation]
    return {name: evaluate(segmenter.segment_all(part), gold) for name, part in words.items() if part}


def _write(
    segmenter: MorphemeSegmenter,
    files: tuple[str, ...],
    loaded: bool,
    save: str | None,
    out: str | None,
    *,
    to_stdout: bool,
) -> None:
    if save is not None:
        segmenter.save(save)
    path = "-" if out is None and to_stdout and save is None else out
    if path is None:
        return
    with atomic_writer(path) as file:
        for lines in _segmented(segmenter, options.or_stdin(files)) if loaded else [segmenter.lines()]:
            file.writelines(f"{line}\n".encode() for line in lines)
            file.flush()


def _segmented(segmenter: MorphemeSegmenter, paths: list[str]) -> Iterator[Iterator[str]]:
    """The lines for words that arrive one a line, as soon as they arrive."""
    for path in paths:
        for block in read_blocks(path):
            asked = UntilRefused(_words(block))
            words = list(asked)
            segmentation = segmenter.segment_all(words)
            yield (f"1 {' + '.join(map(str, segmentation[word]))}" for word in words)
            asked.check()


def _words(block: Block) -> Iterator[str]:
    for number, line in enumerate(block.lines(), block.first_line):
        tokens = split_tokens(line)
        if len(tokens) != 1:
            raise InputError("not one word; put one word on each line", source=block.source, line=number)
        yield tokens[0]
