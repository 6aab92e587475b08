"""What the translation server answers, without HTTP: plain values in, frozen dataclasses out. Nothing opens a file."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.display import dataclass_repr, described
from morphlm.errors import InputError
from morphlm.report.explorer.limits import Deadline, RequestLimits, check_count, check_text
from morphlm.tables import counted
from morphlm.translation.decoder.constrained import Constraint
from morphlm.translation.decoder.translation import KBestTranslation, Translation
from morphlm.translation.recasing.recaser import Recaser
from morphlm.translation.system.config import SOURCE, TARGET
from morphlm.translation.system.segments import Segment
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.truecasing import TextWriter

# A sentence of so many words takes a second or so; the search cannot be stopped within one.
LIMITS = RequestLimits(
    body_bytes=500_000, sentence_tokens=200, text_sentences=200, answers=100, seconds=60.0, patience=20.0
)


@dataclass(frozen=True)
class SystemView:
    """The system that translates."""

    source_language: str | None
    target_language: str | None
    models: list[str]
    weights: dict[str, float]
    most_sentences: int
    most_words: int  # of a sentence


@dataclass(frozen=True)
class CandidateView:
    """One of the best translations of a sentence."""

    text: str
    tokens: list[str]
    score: float
    features: dict[str, float]


@dataclass(frozen=True)
class TranslatedSentence:
    """The translation of a line."""

    source: list[str]  # tokens, as they were prepared
    reachable: bool  # whether there is a translation that is as it was asked for
    text: str | None
    tokens: list[str]
    score: float | None
    links: list[tuple[int, int]]  # positions in `source` and `tokens` that belong together
    kbest: list[CandidateView]


@dataclass(frozen=True)
class TranslationView:
    """The translation of a text, line by line."""

    text: str  # all lines; one without a translation is empty
    sentences: list[TranslatedSentence]


@dataclass(frozen=True)
class TranslationQuery:
    """What is asked: a text, a sentence a line; for a single line, also what its translation is to be like."""

    text: str
    kbest: int = 0
    prefix: str | None = None
    incomplete: bool = False
    target: str | None = None

    __repr__ = dataclass_repr


class Translator:
    """A system, and what can be asked of it; all operations may be called from several threads."""

    def __init__(
        self, system: TranslationSystem, limits: RequestLimits = LIMITS, recaser: Recaser | None = None
    ) -> None:
        """With a `recaser`, texts have capital letters."""
        self.system, self.limits = system, limits
        self._writer = TextWriter(system.config, recaser)

    def __repr__(self) -> str:
        return described(self, system=self.system)

    def warm(self) -> None:
        """Translate something, so that the first request need not wait for compilation."""
        self.translate(TranslationQuery("a", kbest=1))
        self.translate(TranslationQuery("a", prefix="a"))

    def view_system(self) -> SystemView:
        """What translates, and how much it takes at once."""
        source, target = self.system.config.languages
        return SystemView(
            source,
            target,
            list(self.system.decoder.models.names),
            self.system.weights,
            self.limits.text_sentences,
            self.limits.sentence_tokens,
        )

    def translate(self, query: TranslationQuery, deadline: Deadline | None = None) -> TranslationView:
        """Translate a text."""
        deadline = deadline or Deadline.after(self.limits.seconds)
        check_count(query.kbest, self.limits)
        lines = self._lines(query.text)
        constraint = self._constraint(query, len(lines))
        sentences = []
        for number, line in enumerate(lines, 1):
            deadline.check()
            tokens = self._tokens(line, f"line {number}", SOURCE)
            cased = None if self._writer.recaser is None else self.system.config.cased_tokens(line, tokens)
            sentences.append(self._translated(Segment(tokens, constraint=constraint, cased=cased), query.kbest))
        return TranslationView("\n".join(sentence.text or "" for sentence in sentences), sentences)

    # ------------------------------------------------------------ checks

    def _lines(self, text: str) -> list[str]:
        check_text(text, self.limits.body_bytes, "a text")
        lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        if len(lines) > self.limits.text_sentences:
            raise InputError(f"{counted(len(lines), 'line')}; send at most {self.limits.text_sentences:,} at once")
        return lines

    def _constraint(self, query: TranslationQuery, lines: int) -> Constraint | None:
        if query.prefix is not None and query.target is not None:
            raise InputError("a prefix and a target are two constraints; send one of them")
        if query.incomplete and query.prefix is None:
            raise InputError("incomplete is about a prefix; send one, or leave it out")
        text = query.target if query.prefix is None else query.prefix
        if text is None:
            return None
        if lines != 1:
            raise InputError(f"a prefix or a target is for one line, and the text has {lines:,}; send one line")
        name = "the target" if query.prefix is None else "the prefix"
        check_text(text, self.limits.line_characters, name)
        words = self._tokens(text.replace("\n", " "), name, TARGET)
        return Constraint(words, query.prefix is None, query.incomplete and bool(words))

    def _tokens(self, line: str, name: str, side: int) -> tuple[str, ...]:
        check_text(line, self.limits.line_characters, name)
        tokens = self.system.config.prepare(line.replace("\r", " "), side)
        if len(tokens) > self.limits.sentence_tokens:
            most = f"{self.limits.sentence_tokens:,}"
            raise InputError(f"{name} has {len(tokens):,} words; send at most {most} on a line")
        return tuple(tokens)

    # ------------------------------------------------------------ answers

    def _translated(self, segment: Segment, kbest: int) -> TranslatedSentence:
        [found] = self.system.map_segments(
            lambda _, translation: self._view(segment, translation, kbest), [segment], threads=1
        )
        return found

    def _view(self, segment: Segment, translation: Translation | None, kbest: int) -> TranslatedSentence:
        if translation is None:
            return TranslatedSentence(list(segment.tokens), False, None, [], None, [], [])
        return TranslatedSentence(
            source=list(segment.tokens),
            reachable=True,
            text=self._writer.text_of(segment, translation.best),
            tokens=list(translation.tokens),
            score=translation.score,
            links=list(translation.links),
            kbest=[self._candidate(segment, one) for one in (translation.kbest(kbest) if kbest else [])],
        )

    def _candidate(self, segment: Segment, candidate: KBestTranslation) -> CandidateView:
        text = self._writer.text_of(segment, candidate)
        return CandidateView(text, list(candidate.tokens), candidate.score, candidate.features)
