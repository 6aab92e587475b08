"""How well the tokenisers cut text into the words that linguists marked, and how fast: a table of languages.

Run: python benchmarks/tokenisation.py FOLDER [--limit SENTENCES] [--json]. The folder holds files of CoNLL-U
(`fi_tdt-ud-dev.conllu`, also .xz) as Universal Dependencies gives them out; the name begins with the language's code.
F1 is of spans: a token counts if it begins and ends where one of the gold tokens does. Multiword tokens (`3-4`) are
one, as they are written. Round trips: sentences whose tokens are the same after `join_words` and tokenising again;
exact: those that are put together just as they were written.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path

from morphlm.errors import ConfigError
from morphlm.text.joining import join_words
from morphlm.text.languages import check_language
from morphlm.text.tokenise import moses_tokenise
from morphlm.text.words import tokenise_words

Tokeniser = Callable[[str, str], Sequence[str]]
Sentence = tuple[str, list[str]]  # as it is written, and its gold tokens


@dataclass(frozen=True)
class Row:
    """The results of one file."""

    treebank: str
    sentences: int
    tokens: int
    words_f1: float
    moses_f1: float
    words_speed: float  # tokens per CPU second
    moses_speed: float
    round_trips: float
    exact: float


def read_sentences(path: Path) -> Iterator[Sentence]:
    """The sentences of a file whose tokens are what is written; some treebanks have corrected spellings."""
    text, tokens, inside = "", list[str](), 0
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.rstrip("\n").partition("\t")
            if line.startswith("# text ="):
                text = line.removeprefix("# text =").strip()
            elif not line.strip():
                if tokens and _plain(text) == _plain("".join(tokens)):
                    yield text, tokens
                text, tokens, inside = "", [], 0
            elif not line.startswith("#") and "." not in name and ("-" in name or int(name) > inside):
                tokens.append(value.partition("\t")[0])
                inside = int(name.partition("-")[2] or inside)


def _plain(text: str) -> str:
    return "".join(text.split())


def spans(tokens: Sequence[str]) -> set[tuple[int, int]]:
    """Where tokens begin and end, in a text without its spaces."""
    ends = [0]
    for token in tokens:
        ends.append(ends[-1] + len(_plain(token)))
    return set(pairwise(ends))


def span_f1(sentences: Sequence[Sentence], tokenise: Tokeniser, language: str) -> float:
    """The harmonic mean of precision and recall of whole tokens."""
    right = given = gold = 0
    for text, tokens in sentences:
        found, expected = spans(tokenise(text, language)), spans(tokens)
        right, given, gold = right + len(found & expected), given + len(found), gold + len(expected)
    return 2 * right / (given + gold)


def speed(sentences: Sequence[Sentence], tokenise: Tokeniser, language: str) -> float:
    """Tokens per CPU second of text that is new to the tokeniser."""
    begin = time.process_time()
    count = sum(len(tokenise(text, language)) for text, _ in sentences)
    return count / (time.process_time() - begin)


def moses(text: str, language: str) -> list[str]:
    return moses_tokenise(text, language).split()


def measure(path: Path, limit: int | None) -> Row | None:
    """All results of a file; None if it is in no language that we know or has no plain text."""
    try:
        language = check_language(path.name.partition("_")[0])
    except ConfigError:
        return None
    sentences = list(islice(read_sentences(path), limit))
    if not sentences:
        return None
    moses("", language), tokenise_words("www.x.y x.", language)  # lists and patterns of the language are made once
    words_speed, moses_speed = speed(sentences, tokenise_words, language), speed(sentences, moses, language)
    pairs = [(text, tokenise_words(text, language)) for text, _ in sentences]
    joined = [(text, tokens, join_words(tokens, language)) for text, tokens in pairs]
    return Row(
        treebank=path.name.partition("-ud")[0],
        sentences=len(sentences),
        tokens=sum(len(tokens) for _, tokens in sentences),
        words_f1=span_f1(sentences, tokenise_words, language),
        moses_f1=span_f1(sentences, moses, language),
        words_speed=words_speed,
        moses_speed=moses_speed,
        round_trips=sum(tokenise_words(written, language) == tokens for _, tokens, written in joined) / len(joined),
        exact=sum(written == " ".join(text.split()) for text, _, written in joined) / len(joined),
    )


def format_table(rows: Sequence[Row]) -> str:
    lines = [
        "| treebank | tokens | F1 words | F1 moses | tokens/s words | tokens/s moses | round trips | exact |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        worse = " (worse)" if row.words_f1 < row.moses_f1 else ""
        quality = f"{row.words_f1:.4f}{worse} | {row.moses_f1:.4f} | {row.words_speed:,.0f} | {row.moses_speed:,.0f}"
        lines.append(f"| {row.treebank} | {row.tokens:,} | {quality} | {row.round_trips:.4f} | {row.exact:.4f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, help="sentences of each file")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    paths = sorted(path for path in arguments.folder.iterdir() if ".conllu" in path.name)
    rows = [row for path in paths if (row := measure(path, arguments.limit)) is not None]
    print(json.dumps([asdict(row) for row in rows], indent=1) if arguments.json else format_table(rows))


if __name__ == "__main__":
    main()
