from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import InputError
from morphlm.translation.grammar.reading import read_rules
from morphlm.translation.grammar.rules import (
    FEATURES,
    Rule,
    RuleTable,
    join_tables,
    parse_rule,
    table_of,
    write_rules,
)

MARKS = ["|||", "[X]", "[X,1]", "[1]", "[", "]", "[]", "\\|||", "\\\\[X]", "\\", "||||", "[a", "=", "#", "é", "\u2028"]
words = st.sampled_from(["a", "b", *MARKS]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\0"), min_size=1, max_size=4
)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    gaps = draw(st.integers(0, 2))
    source: list[str | int] = draw(st.lists(words, min_size=1, max_size=4))
    target: list[str | int] = draw(st.lists(words, min_size=1, max_size=4))
    links = draw(st.lists(st.tuples(*(st.integers(0, len(side) - 1) for side in (source, target))), max_size=3))
    source += range(1, gaps + 1)
    target += draw(st.permutations(range(1, gaps + 1)))
    names = st.sampled_from(["EgivenF", "a=b", "X_1"])
    features = draw(st.dictionaries(names, st.floats(width=32, allow_nan=False, allow_infinity=False)))
    return Rule(tuple(source), tuple(target), features, tuple(links))


def lines(table: RuleTable) -> list[str]:
    return [rule.to_line() for rule in table]


@given(rules())
def test_a_line_says_all_of_a_rule(rule: Rule) -> None:
    again = parse_rule(rule.to_line())
    assert (again.source, again.target, again.links) == (rule.source, rule.target, rule.links)
    assert {name: np.float32(value) for name, value in again.features.items()} == dict(rule.features)


@given(st.lists(rules(), max_size=5))
def test_a_table_holds_all_of_its_rules(given_rules: list[Rule]) -> None:
    table = table_of(given_rules)
    assert len(table) == len(given_rules)
    for rule, original in zip(table, given_rules, strict=True):
        assert (rule.source, rule.target, rule.links) == (original.source, original.target, original.links)
        assert {name: value for name, value in rule.features.items() if value} == {
            name: value for name, value in original.features.items() if value
        }


@pytest.mark.parametrize("name", ["g", "g.gz", "g.xz"])
def test_files(tmp_path: Path, name: str) -> None:
    table = table_of(
        [Rule(("der", 1, "|||"), ("the", 1, "[X]"), {"A": 0.1, "B": -3}, ((0, 0), (2, 2))), Rule(("a",), ("b",))]
    )
    write_rules(tmp_path / name, table)
    again = read_rules(tmp_path / name)
    for one, other in zip(vars(table).values(), vars(again).values(), strict=True):
        assert np.array_equal(one, other)
    if name == "g":
        assert (tmp_path / "g").read_text() == (
            "[X] ||| der [X,1] \\||| ||| the [X,1] \\[X] ||| A=0.100000001 B=-3 ||| 0-0 2-2\n"
            "[X] ||| a ||| b ||| A=0 B=0\n"
        )


def test_an_empty_grammar(tmp_path: Path) -> None:
    for name in ("g", "g.gz"):
        write_rules(tmp_path / name, table_of([], FEATURES))
        assert len(read_rules(tmp_path / name)) == 0
    assert table_of([], FEATURES).feature_names == FEATURES
    assert len(join_tables([])) == 0


def test_gaps_are_numbered_by_the_source() -> None:
    rule = parse_rule("[X] ||| [X,2] a [X,1] ||| [1] [X,2] b ||| 0.5 F=1e-3 ||| 1-2")
    assert rule == Rule((1, "a", 2), (2, 1, "b"), {"PhraseModel_0": 0.5, "F": 0.001}, ((1, 2),))
    assert parse_rule("[X] ||| [X] a [X] ||| [2] [1] b").target == (2, 1, "b")


def test_tables_are_joined() -> None:
    one = table_of([Rule((1, "a"), ("x", 1), {"A": 1}, ((1, 0),))])
    two = table_of([Rule(("b", 1, "a", 2), ("y", 2, "x", 1), {"B": 2, "A": 3}, ((0, 0),)), Rule(("c",), ("z",))])
    joined = join_tables([one, two, one])
    assert joined.source_words == ("a", "b", "c") and joined.target_words == ("x", "y", "z")
    assert joined.feature_names == ("A", "B")
    assert lines(joined) == [
        "[X] ||| [X,1] a ||| x [X,1] ||| A=1 B=0 ||| 1-0",
        "[X] ||| b [X,1] a [X,2] ||| y [X,2] x [X,1] ||| A=3 B=2 ||| 0-0",
        "[X] ||| c ||| z ||| A=0 B=0",
        "[X] ||| [X,1] a ||| x [X,1] ||| A=1 B=0 ||| 1-0",
    ]
    assert joined.rule(-1) == joined.rule(0)
    with pytest.raises(IndexError):
        joined.rule(4)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("[X] ||| a", "2 fields"),
        ("[X] ||| a ||| b ||| ||| ||| c", "6 fields"),
        ("[S] ||| a ||| b", "the only non-terminal"),
        ("[X] ||| a [NP,1] ||| b [NP,1]", "[NP,1] is no gap"),
        ("[X] ||| a ||| [X]", "[X] is no gap"),
        ("[X] ||| a [X,1] ||| b", "every gap"),
        ("[X] ||| a ||| b [X,1]", "not in the source"),
        ("[X] ||| a [X,1] [X,1] ||| b [X,1]", "twice"),
        ("[X] ||| a [X,1] [X,2] [X,3] ||| [X,1] [X,2] [X,3]", "3 gaps"),
        ("[X] ||| [X,1] ||| [X,1] a", "no word"),
        ("[X] ||| ||| a", "no word"),
        ("[X] ||| a |||", "empty"),
        ("[X] ||| a ||| b ||| A=x", "no finite number"),
        ("[X] ||| a ||| b ||| A=inf", "no finite number"),
        ("[X] ||| a ||| b ||| A=1e39", "no finite number"),
        ("[X] ||| a ||| b ||| A=1 ||| 0-1", "does not join"),
        ("[X] ||| a [X,1] ||| b [X,1] ||| A=1 ||| 1-1", "does not join"),
        ("[X] ||| a ||| b ||| A=1 ||| 0", "does not join"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_line(tmp_path: Path, line: str, what: str) -> None:
    path = tmp_path / "g.gz"
    path.write_bytes(gzip.compress(f"[X] ||| a ||| b\n\n{line}\n".encode()))
    with pytest.raises(InputError) as caught:
        read_rules(path)
    assert str(caught.value).startswith(f"{path}:3: ") and what in str(caught.value)


def test_a_grammar_whose_rules_all_have_features_of_their_own_is_refused(tmp_path: Path) -> None:
    """Else 100,000 short lines would need a matrix of 40 GB."""
    (tmp_path / "rules").write_text("".join(f"[X] ||| a ||| b ||| f{number}=1\n" for number in range(201)))
    with pytest.raises(InputError, match=r"rules:201: .* more than 200 different features"):
        read_rules(tmp_path / "rules")
