"""Hard-wrapped text: lines that were broken at a fixed width are joined to paragraphs again.

A line is full if the first word of the next one would not have fitted into the width. In wrapped prose, lines that stop
in the middle of a sentence are full and go on with a small letter; in poems, lists and text with a sentence or a
paragraph a line they are not. Text is judged in short stretches, as a file may be put together from several.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

STRETCH = 150  # lines that are judged together
FEWEST_PAIRS = 8  # of lines: less text than that is left alone
NARROWEST, WIDEST = 35, 140  # characters of a line at which text may be wrapped
OPEN_SHARE = 0.12  # of the lines that stop within a sentence and are full, at least
FULL_SHARE = 0.6  # of the lines that stop within a sentence that are full, at least
SMALL_SHARE = 0.4  # of the lines after such a one that begin with a small letter, at least
NEARLY_FULL = 0.87  # of the width: the first line of a paragraph may have lost its indent
HALF_FULL = 0.6
STICKING_OUT = (0.02, 0.2)  # shares of the lines that may be longer than the width
HYPHENATED_SHARE = 0.02  # of the full lines that end in a hyphen where words are hyphenated, at least

_FINAL = re.compile(r"[.!?…:;।؟۔。！？][\"”“»›’')\]]*$")
_BEGINNING = re.compile(r"(?:[-–—―]+|[*•‣◦+]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s")  # of dialogue, of an item of a list
_HYPHENATED = re.compile(r"(\w+)[-‐¬\xad]$")
_FIRST_WORD = re.compile(r"\w+")
_WORD = re.compile(r"\w+(?:[-‐]\w+)*")


def join_wrapped(lines: Sequence[str]) -> list[str]:
    """The paragraphs of some lines: those of hard-wrapped text joined, all others as they are; empty lines are dropped.

    Words that were hyphenated at a line end are put together where that is certain.
    """
    stripped = [line.rstrip() for line in lines]
    layouts = _layouts(stripped)
    if not any(layout.width for layout in layouts):
        return [line.strip() for line in stripped if line]
    return list(_Joiner(stripped, layouts).paragraphs())


def is_wrapped(lines: Sequence[str]) -> bool:
    """Whether most of the lines are hard-wrapped, so that they are no sentences."""
    layouts = _layouts([line.rstrip() for line in lines])
    return 2 * sum(bool(layout.width) for layout in layouts) > len(layouts)


# ---------------------------------------------------------------- recognising


@dataclass(frozen=True)
class _Layout:
    """How a stretch of lines is set."""

    width: int = 0  # 0: it is not wrapped
    margin: int = 0  # the spaces at the beginning of most lines


def _layouts(lines: list[str]) -> list[_Layout]:
    """The layout of the stretch that each line belongs to."""
    layouts = [_Layout()] * len(lines)
    for begin, end in _runs(lines):
        for first in range(begin, end, STRETCH):
            last = end if end - first < 2 * STRETCH else first + STRETCH
            layouts[first:last] = [_layout(lines[first:last])] * (last - first)
            if last == end:
                break
    return layouts


def _runs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Ranges of lines between those that are longer than any wrapped line."""
    begin = 0
    for number, line in enumerate(lines):
        if len(line) > WIDEST:
            yield begin, number
            begin = number + 1
    yield begin, len(lines)


def _layout(lines: list[str]) -> _Layout:
    lengths = sorted(len(line) for line in lines if line)
    pairs = [(line, following) for line, following in itertools.pairwise(lines) if line and following]
    if len(pairs) < FEWEST_PAIRS:
        return _Layout()
    for share in STICKING_OUT:
        width = lengths[-1 - int(share * len(lengths))]
        if _is_wrapped(pairs, width):
            margin = Counter(_indent(line) for line in lines if line).most_common(1)[0][0]
            return _Layout(width, margin)
    return _Layout()


def _is_wrapped(pairs: list[tuple[str, str]], width: int) -> bool:
    stopping = [pair for pair in pairs if not _FINAL.search(pair[0])]
    full = [pair for pair in stopping if _is_full(*pair, width) or len(pair[0]) >= NEARLY_FULL * width]
    small = sum(_begins_small(following) for _, following in full)
    return (
        width >= NARROWEST
        and len(full) >= max(OPEN_SHARE * len(pairs), FULL_SHARE * len(stopping))
        and small >= SMALL_SHARE * len(full)
    )


def _is_full(line: str, following: str, width: int) -> bool:
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) > width


def _begins_small(line: str) -> bool:
    """Whether the first letter is small, or of a script that has no capitals."""
    letter = next((character for character in line if character.isalnum()), "")
    return letter.isalpha() and (not letter.isupper()) and not letter.istitle()


# ---------------------------------------------------------------- joining


@dataclass(frozen=True)
class _Joiner:
    lines: list[str]
    layouts: list[_Layout]

    def paragraphs(self) -> Iterator[str]:
        """Join the lines of each paragraph."""
        words, hyphenates = self._words(), self._hyphenates()
        paragraph = ""
        for number, line in enumerate(self.lines):
            text = line.strip()
            if paragraph and text and self._goes_on(number - 1):
                paragraph = _put_together(paragraph, text, words, hyphenates)
                continue
            if paragraph:
                yield paragraph
            paragraph = text
        if paragraph:
            yield paragraph

    def _goes_on(self, number: int) -> bool:
        """Whether the paragraph of this line goes on in the next."""
        line, following, layout = self.lines[number], self.lines[number + 1], self.layouts[number]
        if not layout.width or not self.layouts[number + 1].width or _indent(following) > layout.margin + 1:
            return False
        is_final = _FINAL.search(line) is not None
        if is_final and _BEGINNING.match(following.lstrip()):
            return False
        if _is_full(line, following, layout.width):
            return True
        least = HALF_FULL if _begins_small(following) else NEARLY_FULL
        return not is_final and len(line) >= least * layout.width

    def _hyphenates(self) -> bool:
        """Whether this text hyphenates words at line ends, rather than breaking them at hyphens of their own."""
        wrapped = [line for line, layout in zip(self.lines, self.layouts, strict=True) if layout.width and line]
        return sum(_HYPHENATED.search(line) is not None for line in wrapped) >= HYPHENATED_SHARE * len(wrapped)

    def _words(self) -> Counter[str]:
        """How often words occur within lines; empty if no line ends in a hyphen."""
        if not any(_HYPHENATED.search(line) for line in self.lines):
            return Counter()
        return Counter(word.lower() for line in self.lines for word in _WORD.findall(line))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _put_together(paragraph: str, text: str, words: Counter[str], hyphenates: bool) -> str:
    hyphenated, rest = _HYPHENATED.search(paragraph), _FIRST_WORD.match(text)
    if hyphenated is None or rest is None or not _begins_small(text):
        return f"{paragraph} {text}"
    whole, compound = (f"{hyphenated[1]}{mark}{rest[0]}".lower() for mark in ("", "-"))
    is_soft = paragraph[-1] in "¬\xad"
    if is_soft or words[whole] > words[compound] or (hyphenates and not words[compound]):
        return paragraph[:-1] + text
    return paragraph + text
