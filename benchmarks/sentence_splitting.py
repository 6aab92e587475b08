"""How well sentence splitters find the sentences of treebanks and news tests: F1 of boundaries, by text and splitter.

    python benchmarks/sentence_splitting.py DIR [--unseen] [LANGUAGE ...]

In DIR or below are treebanks of Universal Dependencies (`LL_NAME-ud-dev.conllu[.xz]`) and texts of a sentence a line
(`newstest2012.LL.txt[.xz]`), which our own rules were written with; --unseen takes `...-test.conllu` and `newstest2013`
instead. Of sentencex, pysbd, sentence-splitter and icu4py those that are installed are measured. Paragraphs are those
that the treebank marks, else 15 sentences joined by spaces; the end of a paragraph does not count. `whole`: the share
of gold sentences that are left whole, `again`: of the sentences that it has found itself. MB/s: its speed (CPU time).
"""

from __future__ import annotations

import argparse
import importlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from morphlm.files import open_binary
from morphlm.text.sentences import split_sentences

SENTENCES = 15  # in a paragraph, where none are marked
NEWS_PARAGRAPHS = 60
Splitter = Callable[[str], list[str]]


def paragraphs(path: Path) -> Iterator[list[str]]:
    """The gold sentences of each paragraph."""
    with open_binary(path) as stream:
        lines = stream.read().decode().split("\n")
    if ".conllu" in path.name:
        yield from _treebank_paragraphs(lines)
    else:
        yield from (lines[begin : begin + SENTENCES] for begin in range(0, SENTENCES * NEWS_PARAGRAPHS, SENTENCES))


def _treebank_paragraphs(lines: list[str]) -> Iterator[list[str]]:
    group: list[str] = []
    marked = False
    for line in lines:
        marked = marked or line.startswith("# newpar")
        if group and (line.startswith(("# newpar", "# newdoc")) or (len(group) == SENTENCES and not marked)):
            yield group
            group = []
        if line.startswith("# text = "):
            group.append(line.removeprefix("# text = ").strip())
    yield group


def boundaries(sentences: list[str]) -> set[int]:
    """Where sentences end but the last, counted in characters that are no white space."""
    ends, position = set(), 0
    for sentence in sentences[:-1]:
        position += len(re.sub(r"\s", "", sentence))
        ends.add(position)
    return ends


def measure(splitter: Splitter, groups: list[list[str]]) -> tuple[float, ...]:
    """Precision, recall and F1, the shares of gold sentences and of its own that are left whole, megabytes a second."""
    found = gold = right = 0
    texts = [" ".join(group) for group in groups]
    begin = time.process_time()
    results = [splitter(text) for text in texts]
    seconds = time.process_time() - begin
    for group, result in zip(groups, results, strict=True):
        mine, theirs = boundaries(result), boundaries(group)
        found, gold, right = found + len(mine), gold + len(theirs), right + len(mine & theirs)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    f1 = 2 * right / max(found + gold, 1)
    whole = left_whole(splitter, [sentence for group in groups for sentence in group])
    again = left_whole(splitter, [sentence for result in results for sentence in result])
    return right / max(found, 1), right / max(gold, 1), f1, whole, again, megabytes / max(seconds, 1e-9)


def left_whole(splitter: Splitter, sentences: list[str]) -> float:
    return sum(len([part for part in splitter(sentence) if part.strip()]) <= 1 for sentence in sentences) / len(
        sentences
    )


def sentencex(language: str) -> Splitter:
    library = importlib.import_module("sentencex")
    return lambda text: list(library.segment(language, text))


def pysbd(language: str) -> Splitter:
    library = importlib.import_module("pysbd")
    known = language in importlib.import_module("pysbd.languages").LANGUAGE_CODES
    segmenter = library.Segmenter(language=language if known else "en", clean=False)
    return lambda text: list(segmenter.segment(text))


def sentence_splitter(language: str) -> Splitter:
    library = importlib.import_module("sentence_splitter")
    try:
        splitter = library.SentenceSplitter(language=language)
    except library.SentenceSplitterException:
        splitter = library.SentenceSplitter(language="en")
    return lambda text: list(splitter.split(text))


def icu4py(language: str) -> Splitter:
    library = importlib.import_module("icu4py.breakers")
    return lambda text: list(library.SentenceBreaker(text, f"{language}@ss=standard"))


def ours(language: str) -> Splitter:
    return lambda text: split_sentences(text, language)


def language_unknown(_: str) -> Splitter:
    return lambda text: split_sentences(text, None)


SPLITTERS = (sentencex, pysbd, sentence_splitter, icu4py, ours, language_unknown)


def texts_in(folder: Path, unseen: bool = False) -> list[tuple[str, Path]]:
    """All texts, with their languages."""
    part, year = ("test", 2013) if unseen else ("dev", 2012)
    pattern = re.compile(rf"([a-z]{{2,3}})_.*-{part}\.conllu(?:\.xz)?|newstest{year}\.([a-z]{{2}})\.txt(?:\.xz)?")
    found = ((pattern.fullmatch(path.name), path) for path in sorted(folder.rglob("*")))
    return [(name[1] or name[2], path) for name, path in found if name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="default: all")
    parser.add_argument("--unseen", action="store_true", help="texts that our rules were not written with")
    options = parser.parse_args()
    print(f"{'treebank':22} {'splitter':18} prec.  recall F1     whole  again     MB/s")
    totals: dict[str, list[float]] = {}
    for language, path in texts_in(options.folder, options.unseen):
        if options.languages and language not in options.languages:
            continue
        groups = list(paragraphs(path))
        for make in SPLITTERS:
            try:
                splitter = make(language)
            except ModuleNotFoundError:
                continue
            *shares, speed = measure(splitter, groups)
            totals.setdefault(make.__name__, []).append(shares[2])
            columns = "  ".join(f"{share:.3f}" for share in shares)
            print(f"{path.name.removesuffix('.xz')[:22]:22} {make.__name__:18} {columns}  {speed:7.2f}", flush=True)
    for name, values in totals.items():
        print(f"{'mean':22} {name:18}               {sum(values) / len(values):.3f}")


if __name__ == "__main__":
    main()
