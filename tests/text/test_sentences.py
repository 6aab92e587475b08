from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError
from morphlm.text.sentences import split_long, split_sentences

MARKS = [*".!?…;:,\"'“”„«»()[]-–—。！？।؟ \t\n\0\u200b\u2028\xa0", "...", ". ", '." ', " :) "]
WORDS = [
    "Ahoj",
    "svět",
    "J",
    "č",
    "např",
    "II",
    "3",
    "1990",
    "Ελλάδα",
    "ქართული",
    "你好",
    "मैं",
    "Ж",
    "a@b.cz",
    "😀",
    "İ",
]
paragraphs = st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(MARKS), st.text(max_size=3))).map("".join)
languages = st.sampled_from([None, "cs", "de", "en", "fi", "el", "ru", "th", "zh", "xx", "tlh"])
tokens = st.lists(st.sampled_from(["a", "b", ".", ",", ";", '"', "(", ")", "»", "-", "?"]))

SENTENCES = {
    "cs": [
        "Bylo to 3. října 1990.",
        "Pak přišel č. 5 a p. Novák.",
        "Ve II. světové válce zahynul.",
        "J. K. Tyl psal hry.",
        "„Kde jsi?“ zeptal se.",
        "„Tady.“",
        "Šel pryč…",
        "(Viz obr. 3.)",
        "Stálo to 1 000 korun.",
        "20 lidí přišlo.",
        "Konec!",
    ],
    "de": ["Am 3. Oktober kam z. B. Dr. Müller.", "Das war 1990.", "Er rief: „Komm!“", "Sie ging."],
    "fi": ["Se oli 3. lokakuuta.", "EU:n päätös tuli esim. tiistaina.", "Hyvä! :)", "Niin on."],
    "en": [
        "Mr. Smith went to Washington D.C. yesterday.",
        '"Really?" she asked.',
        "It cost $5.50.",
        "World War II.",
        "So.",
    ],
    "ru": ["— Нехорошо, — сказала она.", "— Вы же первый меня не уважаете.", "А. С. Пушкин и т. д."],
    "uk": ["Це більше, ніж література…", "Це подарунок (мал. 5).", "Кінець."],
    "el": ["Πού πας;", "Ο κ. Παπαδόπουλος ήρθε.", "Τέλος."],
    "es": ["¿Cómo estás?", "¡Bien!", "El Sr. López vino."],
    "et": ["“ Ma olen optimist. ”", "Mees tuli 24. juunil.", "Hea."],
    "tr": ["Bu 5. bölüm.", "İstanbul'da yaşıyor.", "Işık var mı?"],
    "hi": ["मैं जाता हूँ।", "तुम कहाँ हो?", "वह आया।"],
    "ar": ["ذهب الولد إلى المدرسة.", "هل أنت بخير؟", "نعم."],
    "ka": ["ეს არის წინადადება.", "ეს მეორეა."],
    "hy": ["Սա նախադասություն է։", "Սա երկրորդն է։"],
}


def without_space(text: str) -> str:
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("language", SENTENCES)
def test_sentences_of_many_languages(language: str) -> None:
    assert split_sentences(" ".join(SENTENCES[language]), language) == SENTENCES[language]


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_stays_as_it_is(language: str) -> None:
    for sentence in SENTENCES[language]:
        assert split_sentences(sentence, language) == [sentence]


def test_without_spaces() -> None:
    assert split_sentences("你好。今天好！你呢？", "zh") == ["你好。", "今天好！", "你呢？"]
    assert split_sentences("「はい。」いいえ。", "ja") == ["「はい。」", "いいえ。"]


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        ("", "cs", []),
        (" \n\t", None, []),
        ("...", "en", ["..."]),
        ("?! .", "en", ["?! ."]),
        ("\0", "en", ["\0"]),
        ("First.\nSecond goes\non.", "en", ["First.", "Second goes\non."]),
        ("Open “quotation. Next one. And on", "en", ["Open “quotation.", "Next one.", "And on"]),
        ("A tokenised one . Another one !", "en", ["A tokenised one .", "Another one !"]),
        ("1. První kapitola. 2. Druhá kapitola.", "cs", ["1. První kapitola.", "2. Druhá kapitola."]),
        ('He said "yes." Then he left.', "en", ['He said "yes."', "Then he left."]),
        ("Kup 3 ks. 20 lidí to viděl. 5 ne.", "cs", ["Kup 3 ks. 20 lidí to viděl.", "5 ne."]),
    ],
)
def test_single_cases(text: str, language: str | None, sentences: list[str]) -> None:
    assert split_sentences(text, language) == sentences


def test_text_without_capitals_is_split() -> None:
    text = "it rained all day long and nobody came to see us in the garden. " * 5
    assert len(split_sentences(text, "en")) == 5


@given(paragraphs, languages)
def test_only_white_space_is_lost(text: str, language: str | None) -> None:
    sentences = split_sentences(text, language)
    assert without_space("".join(sentences)) == without_space(text)
    assert all(sentence == sentence.strip() != "" for sentence in sentences)


@given(st.text(), languages)
def test_only_white_space_is_lost_of_any_text(text: str, language: str | None) -> None:
    assert without_space("".join(split_sentences(text, language))) == without_space(text)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "Aa. ",
        '"',
        "(",
        "«a. B ",
        ". ",
        "1. ",
        "A! ",
        'Aa. " ',
        "(a. B) ",
        "'",
        "你。",
        "A. ",
        "\0",
        " ",
        "e.g. ",
        "Aa.”)’ ",
    ],
)
def test_a_very_long_paragraph_takes_little_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    begin = time.process_time()
    sentences = split_sentences(text, "cs")
    assert time.process_time() - begin < 5  # the square of the length would take minutes
    assert without_space("".join(sentences)) == without_space(text)


def test_long_text_is_split_as_in_small_parts() -> None:
    sentences = [f"Věta číslo {number} je tady, a to je dobře." for number in range(1000)]
    assert split_sentences(" ".join(sentences), "cs") == sentences


# ---------------------------------------------------------------- long sentences


@given(tokens, st.integers(1, 12))
def test_pieces_are_short_and_lose_nothing(sentence: list[str], most: int) -> None:
    pieces = split_long(sentence, most)
    assert [token for piece in pieces for token in piece] == sentence
    assert all(len(piece) <= most for piece in pieces)
    assert all(pieces) or not sentence


@pytest.mark.parametrize(
    ("sentence", "most", "pieces"),
    [
        ("a b c", 3, ["a b c"]),
        ("a b . c d", 4, ["a b .", "c d"]),
        ("a b ; c , d e", 6, ["a b ;", "c , d e"]),
        ("a b , c d e", 5, ["a b ,", "c d e"]),
        ("a b . » c d e", 6, ["a b . »", "c d e"]),
        ("a b ( c d e", 5, ["a b", "( c d e"]),
        ("a b c d", 3, ["a b", "c d"]),
        ("a b c d e f g h", 2, ["a b", "c d", "e f", "g h"]),
    ],
)
def test_where_sentences_are_cut(sentence: str, most: int, pieces: list[str]) -> None:
    assert split_long(sentence.split(), most) == [piece.split() for piece in pieces]


def test_a_sentence_without_marks_is_cut_in_even_pieces() -> None:
    assert {len(piece) for piece in split_long(["a"] * 1000, 80)} <= {62, 63}


def test_pieces_without_tokens_are_refused() -> None:
    with pytest.raises(ConfigError, match="at most 0 tokens"):
        split_long(["a"], 0)
