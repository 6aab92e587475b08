"""Words of the generated language: stems with derivations become lexemes, lexemes with endings become words.

A word carries its gold segmentation; its morphs, joined, are its form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from morphlm_generated.lexicon import Stem
from morphlm_generated.paradigms import (
    ADJECTIVE_ENDINGS,
    ADVERB,
    ADVERBIAL,
    ASPECTS,
    CASES,
    COMPARATIVE,
    DECLENSIONS,
    GENDERS,
    INFINITIVES,
    LINKS,
    MORE_GLOSS,
    MOST_GLOSS,
    NEGATION,
    NEGATION_GLOSS,
    NOUN,
    NUMBERS,
    PERSON_ENDINGS,
    SUPERLATIVE,
    TENSE_SUFFIXES,
    TENSES,
    WAY_GLOSS,
    SuffixDerivation,
)
from morphlm_generated.sounds import attach, is_front

PREFIX, STEM, SUFFIX = "PRE", "STM", "SUF"
# Both caches are larger than the frequent vocabulary and bound the memory that rare words take.
LEXEMES_KEPT, WORDS_KEPT = 1 << 15, 1 << 16


class Word(NamedTuple):
    """An inflected word form, with its segmentation and tag."""

    form: str
    analysis: str  # its segmentation: 'ne/PRE pal/STM om/SUF'
    tag: str  # part of speech and features: 'NOUN.m.sg.ins'

    @property
    def morphs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of morph and label."""
        pairs = (morph.rpartition("/") for morph in self.analysis.split(" "))
        return tuple((morph, label) for morph, _, label in pairs)


@dataclass(frozen=True, eq=False, slots=True)
class Lexeme:
    """A word without its ending. Compared by identity, which makes it a quick key."""

    part: str
    stems: tuple[Stem, ...]  # what it means; empty for a function word
    forms: tuple[str, ...]  # the forms of its stems; a compound has two
    paradigm: int  # declension or conjugation
    gloss: tuple[str, ...]
    link: str = ""  # between the stems of a compound
    suffixes: tuple[str, ...] = ()  # derivational
    prefixes: tuple[str, ...] = ()


@lru_cache(maxsize=LEXEMES_KEPT)
def simple(stem: Stem) -> Lexeme:
    """The lexeme that is a stem alone."""
    return Lexeme(stem.part, (stem,), (stem.form,), stem.paradigm, (stem.gloss,))


@lru_cache(maxsize=LEXEMES_KEPT)
def derived(stem: Stem, part: str, derivation: SuffixDerivation) -> Lexeme:
    """The lexeme of part of speech `part` that a derivation makes from a stem."""
    paradigm = derivation.paradigm
    if paradigm is None:
        paradigm = 2 * DECLENSIONS[stem.paradigm].gender
    gloss = (*derivation.gloss_before, stem.gloss, *derivation.gloss_after)
    return Lexeme(part, (stem,), (stem.form,), paradigm, gloss, suffixes=derivation.suffixes)


@lru_cache(maxsize=LEXEMES_KEPT)
def compound(modifier: Stem, head: Stem) -> Lexeme:
    """A noun of two noun stems; the second one declines."""
    link = LINKS[DECLENSIONS[modifier.paradigm].gender]
    gloss = (modifier.gloss, head.gloss)
    return Lexeme(NOUN, (modifier, head), (modifier.form, head.form), head.paradigm, gloss, link)


@lru_cache(maxsize=LEXEMES_KEPT)
def negated(lexeme: Lexeme) -> Lexeme:
    """With the prefix of negation, which stands before every other."""
    return replace(lexeme, prefixes=(NEGATION, *lexeme.prefixes), gloss=(NEGATION_GLOSS, *lexeme.gloss))


@lru_cache(maxsize=LEXEMES_KEPT)
def with_aspect(lexeme: Lexeme, prefix: str) -> Lexeme:
    """A verb with an aspect prefix."""
    return replace(lexeme, prefixes=(prefix,), gloss=(*lexeme.gloss, ASPECTS[prefix]))


@lru_cache(maxsize=LEXEMES_KEPT)
def compared(lexeme: Lexeme, superlative: bool) -> Lexeme:
    """The comparative or superlative of an adjective."""
    return replace(
        lexeme,
        prefixes=(SUPERLATIVE, *lexeme.prefixes) if superlative else lexeme.prefixes,
        suffixes=(*lexeme.suffixes, COMPARATIVE),
        gloss=(MOST_GLOSS if superlative else MORE_GLOSS, *lexeme.gloss),
    )


@lru_cache(maxsize=LEXEMES_KEPT)
def adverbial(lexeme: Lexeme) -> Lexeme:
    """The adverb of an adjective."""
    return replace(lexeme, part=ADVERB, suffixes=(*lexeme.suffixes, ADVERBIAL), gloss=(*lexeme.gloss, WAY_GLOSS))


@lru_cache(maxsize=1 << 12)
def function_lexeme(form: str, part: str, paradigm: int, gloss: str) -> Lexeme:
    """A function word that takes endings."""
    return Lexeme(part, (), (form,), paradigm, (gloss,))


@lru_cache(maxsize=1 << 12)
def function_word(form: str, tag: str) -> Word:
    """A word without parts."""
    return Word(form, f"{form}/{STEM}", tag)


@lru_cache(maxsize=WORDS_KEPT)
def noun_form(noun: Lexeme, number: int, case: int) -> Word:
    """A noun in number and case."""
    declension = DECLENSIONS[noun.paradigm]
    tag = f"{noun.part}.{GENDERS[declension.gender]}.{NUMBERS[number]}.{CASES[case]}"
    return _spell(noun, (declension.endings[number][case],), tag)


@lru_cache(maxsize=WORDS_KEPT)
def adjective_form(adjective: Lexeme, gender: int, number: int, case: int) -> Word:
    """An adjective in agreement with a noun."""
    tag = f"{adjective.part}.{GENDERS[gender]}.{NUMBERS[number]}.{CASES[case]}"
    return _spell(adjective, (ADJECTIVE_ENDINGS[gender][number][case],), tag)


@lru_cache(maxsize=WORDS_KEPT)
def verb_form(verb: Lexeme, tense: int, person: int, number: int) -> Word:
    """A finite verb in agreement with its subject."""
    tag = f"{verb.part}.{person + 1}.{NUMBERS[number]}.{TENSES[tense]}"
    return _spell(verb, (*TENSE_SUFFIXES[tense], PERSON_ENDINGS[verb.paradigm][number][person]), tag)


@lru_cache(maxsize=WORDS_KEPT)
def infinitive(verb: Lexeme) -> Word:
    """The form of a verb that stands after a modal verb."""
    return _spell(verb, (INFINITIVES[verb.paradigm],), f"{verb.part}.inf")


@lru_cache(maxsize=WORDS_KEPT)
def adverb_form(adverb: Lexeme) -> Word:
    """An adverb, which has no ending."""
    return _spell(adverb, (), ADVERB)


def _spell(lexeme: Lexeme, endings: tuple[str, ...], tag: str) -> Word:
    """Write a word down, morph by morph; a suffix follows the harmony of the stem before it."""
    form, analysis, last, label = "", "", lexeme.forms[0], STEM
    for prefix in lexeme.prefixes:
        form += prefix
        analysis += f"{prefix}/{PREFIX} "
    if lexeme.link:
        first, link = attach(last, lexeme.link, is_front(last))
        form += first + link
        analysis += f"{first}/{STEM} {link}/{SUFFIX} "
        last = lexeme.forms[1]
    front = is_front(lexeme.forms[-1])
    for suffix in (*lexeme.suffixes, *endings):
        if suffix:
            before, last = attach(last, suffix, front)
            form += before
            analysis += f"{before}/{label} "
            label = SUFFIX
    return Word(form + last, f"{analysis}{last}/{label}", tag)
