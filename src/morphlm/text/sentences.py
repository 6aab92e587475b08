"""Paragraphs of raw text become sentences, and sentences that are too long become shorter ones.

sentencex finds the candidates: it knows the abbreviations of many languages and the full stops of all scripts. What it
does with quotation marks, brackets, ordinals and lists is mended here. Only white space is ever lost or added.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from morphlm.errors import ConfigError
from morphlm.text.wrapping import join_wrapped

__all__ = ["join_wrapped", "split_long", "split_sentences"]

# sentencex keeps quotations and brackets whole, also where a mark is missing or stands for inches, and its time grows
# with the square of the marks that are open. It is better off without seeing any.
_MASKED = re.compile("[\"“”„‟«»‹›`´「」『』〈〉《》()\\[\\]{}\0'‘’‚]+")
_OTHER_SPACE = re.compile(r"[^\S ]")
_BEFORE_NUMBER = re.compile(r"[.](?= \d)")
_CLOSING = re.compile(r"[\"”“»›’'`´)\]}]+(?=\s|$)|[」』》〉）]+")
_SPACED_MARK = re.compile(r"\s+([\"”“»›])(?=\s|$)")
_EMOTICON = re.compile(r"\s*(?:[:;=8][-o^']?[()\[\]DPp3/\\|*]+|<3|\^\^|[\U0001f300-\U0001faff☀-➿️‍]+)(?=\s|$)")
_TO_NEXT_WORD = re.compile(r"[\W_]{0,50}")
_QUOTES = re.compile(r"[\"“”„‟«»‹›]")
_IN_BRACKETS, _BRACKET_END = re.compile(r"[(\[][^()\[\]]{0,80}$"), re.compile(r"[^()\[\]]{0,80}[)\]]")
_INITIAL = re.compile(r"(?:^|[\s(\[-])(\w)\.$")
_NUMERAL = re.compile(r"(?:^|\s)(?:\d{1,2}|[IVX]{2,}|[VX])\.$")
_WINDOW = 1 << 12  # characters that sentencex sees at a time
_WORD = 5  # letters that are no abbreviation before a number
_LABEL = 30  # characters without letters that are no sentence: the number of what follows
_LOWERCASED = 200  # characters without a capital that are more than one sentence
_SPACELESS_STOP = "。．！？｡」』》〉）"

# Languages that write ordinal numbers with a full stop: in `3. října` and `II. světová` it ends no sentence.
_ORDINAL_STOP = re.compile(r"bs|cs|da|de|dsb|et|eu|fi|fo|hr|hsb|hu|is|lb|lv|nb|nds|nn|no|pl|sk|sl|sr|tr")


def split_sentences(text: str, language: str | None) -> list[str]:
    """The sentences of one paragraph of raw text in a language (ISO 639 code; None: unknown).

    Put together they are the paragraph but for white space.
    """
    paragraph = _Paragraph(text, _ORDINAL_STOP.fullmatch(language or "") is not None)
    sentences, begin = [], 0
    for candidate in _candidates(text, language):
        end = paragraph.moved(candidate)
        if end > begin and paragraph.is_end(begin, end):
            sentences.append(text[begin:end].strip())
            begin = end
    sentences.append(text[begin:].strip())
    return [sentence for sentence in sentences if sentence]


def _candidates(text: str, language: str | None) -> list[int]:
    """Where sentences end according to sentencex: the offset after the last character of each but the last."""
    masked = _MASKED.sub(_mask, _OTHER_SPACE.sub(" ", text)).replace("…", "?")  # of the same length
    stops = (stop.start() for stop in _BEFORE_NUMBER.finditer(masked))
    ends = {stop + 1 for stop in stops if stop >= _WORD and masked[stop - _WORD : stop].isalpha()}
    for begin, piece in _segments(masked, language or "en"):
        if piece.strip():
            ends.add(begin + len(piece.rstrip()))
    return sorted(ends)


def _mask(marks: re.Match[str]) -> str:
    """What sentencex sees instead of quotation marks and brackets; an apostrophe in a word stays."""
    text, (begin, end) = marks.string, marks.span()
    before, after = text[begin - 1 : begin] or " ", text[end : end + 1]
    if marks[0] in "'’" and before.isalnum() and after.isalnum():
        return marks[0]
    return ("x" if after and after in ".!?…" and not before.isspace() else " ") * (end - begin)


def _segments(masked: str, language: str) -> Iterator[tuple[int, str]]:
    """What sentencex takes for sentences, but the last, and where they begin.

    It sees a part of a long text at a time, since without spaces its time grows with the square of the length. The last
    sentence of a part may go on, so the next part begins with it.
    """
    begin = 0
    while begin < len(masked):
        *pieces, last = _segmenter()(language, masked[begin : begin + _WINDOW])
        for piece in pieces:
            yield begin, piece
            begin += len(piece)
        if not pieces or begin + len(last) == len(masked):
            begin += len(last) or 1


@functools.cache
def _segmenter() -> Callable[[str, str], Any]:
    from sentencex import segment  # noqa: PLC0415  # only those who split sentences need it

    return segment  # type: ignore[no-any-return]


@dataclass
class _Paragraph:
    """Mends the candidates of a paragraph, one after the other."""

    text: str
    has_ordinals: bool
    _quotes: Counter[str] = field(default_factory=Counter)  # those before `_counted`
    _counted: int = 0

    def moved(self, end: int) -> int:
        """The end moved behind what closes the sentence: quotation marks, brackets, a smile."""
        if (spaced := _SPACED_MARK.match(self.text, end)) and self._is_closing(spaced[1], end):
            end = spaced.end()
        for pattern in (_CLOSING, _EMOTICON):
            if found := pattern.match(self.text, end):
                end = found.end()
        return end

    @functools.cached_property
    def _is_lowercased(self) -> bool:
        """Whether this is text of several sentences without any capital."""
        return len(self.text) >= _LOWERCASED and self.text == self.text.lower()

    def _is_closing(self, mark: str, end: int) -> bool:
        """Whether a quotation mark that stands alone closes a quotation, by those before it."""
        self._quotes.update(_QUOTES.findall(self.text, self._counted, end))
        self._counted = max(self._counted, end)
        count = self._quotes
        if mark == '"' or (mark == "”" and not count["“"] and not count["„"]):  # some languages have one for both
            return count[mark] % 2 == 1
        return mark == "”" or count[{"“": "„", "»": "«", "›": "‹"}[mark]] > count[mark]

    def is_end(self, begin: int, end: int) -> bool:
        """Whether a sentence that begins and ends like this is one."""
        text = self.text
        if not text[end : end + 1].isspace() and text[end - 1] not in _SPACELESS_STOP:
            return end == len(text)
        return not (
            self._goes_on_small(end)
            or (_IN_BRACKETS.search(text, max(begin, end - 82), end) and _BRACKET_END.match(text, end))
            or ((initial := _INITIAL.search(text, max(begin, end - 3), end)) and initial[1].isupper())
            or (self.has_ordinals and _NUMERAL.search(text, max(begin, end - 10), end))
            or (end - begin < _LABEL and not any(letter.isalpha() for letter in text[begin:end]))
        )

    def _goes_on_small(self, end: int) -> bool:
        if self._is_lowercased:
            return False
        following = _TO_NEXT_WORD.match(self.text, end)
        letter = self.text[following.end() : following.end() + 1] if following else ""
        return letter.islower() and letter.title() != letter  # Georgian has small letters only


# ---------------------------------------------------------------- sentences that are too long

_FINAL_TOKENS = frozenset([".", "!", "?", "…", "...", "?!", "!?", "।", "॥", "؟", "۔", "。", "！", "？", "։", "።"])
_STRONG_TOKENS = frozenset([";", ":", "·", "؛", "；", "："])
_WEAK_TOKENS = frozenset([",", "،", "、", "，", "-", "–", "—", "--", "―"])
_OPENING_TOKENS = frozenset(["(", "[", "{", "„", "«", "‹", "¿", "¡"])
_CLOSING_TOKENS = frozenset(["”", "»", "›", "’", "''", ")", "]", "}"])
_MARKS = _FINAL_TOKENS | _STRONG_TOKENS | _WEAK_TOKENS | _CLOSING_TOKENS
_WORST = 4


def split_long(tokens: list[str], most: int) -> list[list[str]]:
    """The tokens of a sentence in pieces of at most `most`, cut at the best places; one piece if it fits."""
    if most < 1:
        raise ConfigError(f"pieces of at most {most} tokens cannot be made; use 1 or more")
    pieces, todo = [], [tokens]
    while todo:
        piece = todo.pop()
        if len(piece) <= most:
            pieces.append(piece)
        else:
            cut = _best_cut(piece)
            todo += [piece[cut:], piece[:cut]]
    return pieces


def _best_cut(tokens: list[str]) -> int:
    """The best place in the middle half of the tokens; among equals the one nearest to the middle."""
    middle, reach = len(tokens) / 2, len(tokens) / 4
    places = range(max(1, int(middle - reach)), min(len(tokens) - 1, int(middle + reach)) + 1)
    return min(places, key=lambda place: (_cut_rank(tokens, place), abs(place - middle), place))


def _cut_rank(tokens: list[str], place: int) -> int:
    """How good it is to cut before the token at a place: 0 at the end of a sentence, to 4 before a mark."""
    before, after = tokens[place - 1], tokens[place]
    if after in _MARKS or before in _OPENING_TOKENS:
        return _WORST
    if before in _CLOSING_TOKENS or before in ('"', "“"):
        return 0 if place > 1 and tokens[place - 2] in _FINAL_TOKENS else 2
    for rank, marks in enumerate((_FINAL_TOKENS, _STRONG_TOKENS, _WEAK_TOKENS)):
        if before in marks:
            return rank
    return 2 if after in _OPENING_TOKENS else 3
