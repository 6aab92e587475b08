"""`morphlm neighbours`: the words or morphemes nearest to some, and analogies."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli import options, vector_options
from morphlm.progress import notify
from morphlm.vectors.questions import ask


@click.command(name="neighbours")
@click.argument("model_path", metavar="MODEL")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("-k", "k", type=click.IntRange(1), default=10, help="Number of neighbours.")
@click.option("--morpheme", "of_morphemes", is_flag=True, help="Take the WORDs as morphemes, such as ung/SUF.")
@click.option(
    "--among", type=click.Choice(["words", "morphemes"]), default="words", help="Where to look for neighbours."
)
@click.option("--analogy", "analogies", nargs=3, multiple=True, metavar="A B C", help="A is to B as C is to what?")
@vector_options.choice
@vector_options.prepared
@options.header
@options.as_json
def command(
    model_path: str,
    words: tuple[str, ...],
    k: int,
    of_morphemes: bool,
    among: str,
    analogies: tuple[tuple[str, str, str], ...],
    prepared: bool,
    has_header: bool,
    as_json: bool,
    **choice: Any,
) -> None:
    """Print the nearest words by cosine. A WORD that MODEL does not know is composed of its morphemes.

    MODEL is a model directory or a file of vectors (word2vec text or binary, fastText .bin, .npy, .safetensors).

    Each line has the query, how it was understood (known, composed, affixes, unknown, morpheme or analogy), a neighbour
    and its cosine, separated by tabs. `affixes` means that of a word never seen only prefixes and suffixes are known,
    no stem: its neighbours are alike in form, not in meaning. A word none of whose morphemes is known has the
    neighbours of UNK. Both are said on standard error.
    """
    options.check_model_first(model_path, *words)
    vectors = vector_options.any_vectors(model_path, **choice)
    answers = ask(
        vectors, words, analogies, k,
        of_morphemes=of_morphemes, among_morphemes=among == "morphemes", prepared=prepared,
    )  # fmt: skip
    if as_json:
        options.print_json([answer.to_json() for answer in answers])
    else:
        options.tab_header(("query", "understood", "neighbour", "cosine"), wanted=has_header)
        for answer in answers:
            for note in answer.notes:
                notify(note)
            for name, similarity in answer.neighbours:
                click.echo(f"{answer.query}\t{answer.understood}\t{name}\t{similarity:.4f}")
