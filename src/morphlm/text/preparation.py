"""How a text is prepared, and the record of it, which stands beside the text and travels in models learned from it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.files import atomic_writer, is_file
from morphlm.schema import SchemaError, read_document
from morphlm.tables import counted, percent
from morphlm.text.reading import parse_number, repair_messages
from morphlm.text.schema import LANGUAGE_CODE, PREPARATION, RECORD_FORMAT
from morphlm.text.words import REVISION as WORDS_REVISION
from morphlm.version import __version__
from morphlm.wording import option

RECORD_SUFFIX = ".prepared.json"
Tokeniser = Literal["words", "moses", "none"]
Case = Literal["lower", "keep"]
LongSentences = Literal["split", "drop"]
PAPER_CYRILLIC = 0.8  # the paper's filter of Russian text

_LANGUAGE = re.compile(LANGUAGE_CODE)
_LINE_STEPS = ("language", "nfc", "tokeniser", "case", "digits", "cyrillic_share")  # what is done to a line


@dataclass(frozen=True)
class PrepareOptions:
    """What is done to every line, in this order. `paper_options` gives the paper's."""

    language: str | None = None  # ISO 639 code (cs, de, ...); None: rules that suit most languages
    nfc: bool = True  # Unicode normal form C, so that equal-looking words are equal
    tokeniser: Tokeniser = "words"  # ours, by language; Moses's, as in the paper; or tokens stand between spaces
    case: Case = "lower"
    digits: bool = True  # every decimal digit of any script becomes 0
    max_tokens: int = 80  # most tokens of a sentence; 0: any number
    long_sentences: LongSentences | None = None  # what becomes of longer ones. None: dropped with Moses, else split
    cyrillic_share: float | None = (
        None  # less Cyrillic among a token's letters: <unk>. None: 0.8 for Moses's ru, else 0
    )

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        if self.cyrillic_share is None:
            is_paper = self.tokeniser == "moses" and self.language == "ru"
            object.__setattr__(self, "cyrillic_share", PAPER_CYRILLIC if is_paper else 0.0)
        if self.long_sentences is None:
            object.__setattr__(self, "long_sentences", "drop" if self.tokeniser == "moses" else "split")
        for name, kind in (("tokeniser", Tokeniser), ("case", Case), ("long_sentences", LongSentences)):
            if getattr(self, name) not in (choices := get_args(kind)):
                raise ConfigError(f"{name} {getattr(self, name)!r} is not known; choose one of {', '.join(choices)}")
        if self.tokeniser == "moses" and self.language is None:
            raise ConfigError(f"the Moses tokeniser needs the language; give it ({option('--language', 'cs')})")
        if self.language is not None and not _LANGUAGE.fullmatch(self.language):
            raise ConfigError(f"{self.language!r} is not a language code; use two or three small letters such as cs")
        if self.max_tokens < 0:
            raise ConfigError(f"max-tokens {self.max_tokens} is below 0; 0 keeps sentences of any length")
        if not 0 <= self.required_cyrillic <= 1:
            raise ConfigError(f"cyrillic-share {self.cyrillic_share} is not a share; use a number from 0 (off) to 1")

    @property
    def required_cyrillic(self) -> float:
        """The share of Cyrillic letters that a token needs; 0 when the filter is off."""
        return self.cyrillic_share or 0.0

    @property
    def splits_long(self) -> bool:
        """Whether sentences with too many tokens are split; else they are dropped."""
        return self.long_sentences == "split"

    @property
    def is_idempotent(self) -> bool:
        """Whether preparing prepared text changes nothing, so that raw and prepared text can be taken alike."""
        return self.tokeniser != "moses"

    @property
    def line_steps(self) -> dict[str, Any]:
        """What is done to a line; the rest says which sentences are kept."""
        return {name: getattr(self, name) for name in _LINE_STEPS}

    @property
    def tokeniser_signature(self) -> str:
        """The tokeniser as signatures name it: `words1.cs`, `words1`, `moses.cs`, or `none`."""
        name = f"words{WORDS_REVISION}" if self.tokeniser == "words" else self.tokeniser
        return name if self.tokeniser == "none" or self.language is None else f"{name}.{self.language}"

    @property
    def normalisation_signature(self) -> str:
        """The normalisation as signatures name it: `lc+digits`, `lc+digits+cyrillic0.8`, or `none`."""
        share = self.required_cyrillic
        steps = (
            ("lc", self.case == "lower"),
            ("digits", self.digits),
            (f"cyrillic{share:g}", share > 0),
            ("nonfc", not self.nfc),
        )
        return "+".join(name for name, done in steps if done) or "none"

    def describe(self) -> str:
        """For people: `tokenised for cs, lower case, digits as 0`."""
        language = f" for {self.language}" if self.language else ""
        tokenised = {"words": f"tokenised{language}", "moses": f"Moses tokens{language}", "none": "tokens as they are"}
        steps = [tokenised[self.tokeniser]]
        steps += ["lower case"] if self.case == "lower" else []
        steps += ["digits as 0"] if self.digits else []
        return ", ".join(steps)


def paper_options(language: str | None, **steps: Any) -> PrepareOptions:
    """The preparation of the paper: Moses tokens, lower case, digits as 0, at most 80 tokens, the Cyrillic filter."""
    return PrepareOptions(language=language, **({"tokeniser": "moses"} | steps))


@dataclass(frozen=True)
class Counts:
    """What became of the lines. In parallel text a pair is a line of each side."""

    lines: int = 0  # read
    kept: int = 0
    empty: int = 0  # dropped: nothing in them, or nothing left
    too_long: int = 0  # dropped: more than max_tokens
    length_ratio: int = 0  # dropped: pairs of too different length
    tokens: int = 0  # in what was kept
    sentences: int = 0  # written: more than the lines kept, where lines were split
    lost_tokens: int = 0  # in what was dropped

    __repr__ = dataclass_repr

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: value + getattr(other, name) for name, value in dataclasses.asdict(self).items()})

    @property
    def lost_share(self) -> float:
        """The share of the tokens that is not in what was kept."""
        return self.lost_tokens / max(1, self.tokens + self.lost_tokens)

    def format(self) -> str:
        """The number of lines kept, why the others were dropped, and how many tokens were lost with them."""
        reasons = (("empty", self.empty), ("too long", self.too_long), ("of unequal length", self.length_ratio))
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in reasons if count)
        kept = f"{self.kept:,} of {counted(self.lines, 'line')} kept{dropped and f' ({dropped})'}"
        if self.sentences > self.kept:
            kept += f", split into {counted(self.sentences, 'sentence')}"
        lost = (
            f"; lost: {counted(self.lost_tokens, 'token')} ({percent(self.lost_share, 2)})" if self.lost_tokens else ""
        )
        return f"{kept}, {counted(self.tokens, 'token')}{lost}"


@dataclass(frozen=True)
class Preparation:
    """The record of how a text was prepared, kept in a file beside it."""

    options: PrepareOptions
    counts: Counts
    bytes: int  # size of the file as written (compressed, if it was), to recognise a text that has changed
    repairs: Mapping[str, int] = field(default_factory=dict)  # what --mend repaired
    max_ratio: float | None = None  # parallel text: most tokens of the longer side for each of the shorter
    version: str = __version__
    sacremoses: str | None = None  # its version, if it tokenised or its abbreviations were used

    __repr__ = dataclass_repr

    def format(self) -> str:
        options = self.options
        parts = [self.counts.format(), options.tokeniser_signature, options.normalisation_signature]
        if self.options.max_tokens:
            parts.append(f"at most {counted(self.options.max_tokens, 'token')}")
        parts += repair_messages(dict(sorted(self.repairs.items())))
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a manifest."""
        return {"format": RECORD_FORMAT, **dataclasses.asdict(self)}

    def to_json(self) -> str:
        """The content of the record, a line for every value."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], source: str = "record") -> Preparation:
        """The reverse of `to_dict`; a FormatError, which names the source, for anything else."""
        try:
            PREPARATION.check_version(record, source)
            PREPARATION.value.check(record, "the content")
            values = {name: value for name, value in record.items() if name != "format"}
            options, counts = _read_options(values.pop("options")), Counts(**values.pop("counts"))
        except SchemaError as problem:
            raise PREPARATION.refusal(source, problem) from problem
        except ConfigError as error:
            raise PREPARATION.refusal(source, SchemaError(str(error))) from error
        return cls(options=options, counts=counts, **values)


def _read_options(values: Mapping[str, Any]) -> PrepareOptions:
    """From a record; version 0.1 wrote `tokenise` and `lowercase`, and had no other tokeniser than Moses's."""
    named = dict(values)
    if "tokenise" in named or "lowercase" in named or "tokeniser" not in named:
        named.setdefault("tokeniser", "moses" if named.pop("tokenise", True) else "none")
        named.setdefault("case", "lower" if named.pop("lowercase", True) else "keep")
        named.setdefault("long_sentences", "drop")
    return PrepareOptions(**named)


def record_path(path: str | Path) -> Path:
    """The path of the record of a text."""
    return Path(f"{path}{RECORD_SUFFIX}")


def read_preparation(path: str | Path) -> Preparation | None:
    """The record beside a text; None if there is none, or if the text is no longer the one that was written."""
    text, record = Path(path), record_path(path)
    if str(path) == "-" or not is_file(record) or not is_file(text):
        return None
    preparation = Preparation.from_dict(read_document(record, PREPARATION), str(record))
    return preparation if preparation.bytes == text.stat().st_size else None


def write_preparation(path: str | Path, preparation: Preparation) -> None:
    """Write a record; `record_path` says where it belongs."""
    with atomic_writer(path) as stream:
        stream.write(preparation.to_json().encode())


# ---------------------------------------------------------------- the record in a model


def model_record(options: PrepareOptions) -> dict[str, Any]:
    """What a model keeps of the preparation of its training text: names for signatures, and the steps."""
    return {
        "tokeniser": options.tokeniser_signature,
        "normalisation": options.normalisation_signature,
        "options": options.line_steps,
    }


def options_of_record(record: Mapping[str, Any] | None) -> PrepareOptions | None:
    """What was done to the lines of a model's training text; None if that is not on record."""
    if not record or record.get("normalisation") is None:
        return None
    if record.get("options") is not None:
        return PrepareOptions(**record["options"], max_tokens=0)
    return _options_of_signatures(record["normalisation"], record.get("tokeniser") or "")


def _options_of_signatures(normalisation: str, tokeniser: str) -> PrepareOptions:
    """Models of version 0.1 have only the names of the steps."""
    steps = set(normalisation.split("+"))
    name, _, language = tokeniser.partition(".")
    is_moses = name == "moses" and bool(language)
    share = next((_cyrillic_share(step) for step in steps if step.startswith("cyrillic")), 0.0)
    return PrepareOptions(
        language=language if is_moses else None,
        tokeniser="moses" if is_moses else "none",
        nfc="nonfc" not in steps,
        case="lower" if "lc" in steps else "keep",
        digits="digits" in steps,
        max_tokens=0,
        cyrillic_share=share,
    )


def _cyrillic_share(step: str) -> float:
    try:
        return parse_number(step.removeprefix("cyrillic"))
    except ValueError:
        problem = f"the model's text was normalised by {step!r}, which is not known here"
        raise ConfigError(f"{problem}; prepare the text yourself and say {option('--prepared', True)}") from None
