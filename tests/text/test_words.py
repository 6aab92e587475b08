"""The tokeniser `words`: exact tokens by language, nothing changes the second time, linear time, and gold tokens."""

import re
import time
import unicodedata
from pathlib import Path

import pytest
from benchmarks.tokenisation import moses, read_sentences, span_f1
from hypothesis import example, given, settings
from hypothesis import strategies as st

from morphlm.text.abbreviations import abbreviations
from morphlm.text.casing import lowercase
from morphlm.text.word_rules import _RULES
from morphlm.text.words import tokenise_words

GOLD = Path(__file__).parents[3] / "shared" / "data" / "ud"
LANGUAGES = [None, "und", "tr", "az", "kk", "ru", "ko", "sw", "hi", "en", *_RULES]

# --- by language


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("fi", "EU:n 3. luokka, ja/tai 2–1 (89/662/ETY).", "EU:n 3. luokka , ja/tai 2–1 ( 89/662/ETY ) ."),
        ("uk", "п'ятого м’яч, м’ятаʼ", "п'ятого м’яч , м’ятаʼ"),
        ("sw", "ng'ombe wa ng’ambo", "ng'ombe wa ng’ambo"),
        ("tr", "İstanbul'da 3'üncü 'evet'", "İstanbul'da 3'üncü ' evet '"),
        ("br", "Ar c'hoar, n'eo ket ar c’hi-se", "Ar c'hoar , n' eo ket ar c’hi -se"),
        ("he", 'ארה"ב "כן" ג׳ורג׳ בן-אדם', 'ארה"ב " כן " ג׳ורג׳ בן - אדם'),
        ("it", "L'amico dell’arte: un po' 'meglio', c'è", "L' amico dell’ arte : un po' ' meglio ' , c' è"),
        ("ca", "l'home col·legi, d’aigua", "l' home col·legi , d’ aigua"),
        ("fr", "Aujourd'hui l'homme qu'il, c'est-à-dire", "Aujourd'hui l' homme qu' il , c'est-à-dire"),
        ("fr", "Quelqu'un a-t-il dit « non » ?", "Quelqu'un a -t-il dit « non » ?"),
        ("ro", "S-a dus să-l vadă într-o zi", "S- a dus să -l vadă într- o zi"),
        ("mt", "il-baħar f'Malta", "il- baħar f' Malta"),
        ("en", "I don't, O'Brien's 'tis we'll", "I don 't , O'Brien 's 'tis we 'll"),
        ("en", "Mr. Smith of No. 5 left. No. Five", "Mr. Smith of No. 5 left . No . Five"),
        ("en", "this is the end. then we go to st. mary", "this is the end . then we go to st. mary"),
        ("da", "ca. ti, men slutningen. og så", "ca. ti , men slutningen . og så"),
        ("ka", "ეს არის. ის გ. ტაბიძე", "ეს არის . ის გ. ტაბიძე"),
        ("cy", "mae'r ci a'i fam", "mae 'r ci a 'i fam"),
        ("af", "dis 'n boek, 'n goeie", "dis 'n boek , 'n goeie"),
        ("nl", "'s Avonds zo'n foto's ,,ja''", "'s Avonds zo'n foto's ,, ja ''"),
        ("de", "am 3. Oktober 1990. Dann z. B. so!!", "am 3. Oktober 1990 . Dann z. B. so ! !"),
        ("de", "Vor- und Nachteile, Ein-/Ausgang", "Vor- und Nachteile , Ein-/Ausgang"),
        ("cs", "3. května, tj. např. J. Novák", "3 . května , tj . např . J . Novák"),
        ("hu", "a Kft.-nek a 3. nap", "a Kft.-nek a 3. nap"),
        ("lv", "195.panta 2. daļa, J.Visockis", "195. panta 2. daļa , J. Visockis"),
        ("eu", "%70 10:30ean", "%70 10:30ean"),
        ("es", "5 km² de ¿qué?", "5 km ² de ¿ qué ?"),
        ("ru", "т.е. 5 гг. и 1,5 кг; как-то", "т.е. 5 гг. и 1,5 кг ; как-то"),
        ("el", "απ' όλα, Β' μέρος", "απ' όλα , Β' μέρος"),
        ("hy", "պե՞տք է", "պե՞տք է"),
        ("hi", "हिन्दी में।", "हिन्दी में ।"),
        ("ko", "'하녀'와", "' 하녀 ' 와"),
        ("fa", "می‌شود", "می‌شود"),
        (None, "AT&T foo_bar 5% $5 R2-D2", "AT&T foo_bar 5 % $ 5 R2-D2"),
        (None, "Wait... what?! No -- yes--maybe…", "Wait ... what ?! No -- yes -- maybe …"),
        (None, "-Foo bar -foo (-5)", "- Foo bar -foo ( -5 )"),
        (None, "See http://x.org/a?b=1, www.y.cz. Mail me@x.org!", None),
        (None, "#tag @you :) :-D ;(", "#tag @you :) :-D ;("),
        (None, "1,000.50 at 10:30 on 1/2 2001-02", "1,000.50 at 10:30 on 1/2 2001-02"),
        (None, "👩‍👩‍👧👍🏽🇨🇿🇸🇰❤️1️⃣", "👩‍👩‍👧 👍🏽 🇨🇿 🇸🇰 ❤️ 1️⃣"),
    ],
)
def test_exact_tokens(language: str | None, text: str, tokens: str | None) -> None:
    expected = tokens or "See http://x.org/a?b=1 , www.y.cz . Mail me@x.org !"
    assert tokenise_words(text, language) == expected.split()


def test_the_last_full_stop_is_a_token() -> None:
    for text in ("so ein Dr.", "the U.S.", "page 5.", "and etc."):
        assert tokenise_words(text, "en")[-1] == "."


@pytest.mark.parametrize("language", ["en", "de", "fi", "ru"])
def test_listed_abbreviations_keep_their_stops(language: str) -> None:
    listed = abbreviations(language)
    assert len(listed.exact) > 50
    for word in sorted(listed.exact):
        if word.isalpha() and len(word) > 1:
            assert tokenise_words(f"{word}. Xy", language)[0] == f"{word}.", word


def test_without_a_list_titles_are_known_and_without_a_language_nothing_is() -> None:
    assert tokenise_words("Dr. Xy", "yo") == ["Dr.", "Xy"]
    assert tokenise_words("Dr. Xy", None) == ["Dr", ".", "Xy"]


# --- the second time nothing changes

_SNIPPETS = (
    "n't 's l' dell' qu' po' d' ng' http:// www. @ foo.com etc. Dr. No. J.R. U.S. ... EU:n c'h 3. VIII. 10:30 :) :-D "
    "'' `` ,, -- '90 p.m. a. A. т.е. гг. 1990. x@y.cz .com .Com -Foo -foo %5 3–0 l·l aujourd'hui #tag ΟΔΟΣ vs. i. I. "
    "Σ.Σ. Α' ng'ombe -il -t-il s-a să-l Kft.-t J.Novák 5.panta &amp; &#39; n° ² Ⅷ ǅ ß ẞ ǰ J\u030c İ I\u0307 İ\u0301 ı"
)
_CHARACTERS = (
    "abdeinstxzABDIJNSX0159٣४.'’‘`´-–—,:;!?\"«»“”„()[]{}&/\\_@#%°·+=*<>|~^$€абгіїАБЖασςάΑΣאבג״׳հայ՞한국日本ไทยहिंद्ि"
    "İIıŞşğªº²½\u0301\u0307\u0323\u200d\u200c\ufe0f\u20e3\u00ad\u200b👍🏽🇨🇿👩❤ \t\u00a0\u2009"
)
nasty = st.lists(st.sampled_from(_SNIPPETS.split()) | st.sampled_from(_CHARACTERS) | st.just(" "), max_size=14).map(
    "".join
)
texts = nasty | st.text(max_size=20)
languages = st.sampled_from(LANGUAGES)


def prepared(text: str, language: str | None, *, small: bool, zeros: bool) -> list[str]:
    """What preparing a line does around the tokeniser."""
    text = unicodedata.normalize("NFC", text.replace("\u200b", " "))
    text = " ".join(tokenise_words(text, language))
    text = lowercase(text, language) if small else text
    text = re.sub(r"\d", "0", text) if zeros else text
    return unicodedata.normalize("NFC", text).split()


@settings(max_examples=400)
@given(texts, languages)
@example("don't 'tis", "en")
@example("l'amico dell'arte un po' ", "it")
@example("J.R.Tolkien etc. A. b. C", "en")
def test_tokens_are_tokenised_to_themselves_and_nothing_is_lost(text: str, language: str | None) -> None:
    tokens = tokenise_words(text, language)
    assert "".join(tokens) == "".join(text.split())
    assert tokenise_words(" ".join(tokens), language) == tokens


@settings(max_examples=400)
@given(texts, languages, st.booleans(), st.booleans())
@example("İ\u0301-Foo", "mt", True, True)  # lowercasing makes one letter of two characters
@example("5гг. Да 3. Oktober", "ru", True, True)
@example("am 3. Oktober um III. Dann v. Chr.", "de", True, True)
def test_preparing_prepared_text_changes_nothing(text: str, language: str | None, small: bool, zeros: bool) -> None:
    once = prepared(text, language, small=small, zeros=zeros)
    assert prepared(" ".join(once), language, small=small, zeros=zeros) == once


# --- time


@pytest.mark.parametrize("language", ["it", "ro"])
def test_a_long_chunk_takes_linear_time(language: str) -> None:
    pieces = "a a. a+ . ' a' http:// www. @a a@b. &#1 1, -a a-/ \u0301 👩\u200d"
    for piece in pieces.split():
        small, large = (_seconds(piece * (size // len(piece)), language) for size in (1 << 12, 1 << 16))
        assert large < 16 * 3 * max(small, 0.003), piece  # 16 times the text; quadratic time would be 256 times


def test_a_megabyte_without_a_space_is_tokenised() -> None:
    assert _seconds("l'a.b@c-d," * 100_000, "it") < 20


def _seconds(chunk: str, language: str) -> float:
    begin = time.process_time()
    assert "".join(tokenise_words(chunk, language)) == chunk
    return time.process_time() - begin


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.text.words._MOST_KEPT", 10)
    for number in range(50):
        assert tokenise_words(f"x{number}.5 y", "en") == [f"x{number}.5", "y"]


# --- gold tokens

needs_gold = pytest.mark.skipif(not GOLD.is_dir(), reason=f"needs the gold tokens of {GOLD.name} beside the checkout")


@needs_gold
@pytest.mark.parametrize("language", ["cs", "el", "et", "eu", "fi", "hu", "it", "tr", "uk"])
def test_gold_tokens_are_found(language: str) -> None:
    (path,) = GOLD.glob(f"{language}_*-dev.conllu.xz")
    assert span_f1(list(read_sentences(path)), tokenise_words, language) >= 0.99


@needs_gold
def test_russian_is_not_worse_than_moses() -> None:
    (path,) = GOLD.glob("ru_*-dev.conllu.xz")
    sentences = list(read_sentences(path))
    assert span_f1(sentences, tokenise_words, "ru") >= span_f1(sentences, moses, "ru")
