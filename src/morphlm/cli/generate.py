"""`morphlm generate`: samples sentences from a model."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click
import numpy as np

from morphlm.cli import options
from morphlm.files import atomic_writer
from morphlm.progress import notify
from morphlm.scoring.generation import Generated, GenerationOptions, generate
from morphlm.scoring.loading import load
from morphlm.text.reading import split_tokens


@click.command(name="generate")
@click.argument("model_path", metavar="MODEL")
@click.option("-n", "--sentences", type=click.IntRange(min=1), default=10, help="Number of sentences.")
@click.option("--max-words", type=int, default=GenerationOptions.max_words, help="Cut longer sentences.")
@click.option(
    "--temperature",
    type=float,
    default=GenerationOptions.temperature,
    help="Below 1, likely words become likelier; above 1, less likely; 0: always the most likely word.",
)
@click.option("--top-k", type=int, default=GenerationOptions.top_k, help="Sample from the k most likely words; 0: all.")
@click.option("--begin", default="", show_default=False, metavar="'WORDS ...'", help="First words of every sentence.")
@click.option("--unknown", is_flag=True, help="Allow <unk>.")
@click.option("--prepared", is_flag=True, help="Print tokens with spaces between them, and take --begin as such.")
@options.seed
@options.as_json_lines
def command(
    model_path: str, sentences: int, begin: str, prepared: bool, seed: int, as_json: bool, **settings: Any
) -> None:
    """Sample sentences from a model, one per line, put together as a person would write them.

    With --json, objects with the text, its words, its ln p, and whether the sentence came to its end.
    """
    model = load(model_path)
    words = split_tokens(begin) if prepared else model.tokens(begin)
    drawn = generate(model, np.random.default_rng(seed), begin=words, options=GenerationOptions(**settings))
    if new := [word for word in words if word not in model.vocabulary]:
        notify(f"warning: the model does not know {', '.join(new)}; it continues as after <unk>")
    with atomic_writer("-") as out:
        for sentence in islice(drawn, sentences):
            line = options.json_line(sentence.to_json()) if as_json else _text(sentence, prepared)
            out.write(f"{line}\n".encode())
            out.flush()


def _text(sentence: Generated, prepared: bool) -> str:
    return " ".join(sentence.words) if prepared else sentence.text
