"""What a translation system could gain if it knew the other forms of its words: an upper limit, by the references.

    python benchmarks/inflection_headroom.py SYSTEM SOURCE REFERENCE OUTPUT [--monolingual TEXT ...]

SYSTEM is a directory of `morphlm translate build`, SOURCE and REFERENCE are raw text line by line, OUTPUT is what
`morphlm translate decode SYSTEM SOURCE` wrote. A token of the references can be reached if a rule for its sentence has
it, or if its sentence has the same word in the source. The other tokens are told apart, each by the first of these that
holds: names and numbers (a digit, or a capital letter inside the sentence); another form of the stem can be reached;
the form or its stem is elsewhere in the parallel text; the form or its stem is in the monolingual texts alone; nothing
is known. The stem of a word are its morphemes up to the last one that is labelled STM, at least three letters, by a
segmenter that is trained on the target side and the monolingual texts.

An oracle then replaces words of OUTPUT that the reference does not have by other forms of the same stem that it has;
what that gains in BLEU and chrF is the most that a choice of endings can gain without any other change.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from morphlm import train_segmenter
from morphlm.files import open_binary
from morphlm.text.prepare import prepare_line
from morphlm.translation.evaluation.metrics import evaluate
from morphlm.translation.grammar.kernels.search import FIRST_WORD
from morphlm.translation.system.config import TARGET, SystemConfig
from morphlm.translation.system.system import TranslationSystem

SHORTEST_STEM = 3  # letters
REACHED = "can be reached"
KINDS = (
    REACHED,
    "names and numbers",
    "another form of the stem can be reached",
    "the form is in the parallel text",
    "the stem is in the parallel text",
    "the form is in monolingual text",
    "the stem is in monolingual text",
    "nothing is known",
)
Stem = Callable[[str], str]


def lines_of(path: Path) -> Iterator[str]:
    with open_binary(path) as lines:
        for line in lines:
            yield line.decode().rstrip("\n")


def words_of(paths: Iterable[Path], config: SystemConfig) -> Counter[str]:
    """Of monolingual texts, prepared like the target side of the system; how often each."""
    options = config.pair_options().sides[TARGET]
    return Counter(word for path in paths for line in lines_of(path) for word in prepare_line(line, options))


def stem_finder(counts: Counter[str]) -> Stem:
    """What finds the stem of a word; a word without one is its own."""
    segmenter = train_segmenter(counts)

    @cache
    def stem(word: str) -> str:
        morphemes = segmenter.segment(word)
        last = max((k for k, morpheme in enumerate(morphemes) if morpheme.label == "STM"), default=-1)
        found = "".join(morpheme.form for morpheme in morphemes[: last + 1])
        return found if len(found) >= SHORTEST_STEM else word

    return stem


def is_name_or_number(token: str, cased: str, position: int) -> bool:
    return any(letter.isdigit() for letter in token) or (position > 0 and cased[:1].isupper())


class Headroom:
    """Counts what references have that the rules do not."""

    def __init__(self, system: TranslationSystem, monolingual: Counter[str]) -> None:
        self.system, self.config = system, system.config
        parallel = system.extractor.bitext.target_words[FIRST_WORD:]
        self.stem = stem_finder(Counter(parallel) + monolingual)
        self.parallel, self.monolingual = frozenset(parallel), frozenset(monolingual)
        self.parallel_stems, self.monolingual_stems = (
            frozenset(map(self.stem, words)) for words in (self.parallel, self.monolingual)
        )
        self.counts: Counter[str] = Counter()

    def add(self, source: str, reference: str) -> None:
        """One sentence."""
        tokens = self.config.prepare(source)
        reached = {*self.system.rules(tokens).target_words, *tokens}
        stems = set(map(self.stem, reached))
        words = self.config.prepare(reference, TARGET)
        cased = self.config.cased_tokens(reference, words, TARGET) or words
        for position, (word, as_written) in enumerate(zip(words, cased, strict=True)):
            self.counts[self._kind(word, as_written, position, reached, stems)] += 1

    def _kind(self, word: str, cased: str, position: int, reached: set[str], stems: set[str]) -> str:
        stem = self.stem(word)
        holds = (
            word in reached,
            is_name_or_number(word, cased, position),
            stem in stems,
            word in self.parallel,
            stem in self.parallel_stems,
            word in self.monolingual,
            stem in self.monolingual_stems,
            True,
        )
        return KINDS[holds.index(True)]

    def with_right_forms(self, output: str, reference: str) -> tuple[str, int]:
        """A translation in which words have the form of the reference, where that has another one; and how many."""
        words, wanted = self.config.prepare(output, TARGET), self.config.prepare(reference, TARGET)
        missing = Counter(wanted) - Counter(words)
        spare = Counter(words) - Counter(wanted)
        forms: dict[str, list[str]] = {}
        for word in missing.elements():
            forms.setdefault(self.stem(word), []).append(word)
        changed, result = 0, []
        for word in words:
            right = forms.get(self.stem(word)) if spare[word] else None
            if right:
                spare[word] -= 1
                changed += 1
                result.append(right.pop(0))
            else:
                result.append(word)
        return self.config.text_of(result), changed


def report(headroom: Headroom, outputs: Sequence[str], references: Sequence[str]) -> Iterator[str]:
    total = sum(headroom.counts.values())
    yield f"{len(references):,} sentences, {total:,} tokens of the references | tokens | share"
    yield "---|---:|---:"
    for kind in KINDS:
        yield f"{kind} | {headroom.counts[kind]:,} | {headroom.counts[kind] / total:.2%}"
    changed = [headroom.with_right_forms(*pair) for pair in zip(outputs, references, strict=True)]
    texts = [headroom.config.text_of(headroom.config.prepare(output, TARGET)) for output in outputs]
    before, after = (evaluate(found, references) for found in (texts, [text for text, _ in changed]))
    yield f"\nendings changed by the oracle: {sum(number for _, number in changed):,}"
    yield f"BLEU {before.bleu:.2f} -> {after.bleu:.2f}, chrF {before.chrf:.2f} -> {after.chrf:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("system", "source", "reference", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--monolingual", nargs="*", type=Path, default=[])
    options = parser.parse_args()
    system = TranslationSystem.load(options.system)
    headroom = Headroom(system, words_of(options.monolingual, system.config))
    sources, references, outputs = (
        list(lines_of(path)) for path in (options.source, options.reference, options.output)
    )
    for source, reference in zip(sources, references, strict=True):
        headroom.add(source, reference)
    print("\n".join(report(headroom, outputs, references)))


if __name__ == "__main__":
    main()
