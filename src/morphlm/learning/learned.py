"""The result of `learn`: the directory, what is said at the end, and the text on how to use it. All from the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphlm.costs import format_duration
from morphlm.display import Row, Tabular, described, flattened, frame_of
from morphlm.files import atomic_writer
from morphlm.lazy import cached_property
from morphlm.learning.commands import next_commands
from morphlm.learning.directory import LearnDirectory, find_record
from morphlm.learning.record import LearnRecord
from morphlm.learning.request import LearnRequest
from morphlm.learning.schema import CACHED_KNESER_NEY, CACHED_MIXTURE, CLBL, KNESER_NEY, MIXTURE
from morphlm.learning.usage import usage_text
from morphlm.wording import option

if TYPE_CHECKING:  # a finished directory is described without loading anything
    from pandas import DataFrame

    from morphlm.language_model.base import LanguageModel


@dataclass(frozen=True, eq=False)
class Learned(Tabular):
    """What was learned, and where it is."""

    directory: Path | None
    record: LearnRecord
    was_complete: bool = False  # nothing was left to do

    def __repr__(self) -> str:
        headline = None if self.record.result is None else self.record.result.headline
        return described(self, directory=self.directory, headline=headline)

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
            took = format_duration(record.seconds)
            lines.append(
                f"{root} is complete already; it was learned in {took}. {option('--restart', True)} begins anew."
            )
        lines += [result.headline + ".", *self._perplexities(), self._chosen(), _sentence(text.format_losses()), ""]
        commands = next_commands(root, record)
        width = max(len(command) for command, _ in commands)
        lines += ["Try", *(f"  {command:<{width}}  {what}" for command, what in commands)]
        lines += ["", f"{root / 'report.html'} shows it all; {root / 'README.txt'} says how to use it."]
        return "\n".join(lines)

    def _perplexities(self) -> list[str]:
        """Those of all models, if there are several."""
        result = self.record.result
        assert result is not None
        if len(result.perplexities) == 1:
            return []
        plain = {KNESER_NEY: "Kneser-Ney", CLBL: "CLBL++", MIXTURE: "both mixed"}
        cached = {CACHED_KNESER_NEY: "Kneser-Ney", CACHED_MIXTURE: "both mixed"}
        lines = [f"Perplexity of the test text: {self._tests(plain)}."]
        if result.caches:
            lines.append(f"With caches, which learn from the text before each sentence: {self._tests(cached)}.")
        return lines

    def _tests(self, names: Mapping[str, str]) -> str:
        """Perplexities of the test text, of those models that there are."""
        assert self.record.result is not None
        figures = self.record.result.perplexities
        return ", ".join(f"{shown} {figures[name].test:.1f}" for name, shown in names.items() if name in figures)

    def _chosen(self) -> str:
        """What the development text decided."""
        record = self.record
        assert record.ngrams is not None
        words = f"kappa {record.ngrams.kappa:g}, Kneser-Ney of order {record.ngrams.order}"
        trials = f"{len(record.ngram_trials) + len(record.trials)} trials"
        if record.choice is None:
            return f"Chosen in {trials}: {words}; the text is too small for more."
        model = f"CLBL++ of {replace(record.choice.model, class_factor=1.0)}, {record.choice.classes} classes"
        model += "" if record.trials else " (as usual, without trials for lack of time)"
        if record.result is not None and record.result.kind == KNESER_NEY:
            return f"Chosen in {trials}: {words}; {model} did not make it any better and was left out."
        return f"Chosen in {trials}: {words}; {model}{self._chosen_caches()}."

    def _chosen_caches(self) -> str:
        caches = None if self.record.result is None else self.record.result.caches
        if caches is None:
            return ""
        return f"; {' and '.join(caches)}" if caches else "; caches did not make it any better and were left out"

    def write_readme(self) -> None:
        """Write README.txt, which says how to use the directory."""
        assert self.directory is not None
        with atomic_writer(LearnDirectory(self.directory).readme, is_ours=True) as file:
            file.write(usage_text(self.directory, self.record).encode())

    def frame_rows(self) -> list[Row]:
        result = self.record.result
        return (
            [] if result is None else [{"model": name} | vars(figures) for name, figures in result.perplexities.items()]
        )

    def trials_frame(self) -> DataFrame:
        """The trials by which the settings were chosen, as a `pandas.DataFrame`; needs the extra `pandas`."""
        trials = [*map(asdict, self.record.ngram_trials), *map(asdict, self.record.trials)]
        return frame_of(map(flattened, trials))

    def to_json(self) -> dict[str, Any]:
        return {"out": None if self.directory is None else str(self.directory)} | self.record.to_json()


def find_learned(request: LearnRequest, *, restart: bool = False) -> Learned | None:
    """What was learned before from the same input, if nothing is left to do; a directory of other input is refused."""
    directory, record = LearnDirectory(request.out), find_record(request, restart=restart)
    if record is None or not record.complete or not directory.model.is_dir():
        return None
    return Learned(request.out, record, was_complete=True)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
