"""Sentences of the generated language with their translation, word by word.

A phrase grows on both sides at once: the generated side as a list of word numbers in its free order, the English-like
side as a list of tokens, each with the number of the word that it translates. The alignment falls out at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import NamedTuple

from morphlm.text.datasets.generated import morphology, paradigms
from morphlm.text.datasets.generated.config import SENTENCES, Draw, GeneratedConfig, pick, random_stream
from morphlm.text.datasets.generated.lexicon import Lexicon, weighted, zipf_weights
from morphlm.text.datasets.generated.morphology import Lexeme, Word, function_word
from morphlm.text.datasets.generated.paradigms import (
    ACCUSATIVE,
    ADJECTIVE,
    GENITIVE,
    NOMINATIVE,
    NOUN,
    VERB,
    Derivation,
)

UNALIGNED = -1
THIRD_PERSON = 2
SINGULAR, PLURAL = 0, 1

_WORD_WEIGHTS = {
    table: zipf_weights(len(table), 2)
    for table in (paradigms.PREPOSITIONS, paradigms.BASIC_ADVERBS, paradigms.CONJUNCTIONS, paradigms.SUBORDINATORS)
}
_DERIVATION_WEIGHTS = {
    part: list(accumulate(derivation.weight for derivation in table)) for part, table in paradigms.DERIVATIONS.items()
}


class GeneratedSentence(NamedTuple):
    """A sentence, its translation, and what is true about both."""

    words: tuple[Word, ...]  # forms with segmentation and tag
    gloss: tuple[str, ...]  # the tokens of the English-like side
    alignment: tuple[tuple[int, int], ...]  # (word, gloss token), from 0, sorted
    agreement: tuple[tuple[int, int], ...]  # (word, the noun or pronoun that it agrees with), from 0
    topic: int

    @property
    def tokens(self) -> tuple[str, ...]:
        """The forms of the words."""
        return tuple([word.form for word in self.words])


class Phrase(NamedTuple):
    """Both sides of a part of a sentence."""

    order: list[int]  # numbers of words, in the order of the generated language
    gloss: list[tuple[str, int]]  # tokens of the other side and the numbers of the words that they translate

    def add(self, other: Phrase) -> None:
        """Append a phrase on both sides."""
        self.order.extend(other.order)
        self.gloss.extend(other.gloss)


class Subject(NamedTuple):
    """What a verb agrees with."""

    phrase: Phrase
    head: int  # the number of the noun or pronoun, UNALIGNED if it was left out
    person: int
    number: int
    gender: int


def generate_sentences(config: GeneratedConfig, seed: int) -> Iterator[GeneratedSentence]:
    """The sentences of the language with this seed, as many as `config.sentences` says."""
    lexicon = Lexicon(config, seed)
    for first in range(0, config.sentences, config.block):
        speaker = Speaker(lexicon, random_stream(seed, SENTENCES, first // config.block))
        for _ in range(first, min(first + config.block, config.sentences)):
            yield speaker.sentence()


class Speaker:
    """Says one sentence after the other, from one random stream."""

    def __init__(self, lexicon: Lexicon, draw: Draw) -> None:
        """A speaker of a language."""
        self.lexicon, self.config, self.draw = lexicon, lexicon.config, draw
        self.topic = 0
        self.words: list[Word] = []
        self.agreement: list[tuple[int, int]] = []

    def sentence(self) -> GeneratedSentence:
        """The next sentence, about a topic of its own."""
        self.topic = self.lexicon.draw_topic(self.draw)
        self.words, self.agreement = [], []
        whole = self._clauses()
        place = [0] * len(self.words)
        for position, number in enumerate(whole.order):
            place[number] = position
        aligned = [(place[number], j) for j, (_, number) in enumerate(whole.gloss) if number != UNALIGNED]
        return GeneratedSentence(
            words=tuple([self.words[number] for number in whole.order]),
            gloss=tuple([token for token, _ in whole.gloss]),
            alignment=tuple(sorted(aligned)),
            agreement=tuple([(place[word], place[head]) for word, head in self.agreement]),
            topic=self.topic,
        )

    # Sentences and clauses

    def _clauses(self) -> Phrase:
        """One clause or two, and the mark at the end."""
        draw, mark = self.draw, self.draw()
        whole = self._function(*paradigms.QUESTION, "PART") if mark < 0.06 else Phrase([], [])
        whole.add(self._clause())
        second = draw()
        if second < 0.45:
            whole.add(self._function(",", ",", "PUNCT"))
            joining = paradigms.CONJUNCTIONS if second < 0.22 else paradigms.SUBORDINATORS
            whole.add(self._function(*joining[weighted(draw, _WORD_WEIGHTS[joining])], "CONJ"))
            whole.add(self._clause())
        end = "?" if mark < 0.06 else "!" if mark < 0.10 else "."
        whole.add(self._function(end, end, "PUNCT"))
        return whole

    def _clause(self) -> Phrase:
        """Subject, verb, objects and circumstances; the other side always puts the verb second."""
        draw = self.draw
        subject, opening = self._subject(), self._circumstance() if draw() < 0.25 else None
        verb, rest = self._copular(subject) if draw() < 0.12 else self._verbal(subject)
        order = draw()
        if order < 0.5:
            parts = (subject.phrase, verb, rest)
        elif order < 0.82:
            parts = (subject.phrase, rest, verb)
        else:
            parts = (rest, verb, subject.phrase)
        clause = Phrase([number for part in parts for number in part.order], [])
        clause.gloss.extend(subject.phrase.gloss + verb.gloss + rest.gloss)
        if opening is not None:
            clause.order[:0] = opening.order
            clause.gloss.extend(opening.gloss)
        return clause

    def _subject(self) -> Subject:
        chance = self.draw()
        if chance < 0.34:
            return self._pronoun_subject(left_out=chance < 0.14)
        first = self._noun_phrase(NOMINATIVE, depth=0)
        if chance < 0.94:
            return first
        first.phrase.add(self._function(*paradigms.CONJUNCTIONS[0], "CONJ"))
        first.phrase.add(self._noun_phrase(NOMINATIVE, depth=1).phrase)
        return first._replace(number=PLURAL)

    def _pronoun_subject(self, left_out: bool) -> Subject:
        """A pronoun; if it is left out, only the ending of the verb tells what the other side has to say."""
        person, number = pick(self.draw, 3), SINGULAR if self.draw() < 0.6 else PLURAL
        forms, gloss = paradigms.PRONOUNS[person, number]
        if left_out:
            return Subject(Phrase([], [(gloss, UNALIGNED)]), UNALIGNED, person, number, 0)
        phrase = self._function(forms[NOMINATIVE], gloss, f"PRON.{person + 1}.{paradigms.NUMBERS[number]}")
        return Subject(phrase, phrase.order[0], person, number, 0)

    def _copular(self, subject: Subject) -> tuple[Phrase, Phrase]:
        """The subject is said to be like an adjective."""
        tense = self._tense()
        form = paradigms.COPULA[tense][subject.number][subject.person]
        tag = f"AUX.{subject.person + 1}.{paradigms.NUMBERS[subject.number]}.{paradigms.TENSES[tense]}"
        verb = self._finite(function_word(form, tag), subject, tense, (paradigms.COPULA_GLOSS,), ())
        adjective = self._adjective()
        word = morphology.adjective_form(adjective, subject.gender, subject.number, NOMINATIVE)
        predicate = self._phrase(word, adjective.gloss)
        if subject.head != UNALIGNED:
            self.agreement.append((predicate.order[0], subject.head))
        return verb, predicate

    def _verbal(self, subject: Subject) -> tuple[Phrase, Phrase]:
        """A verb, perhaps after a modal verb, and what depends on it."""
        lexeme, modal = self._verb(), self.draw() < 0.08
        verb = self._modal(subject, lexeme) if modal else self._simple_verb(subject, lexeme)
        rest = Phrase([], [])
        government = lexeme.stems[0].government
        if government is not None:
            rest.add(self._object(government))
        while self.draw() < 0.42:
            rest.add(self._circumstance())
        return verb, rest

    def _simple_verb(self, subject: Subject, lexeme: Lexeme) -> Phrase:
        tense = self._tense()
        word = morphology.verb_form(lexeme, tense, subject.person, subject.number)
        before = (paradigms.NEGATION_GLOSS,) if paradigms.NEGATION in lexeme.prefixes else ()
        after = (lexeme.particle,) if lexeme.particle else ()
        return self._finite(word, subject, tense, lexeme.gloss + after, before)

    def _modal(self, subject: Subject, lexeme: Lexeme) -> Phrase:
        form, paradigm, gloss = paradigms.MODALS[pick(self.draw, len(paradigms.MODALS))]
        modal, tense = morphology.function_lexeme(form, "AUX", paradigm, gloss), self._tense()
        word = morphology.verb_form(modal, tense, subject.person, subject.number)
        phrase = self._finite(word, subject, tense, modal.gloss, ())
        before = (paradigms.NEGATION_GLOSS,) if paradigms.NEGATION in lexeme.prefixes else ()
        after = (lexeme.particle,) if lexeme.particle else ()
        phrase.add(self._phrase(morphology.infinitive(lexeme), before + lexeme.gloss + after))
        return phrase

    def _finite(
        self, word: Word, subject: Subject, tense: int, gloss: tuple[str, ...], before: tuple[str, ...]
    ) -> Phrase:
        """A finite verb: on the other side its tense and negation stand before it as words."""
        marker = paradigms.TENSE_GLOSSES[tense]
        phrase = self._phrase(word, ((marker,) if marker else ()) + before + gloss)
        number = phrase.order[0]
        if subject.head != UNALIGNED:
            self.agreement.append((number, subject.head))
        elif subject.phrase.gloss:
            # The pronoun that was left out is expressed by the verb.
            subject.phrase.gloss[0] = (subject.phrase.gloss[0][0], number)
        return phrase

    def _tense(self) -> int:
        chance = self.draw()
        return 0 if chance < 0.45 else 1 if chance < 0.85 else 2

    def _object(self, case: int) -> Phrase:
        if self.draw() < 0.20:
            person, number = pick(self.draw, 3), pick(self.draw, 2)
            forms, gloss = paradigms.PRONOUNS[person, number]
            phrase = self._function(forms[case], gloss, f"PRON.{person + 1}.{paradigms.NUMBERS[number]}")
            if marker := paradigms.CASE_GLOSSES[case]:
                phrase.gloss.insert(0, (marker, phrase.order[0]))
            return phrase
        return self._noun_phrase(case, depth=0).phrase

    def _circumstance(self) -> Phrase:
        """An adverb, or a preposition with its noun."""
        draw, chance = self.draw, self.draw()
        if chance < 0.22:
            table = paradigms.BASIC_ADVERBS
            return self._function(*table[weighted(draw, _WORD_WEIGHTS[table])], "ADV")
        if chance < 0.34:
            adverb = morphology.adverbial(self._adjective())
            return self._phrase(morphology.adverb_form(adverb), adverb.gloss)
        form, case, gloss = paradigms.PREPOSITIONS[weighted(draw, _WORD_WEIGHTS[paradigms.PREPOSITIONS])]
        phrase = self._function(form, gloss, f"ADP.{paradigms.CASES[case]}")
        phrase.add(self._noun_phrase(case, depth=0, after_preposition=True).phrase)
        return phrase

    # Noun phrases

    def _noun_phrase(self, case: int, depth: int, after_preposition: bool = False) -> Subject:
        """A noun with what belongs to it; on the other side the adjectives always come first."""
        draw, lexeme = self.draw, self._noun()
        number = PLURAL if draw() < 0.3 else SINGULAR
        phrase = self._phrase(morphology.noun_form(lexeme, number, case), lexeme.gloss)
        subject = Subject(phrase, phrase.order[0], THIRD_PERSON, number, lexeme.gender)
        chance = 0.30
        while draw() < chance:
            self._add_adjective(subject, case)
            chance = 0.12
        self._add_determiner(subject, case)
        marker = paradigms.CASE_GLOSSES[case]
        if marker and not after_preposition:
            phrase.gloss.insert(0, (marker, subject.head))
        if depth < 2 and draw() < 0.16:
            phrase.add(self._noun_phrase(GENITIVE, depth + 1).phrase)
        if depth == 0 and draw() < 0.05:
            phrase.add(self._relative_clause(subject))
        return subject

    def _add_adjective(self, subject: Subject, case: int) -> None:
        adjective, phrase = self._adjective(), subject.phrase
        if self.draw() < 0.15:
            adjective = morphology.compared(adjective, superlative=self.draw() < 0.3)
        word = morphology.adjective_form(adjective, subject.gender, subject.number, case)
        number = self._agreeing(word, subject.head)
        phrase.order.insert(0 if self.draw() < 0.8 else len(phrase.order), number)
        phrase.gloss[:0] = [(token, number) for token in adjective.gloss]

    def _add_determiner(self, subject: Subject, case: int) -> None:
        """A demonstrative, a numeral, or on the other side only an article."""
        phrase, chance = subject.phrase, self.draw()
        if chance < 0.05 and subject.number == PLURAL:
            form, gloss = paradigms.NUMERALS[pick(self.draw, len(paradigms.NUMERALS))]
            number = self._word(function_word(form, "NUM"))
            phrase.order.insert(0, number)
            phrase.gloss.insert(0, (gloss, number))
            return
        if subject.number == PLURAL:
            phrase.gloss.insert(0, (paradigms.PLURAL_GLOSS, subject.head))
        if chance > 0.84:
            form, gloss = paradigms.DEMONSTRATIVES[pick(self.draw, len(paradigms.DEMONSTRATIVES))]
            number = self._agreeing(self._pronominal(form, gloss, "DET", subject, case), subject.head)
            phrase.order.insert(0, number)
            phrase.gloss.insert(0, (gloss, number))
        elif subject.number == SINGULAR or chance < 0.5:
            phrase.gloss.insert(0, (paradigms.ARTICLES[chance < 0.5], UNALIGNED))

    def _relative_clause(self, subject: Subject) -> Phrase:
        """The noun does something: the relative pronoun and the verb agree with it."""
        phrase = self._function(",", ",", "PUNCT")
        form, gloss = paradigms.RELATIVE
        number = self._agreeing(self._pronominal(form, gloss, "REL", subject, NOMINATIVE), subject.head)
        phrase.add(Phrase([number], [(gloss, number)]))
        verb = self._verb()
        phrase.add(self._simple_verb(subject, verb))
        if verb.stems[0].government == ACCUSATIVE:
            phrase.add(self._noun_phrase(ACCUSATIVE, depth=1).phrase)
        phrase.add(self._function(",", ",", "PUNCT"))
        return phrase

    def _pronominal(self, form: str, gloss: str, part: str, subject: Subject, case: int) -> Word:
        lexeme = morphology.function_lexeme(form, part, 0, gloss)
        return morphology.adjective_form(lexeme, subject.gender, subject.number, case)

    # Words

    def _word(self, word: Word) -> int:
        self.words.append(word)
        return len(self.words) - 1

    def _agreeing(self, word: Word, head: int) -> int:
        number = self._word(word)
        self.agreement.append((number, head))
        return number

    def _phrase(self, word: Word, gloss: tuple[str, ...]) -> Phrase:
        number = self._word(word)
        return Phrase([number], [(token, number) for token in gloss])

    def _function(self, form: str, gloss: str, tag: str) -> Phrase:
        number = self._word(function_word(form, tag))
        return Phrase([number], [(gloss, number)])

    # Lexemes

    def _noun(self) -> Lexeme:
        lexicon, draw = self.lexicon, self.draw
        if draw() < self.config.compounds:
            modifier = lexicon.draw_near(draw, NOUN, self.topic)
            return morphology.compound(modifier, lexicon.draw_near(draw, NOUN, self.topic))
        return self._built(NOUN)

    def _adjective(self) -> Lexeme:
        lexeme = self._built(ADJECTIVE)
        return morphology.negated(lexeme) if self.draw() < self.config.negated else lexeme

    def _verb(self) -> Lexeme:
        lexeme, draw = self._built(VERB), self.draw
        stem = lexeme.stems[0]
        if draw() < self.config.aspect:
            lexeme = morphology.with_aspect(lexeme, stem.aspects[draw() < 0.35])
        return morphology.negated(lexeme) if draw() < self.config.negated else lexeme

    def _built(self, part: str) -> Lexeme:
        """A stem of this part of speech, or one that a derivation turns into it."""
        if self.draw() >= self.config.derived:
            return morphology.simple(self.lexicon.draw_near(self.draw, part, self.topic))
        derivation = draw_derivation(self.draw, part)
        stem = self.lexicon.draw_near(self.draw, derivation.source, self.topic)
        return morphology.derived(stem, part, derivation)


def draw_derivation(draw: Draw, part: str) -> Derivation:
    """A way to make a word of this part of speech."""
    return paradigms.DERIVATIONS[part][weighted(draw, _DERIVATION_WEIGHTS[part])]
