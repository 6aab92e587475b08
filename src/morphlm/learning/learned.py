"""The result of `learn`: the directory, what is said at the end, and the text on how to use it. All from the record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphlm.costs import format_duration
from morphlm.files import atomic_writer
from morphlm.learning.commands import next_commands
from morphlm.learning.directory import LearnDirectory
from morphlm.learning.record import LearnRecord
from morphlm.learning.usage import usage_text
from morphlm.lazy import cached_property

if TYPE_CHECKING:  # a finished directory is described without loading anything
    from morphlm.language_model.base import LanguageModel


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned, and where it is."""

    directory: Path | None
    record: LearnRecord
    was_complete: bool = False  # nothing was left to do

    @cached_property
    def model(self) -> LanguageModel:
        """The model to use."""
        from morphlm.scoring.loading import load  # noqa: PLC0415

        assert self.directory is not None
        return load(self.directory)

    @property
    def headline(self) -> str:
        """What came out, in a sentence."""
        assert self.record.result is not None
        return self.record.result.headline

    def without_directory(self) -> Learned:
        """With the model in memory, for a directory that will soon be gone."""
        model = self.model
        for part in (model, *model.parts):
            part.origin = None
        kept = replace(self, directory=None)
        vars(kept)["model"] = model
        return kept

    def format(self) -> str:
        """What the command prints at the end."""
        record, root = self.record, self.directory or Path("DIR")
        text, result = record.text, record.result
        assert text is not None
        assert result is not None
        lines = []
        if self.was_complete:
            lines.append(f"{root} is complete already: learned in {format_duration(record.seconds)}; --restart begins anew.")
        lines += [result.headline + ".", self._perplexities(), _sentence(text.format_losses()), ""]
        commands = next_commands(root, record)
        width = max(len(command) for command, _ in commands)
        lines += ["Try", *(f"  {command:<{width}}  {what}" for command, what in commands)]
        lines += ["", f"{root / 'report.html'} shows it all; {root / 'README.txt'} says how to use it."]
        return "\n".join(lines)

    def _perplexities(self) -> str:
        result = self.record.result
        assert result is not None
        names = {"mkn": "Kneser-Ney", "clbl++": "CLBL++", "mixture": "both mixed"}
        figures = ", ".join(f"{names[name]} {entry.test:.1f}" for name, entry in result.perplexities.items())
        return f"Perplexity of the test text: {figures}."

    def write_readme(self) -> None:
        assert self.directory is not None
        with atomic_writer(LearnDirectory(self.directory).readme, is_ours=True) as file:
            file.write(usage_text(self.directory, self.record).encode())

    def to_json(self) -> dict[str, Any]:
        return {"out": None if self.directory is None else str(self.directory)} | self.record.to_json()


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
