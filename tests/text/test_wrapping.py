from __future__ import annotations

import random
import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.text.sentences import join_wrapped
from morphlm.text.wrapping import STRETCH

WORDS = (
    "a když pes velmi rychle utíkal přes nekonečné pole tak jsme se všichni dívali " + "protože Praha bylo daleko"
).split()
lines = st.lists(
    st.one_of(st.text(max_size=90), st.sampled_from(["", "  a", "slovo-", "Konec.", "- bod", "dlouhé slovo " * 5]))
)


def paragraph(rng: random.Random, sentences: int) -> str:
    made = (" ".join(rng.choices(WORDS, k=rng.randint(4, 20))).capitalize() + "." for _ in range(sentences))
    return " ".join(made)


def paragraphs(count: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    return [paragraph(rng, rng.randint(1, 8)) for _ in range(count)]


def wrapped(text: list[str], width: int, indent: str = "", blank: bool = False) -> list[str]:
    found = []
    for one in text:
        found += textwrap.wrap(one, width, initial_indent=indent, break_on_hyphens=False) + [""] * blank
    return found


@pytest.mark.parametrize("width", [45, 60, 72, 80, 100])
@pytest.mark.parametrize(("indent", "blank"), [("", True), ("    ", False), ("  ", True)])
def test_paragraphs_are_joined(width: int, indent: str, blank: bool) -> None:
    text = paragraphs(100)
    assert join_wrapped(wrapped(text, width, indent, blank)) == text


def test_without_marks_of_paragraphs_no_sentence_is_broken() -> None:
    text = paragraphs(100)
    joined = join_wrapped(wrapped(text, 72))
    assert " ".join(joined) == " ".join(text)
    assert all(one.endswith(".") for one in joined)


def test_first_lines_that_have_lost_their_indent() -> None:
    text = paragraphs(100)
    joined = join_wrapped([line.strip() for line in wrapped(text, 76, "     ")])
    assert all(one.endswith(".") for one in joined)


@pytest.mark.parametrize("separator", [[], [""]])
def test_a_sentence_or_a_paragraph_a_line_stays(separator: list[str]) -> None:
    for text in (paragraphs(300), [paragraph(random.Random(seed), 1) for seed in range(300)]):
        assert join_wrapped([line for one in text for line in [one, *separator]]) == text


def test_poems_lists_and_tables_stay() -> None:
    rng = random.Random(1)
    poem = [
        " ".join(rng.choices(WORDS, k=rng.randint(4, 7))).capitalize() + rng.choice(["", ",", "."]) for _ in range(200)
    ]
    words = sorted({"".join(rng.choices("abcdefg", k=rng.randint(2, 12))) for _ in range(300)})
    table = [f"{number:10}\t{rng.random():10.6f}\tName {number:5}" for number in range(200)]
    for text in (poem, words, table):
        assert join_wrapped(text) == [line.strip() for line in text]


def test_dialogue_and_items_begin_a_paragraph() -> None:
    text = paragraphs(30)
    lines = [*wrapped(text, 60), "- Kam jdeš?", "- Domů.", "1. první bod", "2. druhý bod"]
    assert join_wrapped(lines)[-4:] == ["- Kam jdeš?", "- Domů.", "1. první bod", "2. druhý bod"]


def test_texts_one_after_the_other_are_judged_apart() -> None:
    plain, prose = paragraphs(3 * STRETCH, 2), paragraphs(100, 3)
    assert join_wrapped(plain + wrapped(prose, 70, blank=True) + plain) == plain + prose + plain


def test_hyphenated_words_are_put_together() -> None:
    prose = wrapped(paragraphs(40), 60, blank=True)
    hyphenated = ["Tak šli všichni spolu pomalu a dlouho přes to neko-", "nečné pole.", ""]
    assert "přes to nekonečné pole." in join_wrapped(prose + hyphenated)[-1]  # the word occurs elsewhere
    soft = ["Tak šli všichni spolu pomalu a dlouho přes ten nezná\xad", "mý kraj.", ""]
    assert "přes ten neznámý kraj." in join_wrapped(prose + soft)[-1]
    compound = ["Tak šli všichni spolu pomalu a dlouho přes ten česko-", "německý kraj.", ""]
    assert "přes ten česko-německý kraj." in join_wrapped(prose + compound)[-1]


def test_where_most_words_are_hyphenated_all_are() -> None:
    rng = random.Random(1)
    text = wrapped(paragraphs(100), 60, blank=True)
    broken = [f"{line[:-1]}x-" if line and rng.random() < 0.2 and not line.endswith(".") else line for line in text]
    joined = join_wrapped(broken)
    assert "x-" not in "".join(joined)


@given(lines)
def test_only_white_space_and_hyphens_at_line_ends_are_lost(text: list[str]) -> None:
    def characters(some: list[str]) -> str:
        return re.sub(r"[\s\-‐¬\xad]", "", "".join(some))

    joined = join_wrapped(text)
    assert characters(joined) == characters(text)
    assert all(one == one.strip() != "" for one in joined)


@given(
    st.lists(
        st.sampled_from(["slovo " * 9 + "konec", "dál jde věta " * 4, "a pak je konec.", "", "Nový odstavec je"]),
        max_size=60,
    )
)
def test_nothing_is_lost_of_wrapped_lines(text: list[str]) -> None:
    assert " ".join(join_wrapped(text)).split() == " ".join(text).split()
