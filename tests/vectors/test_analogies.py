"""Analogies: gensim's accuracy on known words, composed words, and a file's faults."""

from __future__ import annotations

import warnings
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from morphlm import evaluate_analogies, read_analogies
from morphlm.errors import ConfigError, InputError
from morphlm.vectors.analogies import METHODS, QUESTIONS_A_CALL
from morphlm.vectors.keyed import KeyedVectors
from morphlm.vectors.search import unit_rows
from tests.segmentation.small import model_with
from tests.vectors.test_interface import WORDS, gensim_of, matrix


def make_questions(path: Path, number: int) -> list[tuple[str, ...]]:
    rng, theirs = np.random.default_rng(5), gensim_of()
    questions: list[tuple[str, ...]] = []
    for k in range(number):
        a, b, c = rng.choice(WORDS, 3, replace=False).tolist()
        with warnings.catch_warnings(action="ignore"):
            answer = (theirs.most_similar, theirs.most_similar_cosmul)[k % 2]([b, c], [a], topn=1)[0][0]
        questions.append((a, b, c, answer if k % 3 else str(rng.choice(WORDS))))
    path.write_text(": all of them\n" + "".join(f"{' '.join(question)}\n" for question in questions))
    return questions


def test_accuracies_of_known_words_are_gensim_s(tmp_path: Path) -> None:
    questions = make_questions(tmp_path / "questions.txt", 2 * QUESTIONS_A_CALL + 5)
    ours = evaluate_analogies(KeyedVectors(WORDS, matrix()), read_analogies(tmp_path / "questions.txt"), prepared=True)
    theirs = gensim_of()
    (section,) = ours.sections
    expected, _ = theirs.evaluate_word_analogies(str(tmp_path / "questions.txt"), case_insensitive=False)
    assert section.accuracy_known("3CosAdd") == pytest.approx(expected)
    assert section.accuracy("3CosAdd") == pytest.approx(expected)
    with warnings.catch_warnings(action="ignore"):
        by_products = [theirs.most_similar_cosmul([b, c], [a], topn=1)[0][0] == d for a, b, c, d in questions]
    assert section.accuracy_known("3CosMul") == pytest.approx(np.mean(by_products))
    assert section.correct["3CosAdd"] != section.correct["3CosMul"]


def test_composed_words_ask_and_answer(tmp_path: Path) -> None:
    vectors = model_with().vectors
    triple = ("domu", "domou", "polu")
    answer = vectors.most_similar(["domou", "polu"], ["domu"], topn=1)[0][0]
    lines = [": known", "domu doma polu pole", ": new", f"{' '.join(triple)} {answer}", "domu doma polu brrr"]
    (tmp_path / "questions.txt").write_text("\n".join(lines) + "\n")
    result = evaluate_analogies(vectors, read_analogies(tmp_path / "questions.txt"))
    known, new = result.sections
    assert (known.questions, new.questions, new.known, new.covered) == (1, 2, 0, 1)
    assert new.accuracy_known("3CosAdd") is None
    assert new.accuracy("3CosAdd") in (0.0, 0.5)
    closed = evaluate_analogies(vectors.using(compose=False), read_analogies(tmp_path / "questions.txt"))
    assert closed.sections[1].covered == 0
    assert closed.total.questions == 3


def test_a_composed_answer_is_found_among_the_words_of_the_questions(tmp_path: Path) -> None:
    vectors = model_with().vectors
    units, (answer,) = unit_rows(vectors.vectors), unit_rows(vectors.rows(["domou"]))
    assert vectors.origin("domou") == "composed"

    def is_nearest(question: tuple[int, ...]) -> bool:
        a, b, c = question
        target = units[b] - units[a] + units[c]
        return bool(answer @ target > np.delete(units @ target, question).max())

    asked = next(question for question in permutations(range(len(vectors)), 3) if is_nearest(question))
    words = [vectors.index_to_key[index] for index in asked]
    (tmp_path / "questions.txt").write_text(f": x\n{' '.join(words)} domou\n")
    total = evaluate_analogies(vectors, read_analogies(tmp_path / "questions.txt")).total
    assert (total.known, total.covered, total.correct["3CosAdd"], total.correct_known["3CosAdd"]) == (0, 1, 1, 0)


def test_results_as_text_and_json(tmp_path: Path) -> None:
    make_questions(tmp_path / "questions.txt", 9)
    result = evaluate_analogies(
        KeyedVectors(WORDS, matrix()), read_analogies(tmp_path / "questions.txt"), prepared=True
    )
    text, record = result.format(), result.to_json()
    assert text.splitlines()[-1] == result.signature == "analogies|model:vectors|d:6|V:30|case:kept"
    assert "all of them" in text
    assert record["total"]["questions"] == 9
    assert record["sections"][0]["accuracy"] == {m: result.total.correct[m] / 9 for m in METHODS}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a b c d\n", r"questions\.txt:1: a section must begin first"),
        (": x\na b c\n", r"questions\.txt:2: not four words"),
        (": x\na b c d e\n", r"questions\.txt:2: not four words"),
        (":\na b c d\n", r"questions\.txt:1: a section must begin first"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "questions.txt").write_text(text)
    with pytest.raises(InputError, match=what):
        read_analogies(tmp_path / "questions.txt")


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "questions.txt").write_text(": x\n")
    with pytest.raises(ConfigError, match="there are no questions"):
        evaluate_analogies(KeyedVectors(WORDS, matrix()), read_analogies(tmp_path / "questions.txt"))
