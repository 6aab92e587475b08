"""k-best lists: lines of decoders taken apart and put together, features, weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.scoring.kbest import (
    BarFormat,
    Columns,
    FormatName,
    KBestFormat,
    TabFormat,
    check_feature_name,
    find_format,
    parse_values,
    read_weights,
)

MOSES, OLD, CDEC, TAB = BarFormat("= "), BarFormat(": "), BarFormat("="), TabFormat()


@pytest.mark.parametrize(
    ("layout", "line", "extended", "ranked"),
    [
        (
            MOSES,
            "0 ||| to je  ||| d0= -1 0 LM0= -2 ||| -5.5 ||| 0-0 1-1",
            "0 ||| to je  ||| d0= -1 0 LM0= -2 lm= -1.5000 n= 2 ||| -5.5 ||| 0-0 1-1",
            "0 ||| to je  ||| d0= -1 0 LM0= -2 lm= -1.5000 n= 2 ||| -7.0000 ||| 0-0 1-1",
        ),
        (
            OLD,
            "0 ||| a ||| lm: -36 -13 w: -7 ||| -9",
            "0 ||| a ||| lm: -36 -13 w: -7 lm: -1.5000 n: 2 ||| -9",
            "0 ||| a ||| lm: -36 -13 w: -7 lm: -1.5000 n: 2 ||| -7.0000",
        ),
        (
            CDEC,
            "s1 ||| a ||| A=1 B=-2 ||| -9",
            "s1 ||| a ||| A=1 B=-2 lm=-1.5000 n=2 ||| -9",
            "s1 ||| a ||| A=1 B=-2 lm=-1.5000 n=2 ||| -7.0000",
        ),
        (CDEC, "1 |||  |||  ||| 0 ", "1 |||  ||| lm=-1.5000 n=2 ||| 0 ", "1 |||  ||| lm=-1.5000 n=2 ||| -7.0000 "),
        (CDEC, "1 ||| ||| ||| 0", "1 ||| ||| lm=-1.5000 n=2 ||| 0", "1 ||| ||| lm=-1.5000 n=2 ||| -7.0000"),
        (CDEC, "1 ||| a ||| A=1", "1 ||| a ||| A=1 lm=-1.5000 n=2", "1 ||| a ||| A=1 lm=-1.5000 n=2 ||| -7.0000"),
        (TAB, "x\ta b\t3\tz", "x\ta b\t3\tz\t-1.5000\t2", "x\ta b\t3\tz\t-1.5000\t2\t-7.0000"),
    ],
)
def test_only_what_is_added_changes(layout: KBestFormat, line: str, extended: str, ranked: str) -> None:
    hypothesis = layout.parse(line, 1)
    added = {"lm": -1.5, "n": 2}
    assert layout.render(hypothesis, added, None) == extended
    assert layout.render(hypothesis, added, -7.0) == ranked


_fields = st.text(st.sampled_from(" ab|é\t="), max_size=8).filter(lambda field: "|||" not in field.split(" "))


@given(_fields, _fields.filter(lambda features: features.strip(" ")), st.lists(_fields, max_size=2))
def test_lines_stay_byte_for_byte(text: str, features: str, rest: list[str]) -> None:
    line = " ||| ".join(["7", text, features, "-1", *rest])
    hypothesis = MOSES.parse(line, 3)
    assert "|||".join(hypothesis.fields) == line
    assert MOSES.render(hypothesis, {"new": 1}, None).replace(" new= 1", "", 1) == line


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("LM0= -1.2 -3.4 W= 2", {"LM0": (-1.2, -3.4), "W": (2.0,)}),
        ("A=1 B=-2e-3 a=b=4", {"A": (1.0,), "B": (-0.002,), "a=b": (4.0,)}),
        ("d: 0 1 w: -7", {"d": (0.0, 1.0), "w": (-7.0,)}),
        ("F0=1 2 F1= 3", {"F0": (1.0, 2.0), "F1": (3.0,)}),
        ("1 2", {"": (1.0, 2.0)}),
        ("E=", {"E": ()}),
    ],
)
def test_values_by_names(text: str, values: dict[str, tuple[float, ...]]) -> None:
    assert parse_values(text) == values


@pytest.mark.parametrize(
    ("layout", "line", "what"),
    [
        (MOSES, "0 ||| a", "not `id ||| hypothesis ||| features ||| score`"),
        (MOSES, "", "not `id"),
        (MOSES, "0|||a|||b|||1", "not `id"),
        (MOSES, " ||| a ||| F= 1 ||| 2", "the id of the sentence is missing"),
        (MOSES, "0 ||| a ||| F= 1 ||| high", "the score is 'high', which is not a number"),
        (MOSES, "0 ||| a ||| F= 1 ||| ", "the score is '', which is not a number"),
        (MOSES, "0 ||| a ||| F= 1 ||| nan", "'nan', which is not a number"),
        (TAB, "0", "1 column between tabs instead of 2 or more"),
        (TAB, "\ta", "the id of the sentence is missing"),
    ],
)
def test_malformed_lines(layout: KBestFormat, line: str, what: str) -> None:
    with pytest.raises(InputError, match=what.replace("|", r"\|")):
        layout.parse(line, 1)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("A= 1 A= 2", "the feature 'A' is here twice"),
        ("=1", "a feature has no name"),
        ("A= x", "the value of the feature 'A' is 'x', which is not a number"),
        ("A=1_0", "'1_0', which is not a number"),
    ],
)
def test_malformed_features(text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        parse_values(text)


def test_scores() -> None:
    assert MOSES.score(MOSES.parse("0 ||| a ||| F= 1 ||| -2.5 ||| x", 1)) == -2.5
    with pytest.raises(InputError, match="there is no total score to add to"):
        CDEC.score(CDEC.parse("0 ||| a ||| F=1", 1))
    assert TAB.score(TAB.parse("0\ta\t4\t5", 1)) == 4
    assert TAB.score(TAB.parse("0\ta", 1)) == 0
    assert TabFormat(Columns(score=0)).score(TAB.parse("0\ta\tx", 1)) == 0
    assert TabFormat(Columns(score=4)).score(TAB.parse("0\ta\t4\t5", 1)) == 5
    with pytest.raises(InputError, match="2 columns, the score was to be in 4"):
        TabFormat(Columns(score=4)).score(TAB.parse("0\ta", 1))
    with pytest.raises(InputError, match="the score in column 3 is 'x'"):
        TAB.score(TAB.parse("0\ta\tx", 1))


@pytest.mark.parametrize(
    ("written", "meant"), [(r"a \||| b", "a ||| b"), (r"\\||| \|||x", r"\||| \|||x"), (r"x\|||", r"x\|||")]
)
def test_a_separator_among_the_words(written: str, meant: str) -> None:
    """As `morphlm translate decode` writes it; the line itself stays as it is."""
    line = f"0 ||| {written} ||| LM= -1 ||| -2"
    found = BarFormat().parse(line, 1)
    assert found.text == meant
    assert BarFormat().render(found, {}, None) == line


def test_columns() -> None:
    layout = TabFormat(Columns(id=3, text=1))
    hypothesis = layout.parse("a b\t4\tid7\tx\t-1", 9)
    assert (hypothesis.id, hypothesis.text, hypothesis.line) == ("id7", "a b", 9)
    assert layout.features(hypothesis) == {"2": (4.0,), "5": (-1.0,)}
    with pytest.raises(ConfigError, match="numbered from 1 on"):
        Columns(id=0)


def test_features_that_are_there() -> None:
    hypothesis = MOSES.parse("0 ||| a ||| xlm= 1 lm2= 2 LM= 3 end= ||| 1", 1)
    assert [MOSES.has_feature(hypothesis, name) for name in ("lm", "xlm", "LM", "end", "x")] == [
        *[False, True, True, True, False]
    ]
    assert CDEC.has_feature(CDEC.parse("0 ||| a ||| lm=1", 1), "lm")


@pytest.mark.parametrize(
    ("name", "line", "found"),
    [
        ("auto", "0 ||| a ||| F= 1 ||| 2", MOSES),
        ("auto", "0 ||| a ||| F=1 ||| 2", CDEC),
        ("auto", "0 ||| a ||| d: 1 ||| 2", OLD),
        ("auto", "0 ||| a ||| ||| 2", MOSES),
        ("auto", "0 ||| a\tb ||| F=1 ||| 2", CDEC),
        ("auto", "0\ta", TAB),
        ("auto", "nonsense", MOSES),
        ("moses", "0 ||| a ||| F=1 ||| 2", MOSES),
        ("cdec", "0 ||| a ||| ||| 2", CDEC),
        ("tsv", "0 ||| a ||| ||| 2", TAB),
    ],
)
def test_the_format_is_found(name: FormatName, line: str, found: KBestFormat) -> None:
    assert find_format(name, line) == found


def test_columns_are_for_tables() -> None:
    with pytest.raises(ConfigError, match="the list is none of columns"):
        find_format("auto", "0 ||| a ||| F= 1 ||| 2", Columns(id=2))


def test_many_weights_are_no_name_of_a_file() -> None:
    names = [f"Feature{number}" for number in range(100)]
    assert read_weights(" ".join(f"{name}=0.5" for name in names)) == dict.fromkeys(names, (0.5,))


def test_weights_as_they_stand() -> None:
    assert read_weights("LM0=0.5 d0= 1 2") == {"LM0": (0.5,), "d0": (1.0, 2.0)}
    for given_, what in (("1 =2", "no name"), ("3 A=1", "no names"), ("A=x", "'x'"), ("A=inf", "not finite")):
        with pytest.raises(ConfigError, match=f"^weights: .*{what}"):
            read_weights(given_)


@pytest.mark.parametrize(
    "content",
    [
        "LM0 0.5\nd0= 1 2\n",
        "# weights\n\nLM0= 0.5 d0= 1 2\n",
        "[input-factors]\n0\n[weight]\nLM0= 0.5  # ours\nd0= 1 2\n[other]\nd0= 9\n",
    ],
)
def test_weights_of_files(content: str, tmp_path: Path) -> None:
    (tmp_path / "w").write_text(content)
    assert read_weights(str(tmp_path / "w")) == {"LM0": (0.5,), "d0": (1.0, 2.0)}


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("A 1\nA 2\n", "w:2: the feature 'A' is here twice"),
        ("A\n", "w:1: not `Name= weight ...`"),
        ("A= 1\nB x\n", "w:2: .*'x', which is not a number"),
        ("# nothing\n", "w: there are no weights in it"),
    ],
)
def test_malformed_weights(content: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "w").write_text(content)
    with pytest.raises(InputError, match=what):
        read_weights(str(tmp_path / "w"))


@pytest.mark.parametrize("name", ["", "a b", "a=", "|||", "lm:", "\udcff"])
def test_names_that_could_not_be_read_again(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be the name of a feature"):
        check_feature_name(name)
    check_feature_name("clbl++")
