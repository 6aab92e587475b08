"""Small letters by language: Turkish, Greek and German, no dots out of nothing, and nothing changes the second time."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.text.casing import lowercase

LANGUAGES = st.sampled_from([None, "cs", "tr", "az", "crh", "kk", "tt", "el", "lt", "de"])
letters = st.text(st.characters() | st.sampled_from("IİiıŞÍΣςσΑά'-.\u0301\u0307\u0323 "))


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("tr", "İSTANBUL'DA IŞIK Diyarbakır", "istanbul'da ışık diyarbakır"),
        ("tr", "I\u0307zmir", "izmir"),
        ("az", "BAKI İdman", "bakı idman"),
        ("crh", "QIRIM", "qırım"),
        ("kk", "QAZAǴSTAN IŞKI INTEL", "qazaǵstan ışkı intel"),
        ("tt", "ҠАЗАН Bıznıñ İle IBM", "ҡазан bıznıñ ile ibm"),
        ("cs", "İzmir I\u0307 ISTANBUL", "izmir i istanbul"),
        (None, "İ", "i"),
        ("el", "Ο ΟΔΥΣΣΕΥΣ ΤΗΣ ΜΑΣ' ΑΣ-ΤΟ Σ'ΑΓΑΠΩ Σ.Σ.", "ο οδυσσευς της μας' ας-το σ'αγαπω σ.σ."),
        ("el", "ΜΆΣ\u0301, ΛΌΓΟΣ.", "μάς\u0301, λόγος."),
        ("de", "STRAẞE Straße", "straße straße"),
        ("lt", "Í Ì", "í ì"),
    ],
)
def test_exact_letters(language: str | None, text: str, expected: str) -> None:
    assert lowercase(text, language) == expected


@given(letters, LANGUAGES)
def test_lowercasing_again_changes_nothing(text: str, language: str | None) -> None:
    once = lowercase(text, language)
    assert lowercase(once, language) == once


@given(letters, LANGUAGES)
def test_no_combining_dot_comes_out_of_nothing(text: str, language: str | None) -> None:
    def dots(string: str) -> int:
        return unicodedata.normalize("NFD", string).count("\u0307")

    assert lowercase(text, language).count("\u0307") <= text.count("\u0307")
    assert dots(lowercase(text, language)) <= dots(text)


@given(st.lists(st.text("ΑΣσς\u0301'’.-", min_size=1), max_size=4))
def test_the_last_sigma_does_not_depend_on_what_is_cut_off(words: list[str]) -> None:
    # Cut at marks that are no letters, as a tokeniser does.
    text = "".join(words)
    apart = text
    for mark in "'’.-":
        apart = apart.replace(mark, f" {mark} ")
    assert lowercase(text, "el") == lowercase(apart, "el").replace(" ", "")


@given(letters)
def test_other_languages_differ_from_python_only_in_dots_and_sigmas(text: str) -> None:
    def plain(string: str) -> str:
        return string.replace("\u0307", "").replace("ς", "σ")

    assert plain(lowercase(text, "cs")) == plain(text.lower())
