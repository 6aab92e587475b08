"""The record of `morphlm learn`, which grows stage by stage, so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.files import atomic_writer
from morphlm.learning.choices import ModelChoice, NgramChoice, NgramTrial, Trial
from morphlm.learning.request import InputFile
from morphlm.learning.schema import CACHED_MIXTURE, FORMAT, LEARNED
from morphlm.schema import read_document
from morphlm.tables import finite_or_none, percent
from morphlm.version import __version__

LOUD = 0.02  # share of the tokens whose loss is said loudly


@dataclass(frozen=True)
class PartRecord:
    """One of the three texts."""

    sentences: int
    tokens: int
    sha256: str


@dataclass(frozen=True)
class TextRecord:
    """What was read, what was lost, and how it was divided."""

    language: str | None  # ISO 639; None: not known
    documents: int
    whole_documents: bool  # whether the held-out texts are whole documents
    lost: Mapping[str, int]  # why -> tokens
    left_out: int  # tokens for which there was no time
    repeated: float  # share of the development sentences that are also in the training text, word for word
    notes: tuple[str, ...]  # what was noticed
    parts: Mapping[str, PartRecord]  # train, dev, test

    __repr__ = dataclass_repr

    @property
    def tokens(self) -> int:
        """Of all three parts."""
        return sum(part.tokens for part in self.parts.values())

    def format(self) -> str:
        """`1,234,567 tokens in 3 documents: 1,100,000 to train on, ...`."""
        train, dev, test = (self.parts[part].tokens for part in ("train", "dev", "test"))
        documents = f"{self.documents:,} document{'s' * (self.documents != 1)}"
        how = "whole documents" if self.whole_documents else "blocks spread over it"
        parts = f"{train:,} to learn from, {dev:,} to choose by, {test:,} to test on"
        return f"{self.tokens:,} tokens in {documents}: {parts} ({how})"

    @property
    def lost_tokens(self) -> int:
        return sum(self.lost.values()) + self.left_out

    @property
    def lost_share(self) -> float:
        return self.lost_tokens / max(1, self.tokens + self.lost_tokens)

    def format_losses(self) -> str:
        """`lost: 1,234 tokens (0.4 %): 1,200 in lines that are no text, ...`, or that nothing was."""
        if not self.lost_tokens:
            return "no token was lost on the way"
        reasons = [*self.lost.items(), *([("left out for lack of time", self.left_out)] if self.left_out else [])]
        listed = ", ".join(f"{count:,} {why}" for why, count in reasons)
        loud = "WARNING: much of the text was lost: " if self.lost_share > LOUD else "lost: "
        total = self.tokens + self.lost_tokens
        return f"{loud}{self.lost_tokens:,} of {total:,} tokens ({percent(self.lost_share)}): {listed}"

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> TextRecord:
        parts = {name: PartRecord(**part) for name, part in content["parts"].items()}
        return cls(**dict(content) | {"notes": tuple(content["notes"]), "parts": parts})


@dataclass(frozen=True)
class FinalChoice:
    """All settings of the CLBL++ that was trained on the whole training text."""

    model: ModelChoice
    classes: int
    stop_after: int = 0  # tokens after which the time was over; 0: the training ended by itself

    def to_json(self) -> dict[str, Any]:
        return asdict(self.model) | {"classes": self.classes, "stop_after": self.stop_after}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> FinalChoice:
        model = {name: value for name, value in content.items() if name not in ("classes", "stop_after")}
        return cls(ModelChoice(**model), content["classes"], content["stop_after"])


@dataclass(frozen=True)
class Figures:
    """Perplexities of a model: unknown words as UNK, and spelled, which can be compared across vocabularies."""

    development: float
    test: float
    development_spelled: float
    test_spelled: float

    def to_json(self) -> dict[str, float | None]:
        return {name: finite_or_none(value) for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, content: Mapping[str, float | None]) -> Figures:
        return cls(**{name: math.inf if value is None else value for name, value in content.items()})


@dataclass(frozen=True)
class ResultRecord:
    """What came out, and words of this text to try it on."""

    kind: str  # of the model: "mixture" or "mkn"
    # Of Kneser-Ney ("mkn"), of CLBL++ ("clbl++") and of both mixed ("mixture"); where caches are in the model, also of
    # Kneser-Ney with one of them ("mkn+cache") and of the model itself ("mixture+caches").
    perplexities: Mapping[str, Figures]
    composable: float | None  # share of the words never seen that can be composed
    headline: str
    words: tuple[str, ...]  # some words of the text
    new_words: tuple[str, ...]  # some that only the test text has, and that can be composed
    beginnings: tuple[str, ...]  # of sentences
    commands: tuple[str, ...]  # that give the same model again
    # That the mixture has: "neural-cache", around CLBL++, "morpheme-cache"; None: none were tried.
    caches: tuple[str, ...] | None = None

    __repr__ = dataclass_repr

    @property
    def figures(self) -> Figures:
        """Those of the model itself."""
        return self.perplexities[CACHED_MIXTURE if self.caches else self.kind]

    def to_json(self) -> dict[str, Any]:
        figures = {name: entry.to_json() for name, entry in self.perplexities.items()}
        lists = {name: list(getattr(self, name)) for name in ("words", "new_words", "beginnings", "commands")}
        plain = {name: value for name, value in vars(self).items() if name != "caches"}
        caches = {} if self.caches is None else {"caches": list(self.caches)}
        return plain | {"perplexities": figures} | lists | caches

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ResultRecord:
        figures = {name: Figures.from_json(entry) for name, entry in content["perplexities"].items()}
        lists = {name: tuple(content[name]) for name in ("words", "new_words", "beginnings", "commands")}
        caches = {"caches": tuple(content["caches"])} if "caches" in content else {}
        return cls(**dict(content) | {"perplexities": figures} | lists | caches)


@dataclass(frozen=True)
class LearnRecord:
    """All of it; what has not been done yet is None or empty."""

    settings: Mapping[str, Any]
    inputs: tuple[InputFile, ...]
    minutes: float | None = None
    seconds: float = 0.0  # that it took so far, all runs together
    complete: bool = False
    text: TextRecord | None = None
    ngram_trials: tuple[NgramTrial, ...] = ()
    ngrams: NgramChoice | None = None
    search_tokens: int | None = None  # of the text for the search; None: not planned yet, 0: no search
    trials: tuple[Trial, ...] = ()
    choice: FinalChoice | None = None  # None: not made, or Kneser-Ney alone
    result: ResultRecord | None = None
    machine: Mapping[str, str] = field(default_factory=dict)
    version: str = __version__

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": self.version,
            "settings": dict(self.settings),
            "inputs": [asdict(file) for file in self.inputs],
            "minutes": self.minutes,
            "seconds": self.seconds,
            "complete": self.complete,
            "text": None if self.text is None else asdict(self.text),
            "ngram_trials": [
                asdict(trial) | {"perplexity": finite_or_none(trial.perplexity)} for trial in self.ngram_trials
            ],
            "ngrams": None if self.ngrams is None else asdict(self.ngrams),
            "search_tokens": self.search_tokens,
            "trials": [trial.to_json() for trial in self.trials],
            "choice": None if self.choice is None else self.choice.to_json(),
            "result": None if self.result is None else self.result.to_json(),
            "machine": dict(self.machine),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> LearnRecord:
        """The reverse, of what fits the schema."""
        values = {name: value for name, value in content.items() if name != "format"}
        trials = [entry | {"perplexity": _or_infinite(entry["perplexity"])} for entry in content["ngram_trials"]]
        readers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "text": TextRecord.from_json,
            "choice": FinalChoice.from_json,
            "result": ResultRecord.from_json,
        }
        read = {name: reader(content[name]) for name, reader in readers.items() if content[name] is not None}
        return cls(
            **values
            | read
            | {
                "inputs": tuple(InputFile(**file) for file in content["inputs"]),
                "ngram_trials": tuple(NgramTrial(**trial) for trial in trials),
                "ngrams": None if content["ngrams"] is None else NgramChoice(**content["ngrams"]),
                "trials": tuple(Trial.from_json(trial) for trial in content["trials"]),
            }
        )


def _or_infinite(value: float | None) -> float:
    return math.inf if value is None else value


@dataclass
class RecordFile:
    """The record on disk; every change is written at once."""

    path: Path
    record: LearnRecord

    def update(self, **changes: Any) -> None:
        """Change some fields, and write the record in one step."""
        self.record = replace(self.record, **changes)
        with atomic_writer(self.path, is_ours=True) as file:
            content = json.dumps(self.record.to_json(), ensure_ascii=False, indent=1, allow_nan=False)
            file.write(f"{content}\n".encode())


def read_record(path: Path) -> LearnRecord:
    """The record; FileNotFoundError if there is none, FormatError if it is something else."""
    return LearnRecord.from_json(read_document(path, LEARNED))
