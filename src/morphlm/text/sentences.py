"""Paragraphs of raw text become sentences, and sentences that are too long become shorter ones.

sentencex finds the candidates: it knows the abbreviations of many languages and the full stops of all scripts. What it
does with quotation marks, ordinals and lists is mended here. Nothing is ever lost or added but white space.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from morphlm.errors import ConfigError
from morphlm.text.wrapping import join_wrapped

__all__ = ["join_wrapped", "split_long", "split_sentences"]

# sentencex keeps quotations and brackets whole, also where a mark is missing or stands for inches, and its time grows
# with the square of the marks that are open. It is better off without seeing any.
_MASKED = str.maketrans(dict.fromkeys('"“”„‟«»‹›`´「」『』〈〉《》()[]{}\0', " "))
_SPACE = re.compile(r"\s")
_CLOSING = re.compile(r"[\"”“»›’'`´」』》〉)\]}]+(?=\s|$)")
_TO_NEXT_WORD = re.compile(r"[\W_]*")
_EMOTICON = re.compile(r"\s*(?:[:;=8][-o^']?[()\[\]DPp3/\\|*]+|<3|\^\^|[\U0001f300-\U0001faff☀-➿️‍]+)(?=\s|$)")
_NUMERAL = re.compile(r"(?:^|\s)(?:\d{1,2}|[IVX]{2,}|[VX])\.$")
_SPACELESS_FINAL = "。．！？｡"

# Languages that write ordinal numbers with a full stop: in `3. října` and `II. světová` it ends no sentence.
_ORDINAL_STOP = re.compile(r"bs|cs|da|de|dsb|et|eu|fi|fo|hr|hsb|hu|is|lb|lv|nb|nds|nn|no|pl|sk|sl|sr|tr")


def split_sentences(text: str, language: str | None) -> list[str]:
    """The sentences of one paragraph of raw text in a language (ISO 639 code; None: unknown).

    Put together they are the paragraph but for white space.
    """
    masked = _SPACE.sub(" ", text).translate(_MASKED)
    has_ordinals = _ORDINAL_STOP.fullmatch(language or "") is not None
    sentences, begin = [], 0
    for candidate in _candidates(masked, language):
        end = _moved(text, candidate)
        if end > begin and _is_end(text, begin, end, has_ordinals):
            sentences.append(text[begin:end].strip())
            begin = end
    sentences.append(text[begin:].strip())
    return [sentence for sentence in sentences if sentence]


@functools.cache
def _segmenter() -> Callable[[str, str], Any]:
    from sentencex import segment  # noqa: PLC0415  # only those who split sentences need it

    return segment  # type: ignore[no-any-return]


def _candidates(masked: str, language: str | None) -> Iterator[int]:
    """Where sentences end according to sentencex: the offset after the last character of each but the last."""
    position = 0
    for piece in _segmenter()(language or "en", masked):
        position += len(piece)
        if piece.strip() and position < len(masked):
            yield position - (len(piece) - len(piece.rstrip()))


def _moved(text: str, end: int) -> int:
    """The end moved behind what closes the sentence: quotation marks, brackets, a smile."""
    for pattern in (_CLOSING, _EMOTICON):
        if found := pattern.match(text, end):
            end = found.end()
    return end


def _is_end(text: str, begin: int, end: int, has_ordinals: bool) -> bool:
    """Whether a candidate is kept: not inside of a word, before a small letter, after an ordinal or a bare number."""
    if not text[end : end + 1].isspace() and text[end - 1] not in _SPACELESS_FINAL:
        return end == len(text)
    following = _TO_NEXT_WORD.match(text, end)
    character = text[following.end() : following.end() + 1] if following else ""
    if character.islower() and character.title() != character:  # Georgian has small letters only
        return False
    if not any(letter.isalpha() for letter in text[begin:end]):
        return False  # the number of a list or paragraph belongs to what follows
    return not (has_ordinals and _NUMERAL.search(text, max(begin, end - 10), end))


# ---------------------------------------------------------------- sentences that are too long

_FINAL_TOKENS = frozenset([".", "!", "?", "…", "...", "?!", "!?", "।", "॥", "؟", "۔", "。", "！", "？", "։", "።"])
_STRONG_TOKENS = frozenset([";", ":", "·", "؛", "；", "："])
_WEAK_TOKENS = frozenset([",", "،", "、", "，", "-", "–", "—", "--", "―"])
_OPENING_TOKENS = frozenset(["(", "[", "{", "„", "«", "‹", "¿", "¡"])
_CLOSING_TOKENS = frozenset(["”", "»", "›", "’", "''", ")", "]", "}"])
_NO_CUT = 5


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
    """How good it is to cut before the token at a place, 0 for the best."""
    before, after = tokens[place - 1], tokens[place]
    if after in _FINAL_TOKENS or after in _STRONG_TOKENS or after in _WEAK_TOKENS or after in _CLOSING_TOKENS:
        return _NO_CUT
    if before in _CLOSING_TOKENS or before == '"':
        return 0 if place > 1 and tokens[place - 2] in _FINAL_TOKENS else 2
    for rank, marks in enumerate((_FINAL_TOKENS, _STRONG_TOKENS, _WEAK_TOKENS)):
        if before in marks:
            return rank
    return 2 if after in _OPENING_TOKENS else _NO_CUT if before in _OPENING_TOKENS else 3
