"""Sentences of the generated language: clauses, their order on both sides, and the alignment that follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from morphlm_generated import morphology, paradigms
from morphlm_generated.choice import frequent_first
from morphlm_generated.config import SENTENCES, GeneratedConfig, pick, random_stream
from morphlm_generated.lexicon import lexicon_of
from morphlm_generated.morphology import Word, function_word
from morphlm_generated.paradigms import ADVERB, NOMINATIVE
from morphlm_generated.phrases import COMMA, PLURAL, SINGULAR, UNALIGNED, Nominal, Phrase, PhraseSpeaker

FULL_STOP, QUESTION_MARK, EXCLAMATION_MARK = ".", "?", "!"


class GeneratedSentence(NamedTuple):
    """A sentence, its translation, and what is true about both."""

    words: tuple[Word, ...]  # forms with segmentation and tag
    gloss: tuple[str, ...]  # the tokens of the English-like side
    sources: tuple[int, ...]  # for each gloss token the word that it translates, -1 if there is none
    heads: tuple[int, ...]  # for each word the noun or pronoun that it agrees with, -1 if there is none
    topic: int

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple([word.form for word in self.words])

    @property
    def alignment(self) -> tuple[tuple[int, int], ...]:
        """Pairs of word and gloss token, from 0, sorted."""
        pairs = [(source, j) for j, source in enumerate(self.sources) if source != UNALIGNED]
        return tuple(sorted(pairs))


def generate_sentences(config: GeneratedConfig, seed: int) -> Iterator[GeneratedSentence]:
    """The sentences of the language with this seed, as many as `config.sentences` says."""
    lexicon = lexicon_of(config, seed)
    for first in range(0, config.sentences, config.block):
        speaker = Speaker(lexicon, random_stream(seed, SENTENCES, first // config.block))
        for _ in range(first, min(first + config.block, config.sentences)):
            yield speaker.sentence()


class Speaker(PhraseSpeaker):
    """Says one sentence after the other, from one random stream."""

    def sentence(self) -> GeneratedSentence:
        """The next sentence, about a topic of its own."""
        self.topic = self.lexicon.draw_topic(self.draw)
        self.words, self.heads = [], []
        whole = self._whole()
        position_of = [UNALIGNED] * (len(whole.order) + 1)  # the last one is for UNALIGNED itself
        for position, number in enumerate(whole.order):
            position_of[number] = position
        gloss: list[str] = []
        sources: list[int] = []
        for tokens, number in whole.gloss:
            gloss += tokens
            sources += [position_of[number]] * len(tokens)
        words = tuple([self.words[number] for number in whole.order])
        heads = tuple([position_of[self.heads[number]] for number in whole.order])
        return GeneratedSentence(words, tuple(gloss), tuple(sources), heads, self.topic)

    def _whole(self) -> Phrase:
        """One clause or two, and the punctuation mark."""
        whole, chance, second = Phrase(), self.draw(), self.draw()
        if chance < 0.06:
            self._say_particle(whole, paradigms.QUESTION, "PART")
        self._say_clause(whole)
        if second < 0.45:
            self._say_mark(whole, COMMA)
            joining = paradigms.CONJUNCTIONS if second < 0.22 else paradigms.SUBORDINATORS
            self._say_particle(whole, frequent_first(self.draw, joining), "CONJ")
            self._say_clause(whole)
        self._say_mark(whole, QUESTION_MARK if chance < 0.06 else EXCLAMATION_MARK if chance < 0.10 else FULL_STOP)
        return whole

    def _say_clause(self, into: Phrase) -> None:
        """Subject, verb, objects and circumstances; the other side always puts the verb second."""
        opening, subject, verb, rest = Phrase(), Phrase(), Phrase(), Phrase()
        if self.draw() < 0.25:
            self._say_circumstance(opening)
        nominal = self._say_subject(subject)
        if self.draw() < 0.12:
            self._say_copula(verb, rest, nominal, subject)
        else:
            self._say_predicate(verb, rest, nominal, subject)
        order = self.draw()
        if order < 0.50:
            into.order += opening.order + subject.order + verb.order + rest.order
        elif order < 0.82:
            into.order += opening.order + subject.order + rest.order + verb.order
        else:
            into.order += opening.order + rest.order + verb.order + subject.order
        into.gloss += subject.gloss + verb.gloss + rest.gloss + opening.gloss

    def _say_subject(self, into: Phrase) -> Nominal:
        chance = self.draw()
        if chance < 0.34:
            return self._say_subject_pronoun(into, left_out=chance < 0.14)
        first = self._say_noun_phrase(into, NOMINATIVE)
        if chance < 0.94:
            return first
        self._say_particle(into, paradigms.CONJUNCTIONS[0], "CONJ")
        self._say_noun_phrase(into, NOMINATIVE, depth=1)
        return first._replace(number=PLURAL)

    def _say_subject_pronoun(self, into: Phrase, left_out: bool) -> Nominal:
        """A pronoun; if it is left out, only the ending of the verb tells what the other side has to say."""
        person, number = pick(self.draw, 3), SINGULAR if self.draw() < 0.6 else PLURAL
        if left_out:
            return Nominal(UNALIGNED, person, number, gender=0)
        return Nominal(self._say_pronoun(into, person, number, NOMINATIVE), person, number, gender=0)

    def _say_copula(self, verb: Phrase, rest: Phrase, nominal: Nominal, subject: Phrase) -> None:
        """The copula with an adjective."""
        tense = self._tense()
        form = paradigms.COPULA[tense][nominal.number][nominal.person]
        tag = f"AUX.{nominal.person + 1}.{paradigms.NUMBERS[nominal.number]}.{paradigms.TENSES[tense]}"
        gloss = (*paradigms.TENSE_GLOSSES[tense], paradigms.COPULA_GLOSS)
        self._say_finite(verb, function_word(form, tag), gloss, nominal, subject)
        adjective = self._adjective()
        word = morphology.adjective_form(adjective, nominal.gender, nominal.number, NOMINATIVE)
        self._say(rest, word, adjective.gloss, nominal.head)

    def _say_predicate(self, verb: Phrase, rest: Phrase, nominal: Nominal, subject: Phrase) -> None:
        """A verb, perhaps after a modal verb, and what depends on it."""
        lexeme = self._verb()
        if self.draw() < 0.08:
            self._say_modal(verb, nominal, subject)
            self._say(verb, morphology.infinitive(lexeme), lexeme.gloss)
        else:
            self._say_verb(verb, lexeme, nominal, subject)
        government = lexeme.stems[0].government
        if government is not None:
            self._say_object(rest, government)
        while self.draw() < 0.42:
            self._say_circumstance(rest)

    def _say_modal(self, into: Phrase, nominal: Nominal, subject: Phrase) -> None:
        form, paradigm, gloss = paradigms.MODALS[pick(self.draw, len(paradigms.MODALS))]
        self._say_verb(into, morphology.function_lexeme(form, "AUX", paradigm, gloss), nominal, subject)

    def _say_object(self, into: Phrase, case: int) -> None:
        if self.draw() < 0.20:
            self._say_pronoun(into, pick(self.draw, 3), pick(self.draw, 2), case)
        else:
            self._say_noun_phrase(into, case)

    def _say_circumstance(self, into: Phrase) -> None:
        """An adverb, or a preposition with its noun."""
        chance = self.draw()
        if chance < 0.22:
            self._say_particle(into, frequent_first(self.draw, paradigms.BASIC_ADVERBS), ADVERB)
        elif chance < 0.34:
            adverb = morphology.adverbial(self._adjective())
            self._say(into, morphology.adverb_form(adverb), adverb.gloss)
        else:
            form, gloss, case = frequent_first(self.draw, paradigms.PREPOSITIONS)
            self._say(into, function_word(form, f"ADP.{paradigms.CASES[case]}"), (gloss,))
            self._say_noun_phrase(into, case, after_preposition=True)
