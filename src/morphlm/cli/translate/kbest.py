"""`morphlm translate kbest`: k-best lists of one decoder in the notation and the units of another."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.cli.translate import conversion
from morphlm.translation.system.conversion import SystemName
from morphlm.translation.system.kbest_lists import convert_kbest, read_kbest, write_kbest


@click.command(name="kbest")
@click.argument("file", default="-", metavar="[FILE]")
@conversion.systems
def command(file: str, source: SystemName, target: SystemName, models: tuple[str, ...], extractor: bool) -> None:
    """Convert the k-best list in FILE (standard input): names, notation and units of its features; scores stay.

    Ours and Moses' are written `Name= value`, cdec's `Name=value`. `morphlm translate weights` converts weights in the
    same way.

    \b
      morphlm translate decode system test.en --kbest 100 | morphlm translate kbest --to cdec > test.kbest
      morphlm translate kbest cdec.kbest --from cdec --lm mkn=LanguageModel
    """
    naming = conversion.naming(source, target, models, extractor)
    if file == "-":
        options.tell_waiting()
    entries = convert_kbest(read_kbest(file), source, target, **naming)
    write_kbest("-", entries, "cdec" if target == "cdec" else "moses")
