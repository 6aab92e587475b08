"""The gold segmentation: every word form once, with its labelled morphs, sorted by form.

There may be more forms than memory, so full tables are put on disk, sorted, and merged at the end.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from morphlm_generated.grammar import GeneratedSentence
from morphlm_generated.morphology import Word

FORMS_IN_MEMORY = 500_000


def gold_segmentation(sentences: Iterable[GeneratedSentence]) -> Iterator[tuple[str, str]]:
    """Yield every form in the sentences with its analysis ('ne/PRE pal/STM om/SUF'), sorted by form."""
    with tempfile.TemporaryDirectory() as scratch:
        table = SegmentationTable(Path(scratch))
        for sentence in sentences:
            table.add(sentence.words)
        yield from table.sorted()


class SegmentationTable:
    """Collects analyses of forms, in bounded memory.

    Where two words are spelt alike, the analysis with fewer morphs counts, then the one that sorts first: this does
    not depend on the order in which they were added. Full tables go to files in the folder `scratch`.
    """

    def __init__(self, scratch: Path, forms_in_memory: int = FORMS_IN_MEMORY) -> None:
        self.scratch, self.forms_in_memory = scratch, forms_in_memory
        self.analyses: dict[str, str] = {}
        self.runs: list[Path] = []

    def add(self, words: Iterable[Word]) -> None:
        analyses = self.analyses
        for form, analysis, _ in words:
            known = analyses.setdefault(form, analysis)
            if known != analysis:
                analyses[form] = min(known, analysis, key=_preference)
        if len(analyses) >= self.forms_in_memory:
            self._spill_to_disk()

    def sorted(self) -> Iterator[tuple[str, str]]:
        """All forms with their analyses, sorted by form."""
        runs = [_read_run(path) for path in self.runs]
        merged = heapq.merge(*runs, sorted(self.analyses.items()))
        for form, group in groupby(merged, key=lambda item: item[0]):
            yield form, min((analysis for _, analysis in group), key=_preference)

    def _spill_to_disk(self) -> None:
        path = self.scratch / f"run{len(self.runs)}.tsv"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{form}\t{analysis}\n" for form, analysis in sorted(self.analyses.items()))
        self.runs.append(path)
        self.analyses = {}


def _preference(analysis: str) -> tuple[int, str]:
    return analysis.count(" "), analysis


def _read_run(path: Path) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            form, _, analysis = line.removesuffix("\n").partition("\t")
            yield form, analysis
