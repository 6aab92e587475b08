"""Tokens as a person writes them: exact sentences by language, and the way back to the same tokens."""

import pytest
from benchmarks.tokenisation import read_sentences
from hypothesis import example, given, settings

from morphlm.text.joining import join_words
from morphlm.text.words import tokenise_words
from tests.text.test_words import GOLD, languages, needs_gold, texts


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("cs", "Řekl: „Ahoj“ (např. 5 %), 3. května."),
        ("en", "He said \"don't\", didn't he? (Yes!) $5 or 5%... the boys' dog"),
        ("it", "Disse: \"l'amico dell'arte\". Un po' di 'pane'"),
        ("fr", "Semble-t-il, dit-il : « Oui ! » ; c'est l'été, 5 %"),
        ("es", "¿Qué? ¡No! 5 km²"),
        ("de", "„Ja“, sagte er. Vor- und Nachteile, »so« am 3. Oktober"),
        ("fi", "EU:n ”hyvä” 3–0"),
        ("ro", "Nu-i așa, s-a dus să-l vadă"),
        ("mt", "il-baħar f'Malta ta' Malta"),
        ("el", "απ' όλα, «ναι» ή όχι;"),
        ("nl", ",,Ja'', zei hij"),
        ("he", "בן-אדם"),
        ("uk", "1,5 кг; 10:30"),
        ("hi", "हिन्दी में।"),
        ("ar", "نعم، لا؟"),
        (None, "A/B [x] {y} 'z' 5–10"),
    ],
)
def test_sentences_come_back_as_they_were(language: str | None, text: str) -> None:
    assert join_words(tokenise_words(text, language), language) == text


def test_no_tokens_are_no_text() -> None:
    assert join_words([], "cs") == ""


def test_what_would_become_another_token_stays_apart() -> None:
    for tokens in (["'", "s"], ["(", ":", ")"], ["...", "."], ["-", "foo"], ["5", "/", "6"], ["'", "90"]):
        assert join_words(tokens, "en") == " ".join(tokens)


def test_a_full_stop_holds_on_to_its_word_before_a_small_letter() -> None:
    assert join_words(["konec", ".", "nový", "den", "."], "en") == "konec. nový den."


@settings(max_examples=300)
@given(texts, languages)
@example("(' s) `` a '' b", "en")
def test_joining_changes_only_spaces(text: str, language: str | None) -> None:
    tokens = tokenise_words(text, language)
    joined = join_words(tokens, language)
    assert "".join(joined.split()) == "".join(tokens)
    if "." not in tokens[:-1]:  # a full stop inside may look like that of an abbreviation
        assert tokenise_words(joined, language) == tokens


@needs_gold
def test_almost_all_sentences_of_gold_are_tokenised_the_same_again() -> None:
    for path in sorted(GOLD.glob("*-dev.conllu.xz")):
        language = path.name[:2]
        sentences = [tokenise_words(text, language) for text, _ in read_sentences(path)]
        same = sum(tokenise_words(join_words(tokens, language), language) == tokens for tokens in sentences)
        assert same >= 0.99 * len(sentences), path.name
