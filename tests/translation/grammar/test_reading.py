"""The compiled reader of grammar files gives what the plain one gives: `parse_rule` for each line, then `table_of`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morphlm.errors import InputError, located
from morphlm.text import reading as text_reading
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.grammar.reading import read_rules
from morphlm.translation.grammar.rules import MOST_FEATURES, Rule, RuleTable, parse_rule, select_rules, table_of

in_tmp_path = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

SYMBOLS = "a b é \u2028 \\a [ ] [] [X] [X,1] [X,2] [X,3] [X,01] [X,0] [X,12345] [1] [2] [0] [NP,1]"
SYMBOLS += " \\[X] \\\\[X,1] \\ \\||| ||||"
FEATURES = "A=1 A=-2.5 B=1e-05 1 -0 =3 A= A=x A=inf A=1e39 A=0.1234567890123456789 a=b=2 A=1_0 A=+.5 A=. A=-"
LINKS = "0-0 1-0 0-1 1-1 2-2 00-0 0 - 0- -0 0-0-0 99999-0 x-0"


def sequence(items: str, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(items.split(" ")), max_size=most)


@st.composite
def grammar_lines(draw: st.DrawFn) -> str:
    """Lines that are often rules, and often nearly so."""
    fields = [["[X]"], draw(sequence(SYMBOLS, 3)), draw(sequence(SYMBOLS, 3))]
    fields += [draw(sequence(FEATURES, 3)), draw(sequence(LINKS, 2)), []][: draw(st.integers(0, 3))]
    if draw(st.integers(0, 9)) == 0:
        fields[0] = draw(st.sampled_from([[], ["[S]"], ["[X"], ["a"], ["[X]", "a"], ["[X,1]"]]))
    blank = st.sampled_from([" ", "  ", "\t"])
    tokens = [token for field in fields for token in (*field, "|||")][:-1]
    line = "".join(token + draw(blank) for token in tokens)
    return draw(st.sampled_from([line, line.strip(), " " + line, "", " \t"]))


def plain_table(name: str, lines: Sequence[str]) -> RuleTable:
    rules, names = [], set[str]()
    for number, line in enumerate(lines, 1):
        if line.strip(" \t"):
            with located(name, number):
                rules.append(parse_rule(line))
                names |= rules[-1].features.keys()
                if len(names) > MOST_FEATURES:
                    raise InputError(f"the grammar has more than {MOST_FEATURES} different features; use fewer")
    return table_of(rules)


def outcome(work: object, *arguments: object) -> RuleTable | str:
    try:
        return work(*arguments)  # type: ignore[operator]
    except InputError as error:
        return str(error)


def assert_same(one: RuleTable | str, other: RuleTable | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    for name, expected in vars(other).items():
        value = getattr(one, name)
        assert type(value) is type(expected), name
        if isinstance(value, np.ndarray):
            assert value.dtype == expected.dtype and value.shape == expected.shape, name
        assert np.array_equal(value, expected), name


@in_tmp_path
@given(st.lists(grammar_lines(), min_size=1, max_size=6))
def test_the_same_table_or_the_same_error_as_line_by_line(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "grammar"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    assert_same(outcome(read_rules, path), outcome(plain_table, str(path), lines))


def test_the_earliest_error_is_told(tmp_path: Path) -> None:
    """A number that only Python reads is looked at after its block, in which a later line may be wrong too."""
    path = tmp_path / "grammar"
    path.write_text("[X] ||| a ||| b ||| A=1e3\n[X] ||| a ||| b ||| A=1e99\n[X] ||| a\n")
    with pytest.raises(InputError, match=r":2: the feature 'A=1e99' has no finite number"):
        read_rules(path)


def test_words_keep_their_numbers_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of words grow between blocks; here they do so many times."""
    monkeypatch.setattr(text_reading, "BLOCK_BYTES", 200)
    rng = np.random.default_rng(1)
    lines = [
        f"[X] ||| s{rng.integers(40)} [X,1] s{number} ||| [X,1] t{rng.integers(300)} ||| F{number % 7}={number}.5 7"
        for number in range(400)
    ]
    path = tmp_path / "grammar"
    path.write_text("\n".join(lines))
    assert_same(read_rules(path), plain_table(str(path), lines))


def test_a_feature_given_twice_has_its_last_value(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("[X] ||| a ||| b ||| A=1 B=2 A=3\n")
    assert read_rules(tmp_path / "grammar").features.tolist() == [[3, 2]]


rule_symbols = st.lists(st.sampled_from(["a", "b", "C", "d"]), min_size=1, max_size=3)


@given(
    st.lists(st.tuples(rule_symbols, rule_symbols, st.integers(0, 2)), max_size=8), st.lists(st.sampled_from("abCde"))
)
def test_rules_of_a_sentence_are_those_whose_words_it_has(
    sides: list[tuple[list[str], list[str], int]], tokens: list[str]
) -> None:
    rules = [
        Rule((*range(1, gaps + 1), *source), (*target, *range(gaps, 0, -1)), {"A": count}, ((gaps, 0),))
        for count, (source, target, gaps) in enumerate(sides)
    ]
    rules.append(Rule((1, 2), (2, 1), {"B": 1}))
    extra = ExtraRules(table_of(rules))
    expected = [rule for rule in rules if {item for item in rule.source if isinstance(item, str)} <= set(tokens)]
    assert_same(extra.for_sentence(tokens), table_of(expected, extra.table.feature_names))
    assert extra.capitalised == sum("C" in rule.source for rule in rules)


def test_selected_rules_may_come_twice_and_in_any_order() -> None:
    table = table_of([Rule(("a", 1), ("x", 1), {"A": 1}, ((0, 0),)), Rule(("b",), ("y",), {"B": 2}, ((0, 0),))])
    chosen = select_rules(table, np.array([1, 0, 1]))
    assert [rule.to_line() for rule in chosen] == [table.rule(number).to_line() for number in (1, 0, 1)]
    assert chosen.source_words == ("b", "a") and chosen.target_words == ("y", "x")
