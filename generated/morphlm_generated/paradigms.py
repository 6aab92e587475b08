"""The fixed tables of the generated language: endings, derivations, prefixes and function words.

Only the stems differ from seed to seed; these tables are the same for every language. Suffixes are written as `sounds`
describes.
"""

from __future__ import annotations

from typing import NamedTuple

NOUN, VERB, ADJECTIVE, ADVERB = "NOUN", "VERB", "ADJ", "ADV"
CASES = ("nom", "acc", "gen", "dat", "loc", "ins")
NOMINATIVE, ACCUSATIVE, GENITIVE, DATIVE, LOCATIVE, INSTRUMENTAL = range(6)
NUMBERS = ("sg", "pl")
GENDERS = ("m", "f", "n")
TENSES = ("pres", "past", "fut")


class Declension(NamedTuple):
    """A class of nouns: its gender and twelve endings."""

    gender: int
    endings: tuple[tuple[str, ...], tuple[str, ...]]  # singular, plural; each in the order of CASES


def _row(text: str) -> tuple[str, ...]:
    return tuple("" if ending == "-" else ending for ending in text.split())


DECLENSIONS = (
    Declension(0, (_row("- A A Ov 'i (O)m"), _row("i Us Uv (O)mA 'ih (A)mi"))),
    Declension(0, (_row("is is U Uj 'i (O)m"), _row("iš iš in (O)mA Uh (U)l"))),
    Declension(1, (_row("A U i 'i 'i Oj"), _row("i i - (A)m (A)h (A)mi"))),
    Declension(1, (_row("- - i i i jUv"), _row("int int Ur (U)m (U)h (U)l"))),
    Declension(2, (_row("O O A U 'i (O)m"), _row("A A - (O)mA 'ih (A)mi"))),
    Declension(2, (_row("in in OnA OnU OnU OnOm"), _row("Ut Ut Ot (U)m (U)h OtAmi"))),
)

# gender -> singular, plural; also the endings of demonstratives and of the relative pronoun
ADJECTIVE_ENDINGS = (
    (_row("ij OgO OgO OmU Om im"), _row("ijA ih ih im ih imi")),
    (_row("AjA UjU Uj Uj Uj UjA"), _row("Uji ih ih im ih imi")),
    (_row("OjO OjO OgO OmU Om im"), _row("OjA OjA ih im ih imi")),
)

# three conjugations -> (1sg 2sg 3sg), (1pl 2pl 3pl)
PERSON_ENDINGS = (
    (_row("(O)m (A)š A"), _row("(O)mi (A)tA Ut")),
    (_row("(i)m (i)š i"), _row("(i)mi (i)tA int")),
    (_row("Um Us U"), _row("Umi UtA Unt")),
)
TENSE_SUFFIXES = ((), ("(A)l",), ("(U)b",))  # as TENSES
INFINITIVES = ("(A)ti", "(i)ti", "Uti")
COMPARATIVE, ADVERBIAL = "'Ajš", "'A"
LINKS = ("(O)s", "(A)n", "O")  # between the stems of a compound, by the gender of the first

NEGATION, SUPERLATIVE = "ne", "naj"
ASPECTS = {"pa": "up", "vi": "out", "za": "off", "ud": "away", "pri": "near", "raz": "apart"}  # prefix -> particle


class SuffixDerivation(NamedTuple):
    """A derivation: suffixes that turn a stem into a word of another part of speech or meaning."""

    source: str  # the part of speech of the stem
    suffixes: tuple[str, ...]
    paradigm: int | None  # declension or conjugation; None: the first of the stem's gender
    gloss_before: tuple[str, ...]
    gloss_after: tuple[str, ...]
    weight: int  # how often, compared with the others of its part of speech


DERIVATIONS: dict[str, tuple[SuffixDerivation, ...]] = {
    NOUN: (
        SuffixDerivation(NOUN, ("(O)čk",), None, ("little",), (), 5),
        SuffixDerivation(VERB, ("(A)tAl",), 0, (), ("man",), 6),
        SuffixDerivation(VERB, ("(A)tAl", "k"), 2, (), ("woman",), 3),
        SuffixDerivation(VERB, ("(A)n",), 5, (), ("act",), 7),
        SuffixDerivation(ADJECTIVE, ("Ost",), 3, (), ("hood",), 6),
        SuffixDerivation(NOUN, ("(O)stv",), 4, (), ("folk",), 3),
        SuffixDerivation(VERB, ("(A)tAl", "(O)čk"), 0, ("little",), ("man",), 1),
        SuffixDerivation(NOUN, ("(O)v", "Ost"), 3, (), ("like", "hood"), 1),
    ),
    ADJECTIVE: (
        SuffixDerivation(NOUN, ("(A)sk",), 0, (), ("like",), 5),
        SuffixDerivation(NOUN, ("(O)v",), 0, (), ("own",), 4),
        SuffixDerivation(VERB, ("(A)n",), 0, (), ("done",), 4),
        SuffixDerivation(VERB, ("Uč",), 0, (), ("doing",), 3),
    ),
    VERB: (
        SuffixDerivation(VERB, ("(A)v",), 0, ("often",), (), 3),
        SuffixDerivation(NOUN, ("iz",), 1, ("make",), (), 2),
    ),
}

CASE_GLOSSES = ((), (), ("of",), ("to",), ("at",), ("with",))  # as CASES, where no preposition stands
TENSE_GLOSSES = ((), ("did",), ("will",))
PLURAL_GLOSS = ("many",)
OTHER_GLOSSES = NEGATION_GLOSS, MORE_GLOSS, MOST_GLOSS, WAY_GLOSS = "not", "more", "most", "way"
ARTICLES = (("a",), ("the",))

# (person, number) -> forms in the order of CASES, gloss; a subject pronoun may be left out
PRONOUNS: dict[tuple[int, int], tuple[tuple[str, ...], str]] = {
    (0, 0): (_row("jas mene mene mi mi mnom"), "i"),
    (1, 0): (_row("tu tebe tebe ti ti tebom"), "you"),
    (2, 0): (_row("on oga oga omu om onim"), "he"),
    (0, 1): (_row("mu nas nas nam nas nami"), "we"),
    (1, 1): (_row("vi vas vas vam vas vami"), "you"),
    (2, 1): (_row("oni ih ih im ih imi"), "they"),
}

# tense -> number -> person
COPULA = (
    (_row("sem si je"), _row("smo ste so")),
    (_row("bim bis bi"), _row("bimo bite bint")),
    (_row("bum bus bu"), _row("bumo bute bunt")),
)
COPULA_GLOSS = "be"

PREPOSITIONS = (
    ("vu", "in", LOCATIVE),
    ("na", "on", LOCATIVE),
    ("do", "into", GENITIVE),
    ("s", "beside", INSTRUMENTAL),
    ("ot", "from", GENITIVE),
    ("ob", "about", LOCATIVE),
    ("ki", "toward", DATIVE),
    ("čez", "through", ACCUSATIVE),
    ("bez", "without", GENITIVE),
    ("pod", "under", INSTRUMENTAL),
    ("med", "among", INSTRUMENTAL),
    ("proti", "against", DATIVE),
)
DEMONSTRATIVES = (("t", "this"), ("ov", "that"), ("vs", "every"), ("nek", "some"))
NUMERALS = (("dva", "two"), ("tri", "three"), ("šter", "four"), ("pent", "five"), ("des", "ten"), ("sto", "hundred"))
MODALS = (("mog", 0, "can"), ("ruk", 2, "must"), ("hoč", 1, "want"))  # stem, conjugation, gloss
BASIC_ADVERBS = (
    ("zdaj", "now"),
    ("tam", "there"),
    ("ješt", "still"),
    ("uže", "already"),
    ("vsek", "always"),
    ("tuk", "here"),
    ("redko", "seldom"),
    ("samo", "only"),
)
CONJUNCTIONS = (("i", "and"), ("ali", "but"), ("abo", "or"))
SUBORDINATORS = (("že", "that"), ("kad", "when"), ("aku", "if"), ("zato", "because"))
RELATIVE = ("kotor", "which")
QUESTION = ("li", "whether")
