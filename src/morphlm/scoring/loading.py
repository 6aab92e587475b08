"""Loading a model of any kind from its directory, or an n-gram model from an ARPA file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from morphlm.errors import FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.model import logbilinear_from_files
from morphlm.modelfile import ModelFiles, read_model
from morphlm.ngram.model import ngram_from_arpa, ngram_from_files
from morphlm.training.checkpoint import KIND as CHECKPOINT

READERS: dict[str, Callable[[str | Path, ModelFiles], LanguageModel]] = {
    "mkn": ngram_from_files,
    "arpa": ngram_from_files,
    **dict.fromkeys(VARIANTS, logbilinear_from_files),
}


def load(path: str | Path) -> LanguageModel:
    """Load a model directory, or an ARPA file ('-': standard input). Nothing is executed; damage is refused."""
    if str(path) == "-" or (Path(path).exists() and not Path(path).is_dir()):
        return ngram_from_arpa(path)
    files = read_model(path)
    if files.kind == CHECKPOINT:
        raise FormatError(
            f"{path}: this is a training that has not ended, not a model; go on with it by `morphlm train` with "
            "--resume, or load the best model so far from the folder of the same name without .checkpoint"
        )
    if files.kind not in READERS:
        known = ", ".join(sorted(READERS))
        raise FormatError(f"{path}: a model of the kind {files.kind!r}; this morphlm knows {known}, use a newer one")
    return READERS[files.kind](path, files)
