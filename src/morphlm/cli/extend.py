"""`morphlm extend`: a trained model with more words, without training again."""

from __future__ import annotations

import click

from morphlm.cli import options
from morphlm.scoring.extending import extend, read_word_list
from morphlm.scoring.loading import load


@click.command(name="extend")
@click.argument("model_path", metavar="MODEL")
@click.argument("words", metavar="WORDS")
@options.model_out
@click.option("--text", metavar="FILE", help="Text that has the words, to tell how frequent they are.")
@options.prepared
@options.as_json
def command(model_path: str, words: str, out: str, text: str | None, prepared: bool | None, as_json: bool) -> None:
    """Add the words of the file WORDS to MODEL, one a line, with or without a TAB and a count behind each.

    A new word has a share of the probability that the model gives to unknown words, by its composed vector and by how
    frequent it is expected to be: its count, in WORDS or in a text, or an estimate from known words of its shape. Known
    words keep their probability. MODEL has output factors (clbl++, clbl+o, lbl++, lbl+o), is made of n-grams, or is a
    mixture of such models.

    \b
      morphlm extend cs.mixture names.txt --text domain.txt --out cs-names.mixture
    """
    options.check_model_first(model_path, words)
    options.check_one_stdin(model_path, words, text or "")
    listed = read_word_list(words)
    extended = extend(load(model_path), listed, text, prepared=prepared)
    extended.model.save(out)
    options.print_result(extended, as_json, err=not as_json)
