"""Options that the commands about vectors share, and loading the vectors that they name."""

from __future__ import annotations

from pathlib import Path

import click

from morphlm.cli.options import applied
from morphlm.errors import ConfigError
from morphlm.scoring.loading import load
from morphlm.vectors.interface import Vectors
from morphlm.vectors.reading import load_vectors
from morphlm.vectors.vectors import SIDES, Side, WordVectors

choice = applied(
    [
        click.option(
            "--side",
            type=click.Choice(SIDES),
            default="both",
            help="Context vectors q, output vectors r, or both joined.",
        ),
        click.option(
            "--centre",
            is_flag=True,
            help="Subtract the mean vector of the training text from all words; better for similarity.",
        ),
        click.option(
            "--normalise/--as-is",
            default=False,
            help="Whether q and r are each scaled to length 1 before they are joined.",
        ),
    ]
)

prepared = click.option(
    "--prepared", is_flag=True, help="Take words as they stand; else they are brought to the form of the model's text."
)


def model_vectors(path: str, side: Side, centre: bool, normalise: bool) -> WordVectors:
    """The vectors of a model directory; no file has what is needed to compose words."""
    if path == "-" or (Path(path).exists() and not Path(path).is_dir()):
        raise ConfigError(f"{path}: this is a file; name the folder of a model that has word vectors")
    return load(path).vectors.using(side=side, centre=centre, normalise=normalise)


def any_vectors(path: str, side: Side, centre: bool, normalise: bool) -> Vectors:
    """The vectors of a model directory, or those of a file."""
    if path != "-" and (Path(path).is_dir() or not Path(path).exists()):
        return model_vectors(path, side, centre, normalise)
    if side != "both" or centre or normalise:
        reason = "a file of vectors has no sides to choose or to normalise, and no counts to centre it by"
        raise ConfigError(f"{path}: {reason}; name a model for that")
    return load_vectors(path)
