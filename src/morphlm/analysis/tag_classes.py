"""Fine tags as the classes that a reader knows: nouns, adjectives, verbs; for UPOS and for German's STTS."""

from __future__ import annotations

import re

from morphlm.analysis.tag_reading import JOIN

REST = "Rest"
PUNCTUATION = "Punctuation"

# The first that matches counts. STTS as HanTa writes it, ADJ(A), and as others do, ADJA.
_CLASSES: tuple[tuple[str, str], ...] = (
    ("Noun", "NOUN|NN|NNA|NNI"),
    ("Name", "PROPN|NE"),
    ("Adjective", r"ADJ|ADJA|ADJD|ADJ\([AD]\)"),
    ("Verb", r"VERB|AUX|V[VAM](FIN|INF|IZU|IMP|PP)|V[VAM]\((FIN|INF|IZU|IMP|PP)\)"),
    ("Adverb", "ADV|PAV|PROAV|PWAV"),
    ("Determiner", "DET|ART|P(I|D|ID|POS|REL|W)AT"),
    ("Pronoun", "PRON|PPER|PRF|P(I|D|POS|REL|W)S"),
    ("Preposition", "ADP|APPR|APPRART|APPO|APZR"),
    ("Conjunction", "CCONJ|SCONJ|KON|KOUS|KOUI|KOKOM"),
    ("Numeral", "NUM|CARD"),
    ("Particle", "PART|PTK[A-Z]+"),
    (PUNCTUATION, r"PUNCT|\$[,.(]"),
    (REST, "INTJ|SYM|X|ITJ|FM|XY|TRUNC|SPELL"),
)
_PATTERNS = tuple((name, re.compile(pattern)) for name, pattern in _CLASSES)


def coarse_class(tag: str) -> str | None:
    """The class of a tag, of joined tags (`ADP+DET`) that of the first; None if the tag is of neither set."""
    first = tag.partition(JOIN)[0]
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(first)), None)
