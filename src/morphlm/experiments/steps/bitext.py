"""The parallel text of a pair of languages, prepared and aligned: what all its translation systems share.

STORE/translation/PAIR-KEY/parallel/         the text, as `morphlm translate build` leaves it
STORE/translation/PAIR-KEY/SYSTEM-KEY/       a system, with its weights (steps/tuning.py)
STORE/translation/PAIR-KEY/test-KEY/         its translations, a file for each system and run (steps/comparison.py)
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.corpora import read_parallel
from morphlm.experiments.pairs import ENGLISH, Pair
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.store import Store
from morphlm.files import atomic_writer, make_folder
from morphlm.translation.system.building import Sources, build_system
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import BITEXT, MANIFEST

PAIRS_A_BYTE = 0.0125  # pairs of sentences in a byte of the folder's compressed parallel texts
ALIGNING = 0.25e-3  # seconds a pair of sentences
BYTES_A_PAIR = 900
POP_LIMIT = 100  # of all systems: half of the default, so that the whole table takes hours, not days


def system_config(pair: Pair) -> SystemConfig:
    """The settings of all systems of a pair."""
    return SystemConfig((pair.source, pair.target)).with_decoder(pop_limit=POP_LIMIT)


@dataclass(frozen=True, eq=False)
class BitextStep(Step[dict[str, Any]]):
    """Both sides of a parallel text, and its alignment."""

    pair: Pair
    parallel: Path  # origin, English, other language

    producer = Producer("bitext", 1, ("morphlm.translation.alignment", "morphlm.text.prepare"))

    def describe(self) -> Description:
        config = {**system_config(self.pair).to_json(), "decoder": None, "grammar": None}
        settings = {"pair": str(self.pair), "config": config}
        return Description(f"{self.pair} parallel text", settings, files={"parallel": self.parallel})

    def folder(self, store: Store) -> Path:
        """All that is made of this text."""
        return store.folder / "translation" / f"{self.pair}-{self.short_key}"

    def aligned(self, store: Store) -> Path:
        """The file from which systems extract their rules."""
        return self.folder(store) / "parallel" / BITEXT

    @property
    def expected_bytes(self) -> float:
        """Of the aligned text."""
        return self._expected_pairs * BYTES_A_PAIR

    @property
    def _expected_pairs(self) -> int:
        return int(PAIRS_A_BYTE * self.parallel.stat().st_size)

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(START + self._expected_pairs * ALIGNING, self.expected_bytes)

    def run(self, context: RunContext) -> StepResult:
        out = self.aligned(context.store).parent
        existed = out.exists()
        raw = make_folder(self.folder(context.store) / "raw")
        manifest = build_system(out, self._write_sides(raw), system_config(self.pair))
        shutil.rmtree(raw)
        figures = {name: dict(stage.figures) for name, stage in manifest.stages.items()}
        return StepResult({"pair": str(self.pair), "stages": figures}, [out / MANIFEST], fresh=not existed)

    def _write_sides(self, folder: Path) -> Sources:
        for language in (self.pair.source, self.pair.target):
            column = 1 if language == ENGLISH else 2
            with atomic_writer(folder / language) as stream:
                stream.writelines(f"{columns[column]}\n".encode() for columns in read_parallel(self.parallel))
        return Sources(folder / self.pair.source, folder / self.pair.target)
