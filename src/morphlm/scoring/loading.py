"""Loading a model of any kind from its directory, or an n-gram model from an ARPA file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from morphlm.errors import FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.modelfile import ModelFiles, read_model
from morphlm.ngram.model import ngram_from_arpa, ngram_from_files

READERS: dict[str, Callable[[str | Path, ModelFiles], LanguageModel]] = {
    "mkn": ngram_from_files,
    "arpa": ngram_from_files,
}


def load(path: str | Path) -> LanguageModel:
    """Load a model directory, or an ARPA file ('-': standard input). Nothing is executed; damage is refused."""
    if str(path) == "-" or (Path(path).exists() and not Path(path).is_dir()):
        return ngram_from_arpa(path)
    files = read_model(path)
    if files.kind not in READERS:
        known = ", ".join(sorted(READERS))
        raise FormatError(f"{path}: a model of the kind {files.kind!r}; this morphlm knows {known}, use a newer one")
    return READERS[files.kind](path, files)
