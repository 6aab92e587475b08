from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.tables import percent
from morphlm.text.recognition import Recognised, recognise_language

TEXTS = {
    "cs": "Slunce pomalu zapadalo za hory a moře bylo klidné. Děti si hrály na písku a smály se. Večer přišla bouřka.",
    "de": "Die Sonne ging langsam hinter den Bergen unter, und das Meer war ruhig. Die Kinder spielten im Sand.",
    "el": "Ο ήλιος έδυε πίσω από τα βουνά και η θάλασσα ήταν ήσυχη. Τα παιδιά έπαιζαν στην άμμο.",
    "en": "The sun was slowly setting behind the mountains, and the sea was calm. Children played in the sand.",
    "fi": "Aurinko laski hitaasti vuorten taakse, ja meri oli tyyni. Lapset leikkivät hiekalla ja nauroivat yhdessä.",
    "hu": "A nap lassan lenyugodott a hegyek mögött, és a tenger nyugodt volt. A gyerekek a homokban játszottak.",
    "ru": "Солнце медленно садилось за горы, и море было спокойно. Дети играли на песке и громко смеялись.",
    "tr": "Güneş yavaş yavaş dağların arkasında batıyordu ve deniz sakindi. Çocuklar kumda oynuyor ve gülüyorlardı.",
    "sw": "Jua lilikuwa likizama polepole nyuma ya milima, na bahari ilikuwa tulivu. Watoto walicheza mchangani.",
    "zh": "太阳慢慢地落到山后，大海很平静。孩子们在沙滩上玩耍，笑得很开心。晚上来了一场暴风雨，大家都回家了。",
    "ja": "太陽はゆっくりと山の向こうに沈み、海は穏やかだった。子供たちは砂浜で遊び、笑っていた。",
    "th": "พระอาทิตย์ค่อยๆ ตกหลังภูเขา และทะเลก็สงบ เด็กๆ เล่นทรายและหัวเราะกันอย่างมีความสุข",
    "km": "ព្រះអាទិត្យលិចយឺតៗនៅពីក្រោយភ្នំ ហើយសមុទ្រស្ងប់ស្ងាត់។ ក្មេងៗលេងខ្សាច់ ហើយសើចសប្បាយ។",
    "lo": "ຕາເວັນຄ່ອຍໆຕົກຢູ່ຫຼັງພູ ແລະທະເລກໍສະຫງົບ. ເດັກນ້ອຍຫຼິ້ນດິນຊາຍ ແລະຫົວ.",
    "my": "နေသည် တောင်များနောက်သို့ ဖြည်းဖြည်းချင်း ဝင်သွားပြီး ပင်လယ်သည် ငြိမ်သက်နေသည်။",
}


@pytest.mark.parametrize("code", TEXTS)
def test_languages(code: str) -> None:
    found = recognise_language([TEXTS[code]])
    assert (found.code, found.share, found.others, found.is_sure) == (code, 1.0, (), True)
    assert found.format() == f"{code} 100 %"


def test_two_languages_mixed() -> None:
    found = recognise_language([TEXTS["cs"], TEXTS["en"], TEXTS["cs"]] * 20)
    czech = 2 * len(TEXTS["cs"]) / (2 * len(TEXTS["cs"]) + len(TEXTS["en"]))
    assert found.code == "cs"
    assert found.share == pytest.approx(czech, abs=0.02)
    assert [code for code, _ in found.others] == ["en"]
    assert (
        found.format({"cs": "Czech", "en": "English"}) == f"Czech {percent(czech, 0)}, English {percent(1 - czech, 0)}"
    )


def test_half_and_half_is_unsure() -> None:
    assert not recognise_language([TEXTS["cs"], TEXTS["fi"]] * 20).is_sure


@pytest.mark.parametrize("sample", [[], [""], [" \n"], ["123 456"], ["... !?"], ["\0"], ["😀"]])
def test_without_words_there_is_no_language(sample: list[str]) -> None:
    assert recognise_language(sample) == Recognised(None, 0.0, (), is_sure=False)
    assert recognise_language(sample).format() == "unknown"


@pytest.mark.parametrize("sample", [["ano"], ["dobrý den"], ["OK"], ["a", "b", "c"]])
def test_a_few_words_are_unsure(sample: list[str]) -> None:
    found = recognise_language(sample)
    assert found.code is not None
    assert not found.is_sure


def test_short_lines_are_taken_together() -> None:
    assert recognise_language(TEXTS["cs"].split() * 3).code == "cs"
    assert recognise_language(TEXTS["fi"].upper().split(".")).code == "fi"


def test_little_of_another_language_is_no_mixture() -> None:
    assert recognise_language([TEXTS["de"]] * 60 + [TEXTS["en"]]).others == ()


def test_it_does_not_depend_on_earlier_questions() -> None:
    before = recognise_language([TEXTS["fi"], TEXTS["tr"]])
    recognise_language([TEXTS["cs"]])
    assert recognise_language([TEXTS["fi"], TEXTS["tr"]]) == before


@given(st.lists(st.text(max_size=300), max_size=5))
def test_shares_are_shares(sample: list[str]) -> None:
    found = recognise_language(sample)
    shares = [found.share, *(share for _, share in found.others)]
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) <= 1 + 1e-9
    assert shares == sorted(shares, reverse=True)


def test_a_long_text_takes_little_time() -> None:
    assert recognise_language(["slovo " * 200_000]).code is not None
