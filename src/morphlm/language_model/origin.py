"""Where a model lies on disk: what another process needs instead of its content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morphlm.compiledfile import stored_digest
from morphlm.errors import FormatError
from morphlm.files import sha256_of
from morphlm.modelfile import MANIFEST
from morphlm.schema import SchemaError

if TYPE_CHECKING:
    from morphlm.language_model.base import LanguageModel


@dataclass(frozen=True)
class Origin:
    """The directory, or compiled file, that a model was read from or saved to, and how both can be recognised."""

    directory: Path  # absolute and without links, which might lead elsewhere later
    digest: str  # of the manifest, or of the content of the file
    records: str  # a hash of the training records, which a program may change

    @classmethod
    def of(cls, model: LanguageModel, directory: str | Path, digest: str) -> Origin:
        return cls(Path(directory).resolve(), digest, _hashed_records(model))

    def holds(self, model: LanguageModel) -> bool:
        """Whether the directory is still there, and has what the model has."""
        try:
            is_there = _digest_at(self.directory) == self.digest
        except (OSError, FormatError, SchemaError):
            return False
        return is_there and self.records == _hashed_records(model)


def _digest_at(place: Path) -> str:
    return sha256_of(place / MANIFEST) if place.is_dir() else stored_digest(place)


def _hashed_records(model: LanguageModel) -> str:
    return hashlib.sha256(repr([part.training for part in (model, *model.parts)]).encode()).hexdigest()
