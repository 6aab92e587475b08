"""Codes and names of languages, what is refused and how, and text without spaces."""

import pytest

from morphlm.errors import ConfigError
from morphlm.text.languages import (
    check_language,
    check_spaced,
    has_no_spaces,
    language_name,
    languages,
    unspaced_script,
)

ISO_639_1 = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo "
    "es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka "
    "kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng "
    "nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su "
    "sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
OF_TREEBANKS = "akk apu bxr cop fro frm got grc hsb dsb gsw kmr koi kpv krl lij lzh mdf myv nds olo orv pcm sah sms yue"


def test_every_code_of_two_letters_is_known() -> None:
    codes = ISO_639_1.split()
    assert len(codes) == 183
    assert [check_language(code) for code in codes] == codes


def test_codes_of_three_letters_where_there_is_none_of_two() -> None:
    codes = OF_TREEBANKS.split()
    assert [check_language(code) for code in codes] == codes


def test_every_code_and_name_of_the_table_leads_to_its_row() -> None:
    for code, language in languages().items():
        assert {check_language(other) for other in (*language.codes, language.name)} == {code}, language


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("czech", "cs"), ("Czech", "cs"), ("CS", "cs"), ("ces", "cs"), ("cze", "cs"), (" cs ", "cs"),
        ("pt-BR", "pt"), ("zh_TW", "zh"), ("sr-Latn-RS", "sr"), ("norwegian nynorsk", "nn"), ("Norwegian_Bokmål", "nb"),
        ("farsi", "fa"), ("iw", "he"), ("arb", "ar"), ("cmn", "zh"), ("Scottish-Gaelic", "gd"), ("und", "und"),
        ("Maori", "mi"), ("K'iche'", "quc"),
    ],
)  # fmt: skip
def test_other_spellings(given: str, code: str) -> None:
    assert check_language(given) == code


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("cz", "cs (Czech)"),
        ("jp", "ja (Japanese)"),
        ("tukish", "tr (Turkish)"),
        ("Finish", "fi (Finnish)"),
        ("gr", "el (Greek)"),
    ],
)
def test_what_is_no_language_is_refused_with_the_nearest(given: str, meant: str) -> None:
    with pytest.raises(ConfigError, match="is no language code; do you mean") as refusal:
        check_language(given)
    assert str(refusal.value).startswith(f"'{given}' is no language code; do you mean {meant}")


@pytest.mark.parametrize("given", ["", "-", "xx", "qqqqqqqq", "x" * 5000, "123", "č"])
def test_what_is_like_no_language_is_refused_too(given: str) -> None:
    with pytest.raises(ConfigError, match="is no language code"):
        check_language(given)


@pytest.mark.parametrize("code", ["th", "km", "lo", "my", "zh", "ja", "bo", "yue", "jpn", "Chinese"])
def test_languages_without_spaces_are_refused_with_the_cure(code: str) -> None:
    with pytest.raises(ConfigError, match=r"without spaces between words.*put spaces between .*prepared=True"):
        check_spaced(code)


def test_languages_with_spaces_are_taken() -> None:
    assert [check_spaced(code) for code in ("cs", "korean", "vie", "und")] == ["cs", "ko", "vi", "und"]
    assert language_name("ko") == "Korean"
    assert language_name("und") == "another language"


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("สวัสดีครับ hello", "Thai"),
        ("ສະບາຍດີ", "Lao"),
        ("မင်္ဂလာပါ", "Burmese"),
        ("ជំរាបសួរ", "Khmer"),
        ("བཀྲ་ཤིས་བདེ་ལེགས", "Tibetan"),
        ("我们明天一起去北京 (Beijing)", "Chinese"),
        ("私は東京に行く", "Japanese"),
        ("안녕 하세요 (安寧)", None),
        ("Привет 世界", None),
        ("12 345 ...", None),
        ("", None),
    ],
)
def test_scripts_without_spaces_are_recognised(text: str, script: str | None) -> None:
    assert unspaced_script(text) == script
    assert has_no_spaces(text) == (script is not None)
