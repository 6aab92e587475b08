"""The commands that give the same model again, and those to try it with."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from morphlm.learning.choices import NgramChoice
from morphlm.learning.directory import LearnDirectory
from morphlm.learning.record import FinalChoice, LearnRecord
from morphlm.learning.schema import CLBL, KNESER_NEY, MIXTURE, MORPHEME_CACHE, NEURAL_CACHE


def mixed_models(caches: Sequence[str] = ()) -> tuple[str, ...]:
    """What the mixture is made of; a neural cache has CLBL++ inside."""
    predicting = NEURAL_CACHE if NEURAL_CACHE in caches else CLBL
    return (KNESER_NEY, predicting, *(cache for cache in caches if cache != NEURAL_CACHE))


def repeat_commands(
    directory: LearnDirectory, record: LearnRecord, kind: str, *, weights_by: str, caches: Sequence[str] = ()
) -> tuple[str, ...]:
    """`train`, `cache` and `mix` with all settings that were chosen; each writes beside the directory it names."""
    assert record.ngrams is not None
    seed, unknown = record.settings["seed"], record.settings["allow_unknown"]
    train, dev, test = (str(directory.text(part)) for part in ("train", "dev", "test"))
    common = ["--seed", str(seed), *(["--allow-unk"] if unknown else [])]
    commands = [["train", "mkn", "--train", train, *mkn_options(record.ngrams), *common, "--out", "again.mkn"]]
    if kind == MIXTURE and record.choice is not None:
        options = clbl_options(record.choice, record.ngrams)
        commands.append(["train", "clbl++", "--train", train, "--dev", dev, *options, *common, "--out", "again.clbl++"])
        admitted = ["--allow-unk"] if unknown else []
        if NEURAL_CACHE in caches:
            commands.append(["cache", "again.clbl++", "--dev", dev, *admitted, "--out", f"again.{NEURAL_CACHE}"])
        if MORPHEME_CACHE in caches:
            texts = ["--train", train, "--dev", dev, "--kappa", f"{record.ngrams.kappa:g}"]
            commands.append(["train", MORPHEME_CACHE, *texts, *common, "--out", f"again.{MORPHEME_CACHE}"])
        parts = [f"again.{name}" for name in mixed_models(caches)]
        mixed = ["mix", *parts, "--dev", dev, "--test", test, "--weights-by", weights_by]
        commands.append([*mixed, *admitted, "--out", "again.mixture"])
    return tuple(command_line(command) for command in commands)


def command_line(arguments: Iterable[str]) -> str:
    """The command as one types it: words of any script need no quotes."""
    plain = re.compile(r"[\w@%+=:,./-]+")
    return " ".join(["morphlm", *(word if plain.fullmatch(word) else shlex.quote(word) for word in arguments)])


def mkn_options(choice: NgramChoice) -> list[str]:
    """Of `morphlm train mkn`."""
    return ["--order", str(choice.order), "--kappa", f"{choice.kappa:g}"]


def clbl_options(choice: FinalChoice, ngrams: NgramChoice) -> list[str]:
    """Of `morphlm train clbl++`."""
    model = choice.model
    options = ["--kappa", f"{ngrams.kappa:g}", "--classes", str(choice.classes), "--order", str(model.order)]
    options += ["--width", str(model.width), *(["--wide-context"] if model.wide_context else [])]
    return options + (["--stop-after", str(choice.stop_after)] if choice.stop_after else [])


def next_commands(root: Path, record: LearnRecord) -> list[tuple[str, str]]:
    """Commands to try, with words of this text, and what each does."""
    result, place = record.result, str(root)
    assert result is not None
    commands: list[tuple[list[str], str]] = []
    if result.beginnings:
        commands.append((["predict", place, result.beginnings[0]], "the likely next words"))
    if result.words and result.kind == MIXTURE:
        commands.append((["neighbours", place, *result.words[:2]], "words of similar use"))
    if result.new_words:
        commands.append((["neighbours", place, result.new_words[0]], "the same for a word that was never seen"))
    if longest := sorted({*result.words, *result.new_words}, key=lambda word: (-len(word), word)):
        commands.append((["segment", "--load", place, *longest[:2]], "words as their morphemes"))
    commands.append((["generate", place], "sentences drawn from the model"))
    continuous, given = (["--continuous"], ", given those before") if result.caches else ([], "")
    what = f"the log-probability of every sentence of a raw text{given}"
    commands.append((["score", place, "TEXT", *continuous], what))
    commands.append((["explore", place], "all of it on a page, served by your own machine"))
    return [(command_line(command), what) for command, what in commands]
