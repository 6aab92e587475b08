import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.text.datasets.sentences import split_sentences

CASES = [
    ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
    ("Choose Save as... Then wait.", ["Choose Save as...", "Then wait."]),
    ("It says “Done.” Ändern Sie (nichts.) Ещё раз.", ["It says “Done.”", "Ändern Sie (nichts.)", "Ещё раз."]),
    ("Use e.g. Writer or z. B. Calc, т. е. Таблицу.", ["Use e.g. Writer or z. B. Calc, т. е. Таблицу."]),
    ("Am 1. Januar, vgl. Abb. Zwei, např. Praha.", ["Am 1. Januar, vgl. Abb. Zwei, např. Praha."]),
    ("version 7.4 is out. it goes on", ["version 7.4 is out. it goes on"]),
    (
        "Open the file a.odt. „Ano“ znamená ano. ¿Qué? «Да».",
        ["Open the file a.odt.", "„Ano“ znamená ano.", "¿Qué?", "«Да»."],
    ),
    ("문서를 엽니다. 그런 다음 저장합니다.", ["문서를 엽니다.", "그런 다음 저장합니다."]),
    ("यह पहला है। यह दूसरा है. फिर", ["यह पहला है।", "यह दूसरा है.", "फिर"]),
    ("Use the 1. ª form. º no", ["Use the 1. ª form. º no"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "sentences"), CASES)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.lists(st.sampled_from(["A", "b.", "C!", "Např.", "ř?", "(D.)", "1.", "“E”", "…"]), max_size=12))
def test_sentences_joined_give_the_paragraph_back(words: list[str]) -> None:
    text = " ".join(words)
    assert " ".join(split_sentences(text)) == text
