"""Loading a model of any kind from its directory or a compiled file, or an n-gram model from an ARPA file."""

from __future__ import annotations

import importlib
from pathlib import Path

from morphlm.compiledfile import is_compiled
from morphlm.errors import FormatError
from morphlm.files import checked_path
from morphlm.kinds import find_kind
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.origin import Origin
from morphlm.modelfile import COMPONENTS, ModelFiles, learned_part, read_model
from morphlm.ngram.model import ngram_from_arpa
from morphlm.scoring.mixture import MixtureModel, mixture_from_files
from morphlm.segmentation.segmenter import KIND as SEGMENTER
from morphlm.training.checkpoint import KIND as CHECKPOINT
from morphlm.wording import either


def mixture_from_directory(directory: str | Path, files: ModelFiles) -> MixtureModel:
    """A mixture, each of whose components is a model of any kind."""
    names = files.configuration["components"]
    models = [model_from_files(Path(directory) / COMPONENTS / name, files.parts[name]) for name in names]
    return mixture_from_files(directory, files, models)


def load(path: str | Path) -> LanguageModel:
    """Load a model directory, a compiled file, or an ARPA file ('-': standard input).

    Nothing is executed; damage is refused. A directory that `morphlm learn` has written stands for the model in it.
    """
    if str(path) == "-" or (checked_path(path).exists() and not Path(path).is_dir()):
        return _load_file(path)
    path = learned_part(path)
    return model_from_files(path, read_model(path))


def _load_file(path: str | Path) -> LanguageModel:
    if str(path) != "-" and is_compiled(path):
        reading = importlib.import_module("morphlm.compiled.reading")  # it knows mixtures, so it stands above
        model: LanguageModel = reading.load_compiled(path)
        return model
    return ngram_from_arpa(path)


def model_from_files(path: str | Path, files: ModelFiles) -> LanguageModel:
    """The model that a checked directory holds; its self-test is run."""
    if files.kind == CHECKPOINT:
        raise FormatError(
            f"{path}: this is a training that has not ended, not a model; go on with it by "
            f"{either('`morphlm train` with --resume', '`train(..., resume=True)`')}, or load the best model "
            "so far, if "
            "there is one, from the folder of that name without .checkpoint"
        )
    if files.kind == SEGMENTER:
        raise FormatError(
            f"{path}: this segments words and is no language model; use it by "
            f"{either('`morphlm segment --load`', '`MorphemeSegmenter.load`')} or name a model"
        )
    kind = find_kind(files.kind)
    if kind is None:
        raise FormatError(f"{path}: this holds a {files.kind}, not a language model; name another folder")
    try:
        model: LanguageModel = kind.load("read")(path, files)
        model.origin = Origin.of(model, path, files.digest)
        return model
    except FormatError:
        raise
    except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
        # Every file has its hash, so it was written so: by another version, or by somebody else.
        what = f"parts are missing or do not fit ({type(error).__name__}: {error})"
        raise FormatError(f"{path}: {what}; make the model again") from error
