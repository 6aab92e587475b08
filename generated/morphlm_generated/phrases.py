"""Noun phrases and verbs of the generated language, with their translation.

A phrase grows on both sides at once: the generated side as a list of word numbers in its free order, the English-like
side as a list of tokens with the number of the word that they translate.
"""

from __future__ import annotations

from typing import NamedTuple

from morphlm_generated import morphology, paradigms
from morphlm_generated.choice import Chooser
from morphlm_generated.config import Draw, pick
from morphlm_generated.lexicon import StemLexicon
from morphlm_generated.morphology import Lexeme, Word, function_word
from morphlm_generated.paradigms import ACCUSATIVE, DECLENSIONS, GENITIVE, NOMINATIVE, PLURAL_GLOSS

UNALIGNED = -1
THIRD_PERSON = 2
SINGULAR, PLURAL = 0, 1
COMMA = ","


class Phrase:
    """A part of a sentence on both sides."""

    __slots__ = ("gloss", "order")

    def __init__(self) -> None:
        self.order: list[int] = []  # numbers of words, in the order of the generated language
        self.gloss: list[tuple[tuple[str, ...], int]] = []  # tokens of the other side, and the word they translate


class Nominal(NamedTuple):
    """What adjectives and verbs agree with."""

    head: int  # the number of the noun or pronoun, UNALIGNED if it was left out
    person: int
    number: int
    gender: int


class PhraseSpeaker(Chooser):
    """Says phrases: each method adds what it says to the phrase that it is given."""

    def __init__(self, lexicon: StemLexicon, draw: Draw) -> None:
        super().__init__(lexicon, draw)
        self.words: list[Word] = []  # of the sentence, in the order in which they came to mind
        self.heads: list[int] = []  # for each of them the number of the word that it agrees with

    # Words

    def _new(self, word: Word, head: int = UNALIGNED) -> int:
        """The number of a new word, which agrees with `head`."""
        self.words.append(word)
        self.heads.append(head)
        return len(self.heads) - 1

    def _say(self, into: Phrase, word: Word, gloss: tuple[str, ...], head: int = UNALIGNED) -> int:
        number = len(self.words)
        self.words.append(word)
        self.heads.append(head)
        into.order.append(number)
        into.gloss.append((gloss, number))
        return number

    def _say_particle(self, into: Phrase, particle: tuple[str, str], tag: str) -> None:
        form, gloss = particle
        self._say(into, function_word(form, tag), (gloss,))

    def _say_mark(self, into: Phrase, mark: str) -> None:
        self._say(into, function_word(mark, "PUNCT"), (mark,))

    def _say_pronoun(self, into: Phrase, person: int, number: int, case: int) -> int:
        forms, gloss = paradigms.PRONOUNS[person, number]
        word = function_word(forms[case], f"PRON.{person + 1}.{paradigms.NUMBERS[number]}.{paradigms.CASES[case]}")
        return self._say(into, word, (*paradigms.CASE_GLOSSES[case], gloss))

    def _say_pronominal(self, into: Phrase, form: str, gloss: str, part: str, nominal: Nominal, case: int) -> None:
        lexeme = morphology.function_lexeme(form, part, 0, gloss)
        word = morphology.adjective_form(lexeme, nominal.gender, nominal.number, case)
        self._say(into, word, lexeme.gloss, nominal.head)

    # Nouns

    def _say_noun_phrase(self, into: Phrase, case: int, depth: int = 0, after_preposition: bool = False) -> Nominal:
        """A noun with its determiner, adjectives, genitive and relative clause."""
        draw, lexeme = self.draw, self._noun()
        number = PLURAL if draw() < 0.3 else SINGULAR
        head = self._new(morphology.noun_form(lexeme, number, case))
        nominal = Nominal(head, THIRD_PERSON, number, DECLENSIONS[lexeme.paradigm].gender)
        if not after_preposition and case > ACCUSATIVE:
            into.gloss.append((paradigms.CASE_GLOSSES[case], head))
        self._say_determiner(into, nominal, case)
        following = self._say_adjectives(into, nominal, case)
        into.order.append(head)
        into.order += following
        into.gloss.append((lexeme.gloss, head))
        if depth < 2 and draw() < 0.16:
            self._say_noun_phrase(into, GENITIVE, depth + 1)
        if depth == 0 and draw() < 0.05:
            self._say_relative_clause(into, nominal)
        return nominal

    def _say_determiner(self, into: Phrase, nominal: Nominal, case: int) -> None:
        """A demonstrative, a numeral, or on the other side only an article."""
        chance, plural = self.draw(), nominal.number == PLURAL
        if chance > 0.84:
            form, gloss = paradigms.DEMONSTRATIVES[pick(self.draw, len(paradigms.DEMONSTRATIVES))]
            self._say_pronominal(into, form, gloss, "DET", nominal, case)
        elif plural and chance < 0.08:
            self._say_particle(into, paradigms.NUMERALS[pick(self.draw, len(paradigms.NUMERALS))], "NUM")
            return
        elif not plural or chance < 0.5:
            into.gloss.append((paradigms.ARTICLES[chance < 0.5], UNALIGNED))
        if plural:
            into.gloss.append((PLURAL_GLOSS, nominal.head))

    def _say_adjectives(self, into: Phrase, nominal: Nominal, case: int) -> list[int]:
        """Adjectives before the noun; those that are to follow it are returned. The other side has all before it."""
        draw, chance = self.draw, 0.30
        following: list[int] = []
        while draw() < chance:
            adjective = self._adjective()
            if draw() < 0.12:
                adjective = morphology.compared(adjective, draw() < 0.3)
            word = morphology.adjective_form(adjective, nominal.gender, nominal.number, case)
            number = self._new(word, nominal.head)
            (into.order if draw() < 0.8 else following).append(number)
            into.gloss.append((adjective.gloss, number))
            chance = 0.12
        return following

    def _say_relative_clause(self, into: Phrase, nominal: Nominal) -> None:
        """The noun does something: the relative pronoun and the verb agree with it."""
        self._say_mark(into, COMMA)
        self._say_pronominal(into, *paradigms.RELATIVE, "REL", nominal, NOMINATIVE)
        verb = self._verb()
        self._say_verb(into, verb, nominal, into)
        if verb.stems[0].government == ACCUSATIVE:
            self._say_noun_phrase(into, ACCUSATIVE, depth=1)

    # Verbs

    def _say_verb(self, into: Phrase, lexeme: Lexeme, nominal: Nominal, subject: Phrase) -> None:
        tense = self._tense()
        word = morphology.verb_form(lexeme, tense, nominal.person, nominal.number)
        self._say_finite(into, word, paradigms.TENSE_GLOSSES[tense] + lexeme.gloss, nominal, subject)

    def _say_finite(self, into: Phrase, word: Word, gloss: tuple[str, ...], nominal: Nominal, subject: Phrase) -> None:
        """A finite verb; it also expresses a pronoun that was left out."""
        verb = self._say(into, word, gloss, nominal.head)
        if nominal.head == UNALIGNED:
            subject.gloss.append(((paradigms.PRONOUNS[nominal.person, nominal.number][1],), verb))

    def _tense(self) -> int:
        chance = self.draw()
        return 0 if chance < 0.45 else 1 if chance < 0.85 else 2
