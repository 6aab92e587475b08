"""K-best lists in the notations of Moses and cdec, with features in the units of any of the systems.

`0 ||| tokens ||| Name= 1 2 Other= 3 ||| score` is Moses', `Name=1 Other=3` is cdec's. A word that is the separator has
a backslash before it, and one with backslashes before the separator one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError, located
from morphlm.files import atomic_writer
from morphlm.scoring.kbest import BarFormat, Values
from morphlm.scoring.streaming import arriving_blocks
from morphlm.text.reading import split_tokens
from morphlm.translation.system.conversion import FeatureNames, SystemName, from_ours, to_ours

BAR = "|||"
KBestNotation = Literal["moses", "cdec"]
NOTATIONS: tuple[KBestNotation, ...] = ("moses", "cdec")


@dataclass(frozen=True)
class KBestEntry:
    """One line of a k-best list."""

    sentence: str  # the id of the sentence
    tokens: tuple[str, ...]
    features: Values
    score: float | None = None

    __repr__ = dataclass_repr

    def to_line(self, notation: KBestNotation = "moses") -> str:
        """As a line of a file."""
        score = "" if self.score is None else f" {BAR} {self.score:.6g}"
        features = format_features(self.features, notation)
        return f"{self.sentence} {BAR} {escaped_tokens(self.tokens)} {BAR} {features}{score}"


def escaped_tokens(tokens: Iterable[str]) -> str:
    """Tokens between spaces; none of them is taken for a separator."""
    return " ".join("\\" + token if token.lstrip("\\") == BAR else token for token in tokens)


def format_features(features: Values, notation: KBestNotation) -> str:
    """The third field of a line."""
    if notation == "moses":
        return " ".join(f"{name}= {' '.join(f'{value:.6g}' for value in values)}" for name, values in features.items())
    for name, values in features.items():
        if len(values) != 1:
            raise ConfigError(f"the feature {name} has {len(values)} values, and one of cdec has one; convert them")
    return " ".join(f"{name}={values[0]:.6g}" for name, values in features.items())


def read_kbest(path: str | Path) -> Iterator[KBestEntry]:
    """The lines of a k-best list of cdec, Moses or ours ('-': standard input), as soon as they can be read."""
    for block in arriving_blocks(path, marks="any"):
        for number, line in enumerate(block.lines(), block.first_line):
            with located(block.source, number):
                entry = parse_kbest(line)
            yield entry


def parse_kbest(line: str) -> KBestEntry:
    """Take a line apart; both notations are understood."""
    layout = BarFormat()
    hypothesis = layout.parse(line, 1)
    features = layout.features(hypothesis)
    if "" in features:
        raise InputError("a value has no name before it; write Name=value, or Name= value")
    score = layout.score(hypothesis) if len(hypothesis.fields) > 3 else None
    return KBestEntry(hypothesis.id, tuple(split_tokens(hypothesis.text)), features, score)


def write_kbest(path: str | Path, entries: Iterable[KBestEntry], notation: KBestNotation = "moses") -> None:
    """Write the `entries` of a k-best list in the `notation` "moses" or "cdec"; '-' is standard output."""
    with atomic_writer(path) as out:
        for entry in entries:
            out.write(f"{entry.to_line(notation)}\n".encode())


def convert_kbest(
    entries: Iterable[KBestEntry],
    source: SystemName,
    target: SystemName,
    *,
    models: Mapping[str, str] | None = None,
    extractor: bool = False,
) -> Iterator[KBestEntry]:
    """The same `entries` with the features of the `target` instead of the `source` system, in its units; scores stay.

    `models` and `extractor` are as of `import_weights`. Features without a counterpart keep names and values, also
    Moses' PhrasePenalty0, which counts other rules than ours; several values of one become NAME_0, NAME_1 and so on.
    """
    names = FeatureNames(models, extractor, by_unknown_words=source != "cdec")
    for entry in entries:
        features = entry.features
        if source == "cdec":
            names.check_models(features)
        if source != "morphlm":
            ours = to_ours(features, list(names.counterparts(source, {}, features)), weights=False)
        else:
            ours = {name: _single(name, values) for name, values in features.items()}
        if target != "morphlm":
            features = from_ours(ours, list(names.counterparts(target, ours, {})), weights=False)
        else:
            features = {name: (value,) for name, value in ours.items()}
        yield KBestEntry(entry.sentence, entry.tokens, features, entry.score)


def _single(name: str, values: tuple[float, ...]) -> float:
    if len(values) != 1:
        raise ConfigError(f"the feature {name} has {len(values)} values, so the list is not ours; say whose it is")
    return values[0]
