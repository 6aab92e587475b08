"""Capital letters: Viterbi finds what trying all forms finds, and what is learned is what the text shows."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.modelfile import MANIFEST
from morphlm.ngram.training import train_ngram
from morphlm.text.preparation import PrepareOptions
from morphlm.translation import (
    Recaser,
    TranslationQuery,
    TranslationSystem,
    Translator,
    evaluate_recaser,
    train_recaser,
)
from morphlm.translation.recasing.positions import capital_positions, is_in_capitals, unsure_positions
from morphlm.translation.recasing.training import truecased
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import RECASER, read_manifest
from morphlm.vocabulary.vocabulary import END_ID
from tests.conftest import Outcome

from ..generated import sentences, small_system, write

Command = Callable[..., Outcome]
OPTIONS = PrepareOptions(tokeniser="none", digits=False)
ENGLISH = """The May elections may be late .
We may see the EU in May .
May we go ? The EU may not .
In May the iPhone may be cheap .
" We may , " said May .
EU LEADERS MEET IN PARIS
"""


@pytest.fixture
def english(tmp_path: Path) -> Recaser:
    (tmp_path / "text").write_text(ENGLISH)
    return train_recaser(tmp_path / "text", OPTIONS, tmp_path / "model")


# ---------------------------------------------------------------- positions and training


def test_positions() -> None:
    tokens = ['"', "Yes", ",", '"', "he", "said", ":", '"', "No", ".", "Never", "!", "(", "5", "Apples", ")"]
    assert [tokens[k] for k in sorted(capital_positions(tokens))] == ["Yes", "Never", "5"]
    assert [tokens[k] for k in sorted(unsure_positions(tokens))] == ["Yes", "he", "No", "Never", "5"]
    assert capital_positions(["...", "!"]) == set()
    assert is_in_capitals(["EU", "LEADERS", "MEET"]) and not is_in_capitals(["EU"])
    assert not is_in_capitals(["The", "EU", "meets"])


def test_what_begins_sentences_is_learned_from_elsewhere() -> None:
    text = [line.split() for line in ENGLISH.splitlines()]
    assert [" ".join(tokens) for tokens in truecased(text, str.lower)] == [
        "the May elections may be late .",
        "we may see the EU in May .",
        "may we go ? the EU may not .",  # `may` is more frequent than `May` where it is sure
        "in May the iPhone may be cheap .",
        '" we may , " said May .',
    ]
    assert list(truecased([["IBM", "grows"], ["McDonald", "too"]], str.lower)) == [
        ["IBM", "grows"],
        ["McDonald", "too"],
    ]


# ---------------------------------------------------------------- the search

form_words = st.sampled_from(["a", "A", "b", "B", "BB", "bB", "c", ".", "unseen"])


@given(st.lists(st.lists(form_words, min_size=1, max_size=5), min_size=3, max_size=8), st.lists(form_words, max_size=5))
def test_the_best_sequence_of_all(text: list[list[str]], tokens: list[str]) -> None:
    model = train_ngram([*text, ["A", "b"], ["B", "a"]], 3)
    recaser = Recaser(model, OPTIONS)
    small = [token.lower() for token in tokens]
    forms: dict[str, list[str]] = {}
    for word in model.vocabulary.words[3:]:
        forms.setdefault(word.lower(), []).append(word)

    def total(sequence: tuple[str, ...]) -> float:
        state, result = model.begin(), 0.0
        for word in (*model.vocabulary.encode(sequence).tolist(), END_ID):
            logprob, state = model.score_id(state, word)
            result += logprob
        return result

    scores = {sequence: total(sequence) for sequence in product(*(forms.get(token, [token]) for token in small))}
    found = tuple(recaser._likeliest(small, dict.fromkeys(range(len(small)), "never seen")))
    assert total(found) == pytest.approx(max(scores.values()), abs=1e-5)


def recased(recaser: Recaser, text: str) -> str:
    return " ".join(recaser.recase(text.split()))


def test_contexts_decide(english: Recaser) -> None:
    assert english.recase(["we", "may", "see", "the", "eu", "in", "may", "."]) == [
        "We",
        "may",
        "see",
        "the",
        "EU",
        "in",
        "May",
        ".",
    ]
    assert english.recase(["iphone", "sales", ".", "may", "we", "?"])[:2] == ["iPhone", "sales"]
    assert english.recase(['"', "the", "eu"]) == ['"', "The", "EU"]
    assert english.most_frequent(["in", "may"]) == ["In", "may"]
    assert english.recase([]) == []
    again = pickle.loads(pickle.dumps(english))
    assert again.recase(["in", "may"]) == english.recase(["in", "may"])


def test_hints_are_for_words_that_were_never_seen(english: Recaser) -> None:
    assert english.recase(["the", "eu", "in", "new-york", "."], {3: "New-York", 1: "Eu"})[1:4] == [
        "EU",
        "in",
        "New-York",
    ]


def test_unknown_words_are_written_as_rare_ones_with_their_ending() -> None:
    """As in German: words in -ung have a capital, those in -lich none; after an article most rare words have one."""
    rng = np.random.default_rng(1)
    text = []
    for k in range(300):
        stem = "".join(rng.choice(list("abcdefgh"), 6))
        text.append(["sie", "sah", "die", f"{stem.title()}ung" if k % 2 else f"{stem.title()}heit", "."])
        text.append(["sie", "war", f"{stem}lich", "."])
    recaser = Recaser(train_ngram(text, 3), OPTIONS)
    assert recaser.recase(["sie", "sah", "die", "wohnung", "."])[3] == "Wohnung"
    assert recaser.recase(["sie", "war", "freundlich", "."])[2] == "freundlich"
    assert recaser.recase(["sie", "sah", "die", "xyxyxy", "."])[3] == "Xyxyxy"  # by the context alone
    assert recaser.recase(["sie", "war", "xyxyxy", "."])[2] == "xyxyxy"
    assert recaser.recase(["sie", "war", "12345", "."])[2] == "12345"


def test_turkish_and_odd_letters() -> None:
    model = train_ngram([["ve", "Ankara", "ile"], ["ile", "İzmir"]], 2)
    turkish = Recaser(model, PrepareOptions(language="tr", tokeniser="none", digits=False))
    assert turkish.recase(["ile", "izmir"]) == ["İle", "İzmir"]
    assert Recaser(model, OPTIONS).recase(["ile", "ankara"]) == ["Ile", "Ankara"]


# ---------------------------------------------------------------- measuring


def test_accuracy(english: Recaser, tmp_path: Path) -> None:
    accuracy = evaluate_recaser(english, [["We", "may", "go", "in", "May", "."], ["THE", "EU", "may", "not", "."]])
    assert (accuracy.words, accuracy.inner_words) == (9, 7)
    assert accuracy.small_letters == pytest.approx(5 / 9) and accuracy.inner_small_letters == pytest.approx(5 / 7)
    assert accuracy.most_frequent == pytest.approx(7 / 9)  # wrong: May, THE
    assert accuracy.recaser == pytest.approx(8 / 9) and accuracy.inner_recaser == 1.0
    assert "88.89" in accuracy.to_table().format()
    (tmp_path / "test").write_text("1 2 3 .\n")
    with pytest.raises(InputError, match="no word with letters"):
        evaluate_recaser(english, tmp_path / "test")


def test_what_is_no_recaser(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="knows no word with a capital letter"):
        Recaser(train_ngram([["a", "b"]], 2), OPTIONS)
    (tmp_path / "text").write_text("Only the first words .\nOf these have one .\n")
    with pytest.raises(ConfigError, match="knows no word with a capital letter"):
        train_recaser(tmp_path / "text", OPTIONS, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    (tmp_path / "text").write_text("ALL OF THIS\nIS A HEADLINE\n")
    with pytest.raises(InputError, match="no sentence to learn capital letters from"):
        train_recaser(tmp_path / "text", OPTIONS)


# ---------------------------------------------------------------- in systems


def cased_target(pairs: list[tuple[list[str], list[str]]]) -> list[tuple[list[str], list[str]]]:
    """Nouns of the target have a capital, as in German, and so has the first word."""

    def cased(tokens: list[str]) -> list[str]:
        words = [word.capitalize() if word.startswith("sust") else word for word in tokens]
        return [words[0][:1].upper() + words[0][1:], *words[1:]]

    return [(source, cased(target)) for source, target in pairs]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recasing")
    small_system(folder, count=120)
    texts = write(folder, "cased", cased_target(sentences(120, 1)))
    config = SystemConfig(tokenise=False).with_decoder(pop_limit=20)
    sources = Sources(*texts, models=[NamedModel("mkn", folder / "mkn")])
    build_system(folder / "recased", sources, config, threads=1)
    before = read_manifest(folder / "recased").stages
    assert RECASER not in before
    with pytest.raises(ConfigError, match="this system has no recaser"):
        TranslationSystem.load(folder / "recased").load_recaser()
    build_system(folder / "recased", sources, config, recaser=True, threads=1)  # can be added, and changes nothing else
    after = read_manifest(folder / "recased").stages
    assert {name: stage for name, stage in after.items() if name != RECASER} == before and RECASER in after
    build_system(folder / "recased", sources, config, threads=1)  # and stays
    return folder / "recased"


def test_systems_write_capitals(place: Path, tmp_path: Path, morphlm_command: Command) -> None:
    system = TranslationSystem.load(place)
    text = "the noun1s verb3 the noun2 of Rotterdam ."
    plain, cased = system.translate_text(text), system.translate_text(text, truecase=True)
    assert plain == plain.lower() == cased.lower()
    assert cased.split()[0] == plain.split()[0].capitalize()
    assert {"Sust1as", "Sust2o", "Rotterdam"} <= set(cased.split())  # the last is as the source has it
    assert all(word == word.lower() for word in cased.split()[1:] if not word.startswith(("Sust", "Rotter")))
    (tmp_path / "text").write_text(f"{text}\n\n")
    outcome = morphlm_command("translate", "decode", place, tmp_path / "text", "--truecase")
    assert outcome.stdout == f"{cased}\n\n"
    outcome = morphlm_command("translate", "decode", place, tmp_path / "text", "--recaser", place / RECASER, "--json")
    first = json.loads(outcome.stdout.splitlines()[0])
    assert first["text"] == cased and first["translation"] == plain
    lists = morphlm_command("translate", "decode", place, tmp_path / "text", "--truecase", "--kbest", "1").stdout
    assert lists.split(" ||| ")[1] == plain  # which other models score


def test_servers_write_capitals(place: Path) -> None:
    system = TranslationSystem.load(place)
    text = "the noun1s verb3 the noun2 of Rotterdam ."
    [sentence] = Translator(system, recaser=system.load_recaser()).translate(TranslationQuery(text, kbest=2)).sentences
    assert sentence.text == system.translate_text(text, truecase=True) == sentence.kbest[0].text
    assert " ".join(sentence.tokens) == sentence.text.lower()
    again = pickle.loads(pickle.dumps(system))
    assert again.translate_text(text, truecase=True) == sentence.text


def test_a_damaged_recaser_is_refused(place: Path) -> None:
    manifest = place / RECASER / MANIFEST
    content = manifest.read_bytes()
    try:
        manifest.write_bytes(content.replace(b"3", b"4", 1))
        with pytest.raises(FormatError, match="changed or damaged"):
            TranslationSystem.load(place)
    finally:
        manifest.write_bytes(content)


def test_the_command(place: Path, tmp_path: Path, morphlm_command: Command) -> None:
    text = "".join(" ".join(target) + "\n" for _, target in cased_target(sentences(200, 3)))
    test = "".join(" ".join(target) + "\n" for _, target in cased_target(sentences(40, 4)))
    (tmp_path / "text").write_text(text)
    (tmp_path / "test").write_text(test)
    command = "translate", "recaser", tmp_path / "text", "--out", tmp_path / "m", "--no-tokenise"
    outcome = morphlm_command(*command, "--test", tmp_path / "test", "--json")
    found = json.loads(outcome.stdout)["accuracy"]
    assert outcome.status == 0 and found["recaser"] == 1.0 and found["small_letters"] < 0.8
    table = morphlm_command(
        *command[:-3], "--out", tmp_path / "m2", "--no-tokenise", "--test", tmp_path / "test"
    ).stdout
    assert "most frequent form" in table
    outcome = morphlm_command("translate", "recaser", tmp_path / "text", "--out", tmp_path / "n")
    assert outcome.status == 2 and "give --language" in outcome.stderr
    outcome = morphlm_command("translate", "decode", place.parent / "system", tmp_path / "text", "--truecase")
    assert outcome.status == 2 and "this system has no recaser" in outcome.stderr
    bitext = "translate", "build", "--bitext", place / "bitext", "--no-tokenise", "--out", tmp_path / "s", "--recaser"
    outcome = morphlm_command(*bitext)
    assert outcome.status == 2 and "--recaser learns from the target text" in outcome.stderr


def test_probabilities_of_unknown_words_are_finite() -> None:
    """A model all of whose rare words have a capital."""
    recaser = Recaser(train_ngram([["a", "B"], ["a", "C"], ["a", "D"]], 2), OPTIONS)
    assert recaser.recase(["a", "x"]) == ["A", "X"]
    assert math.isfinite(recaser._unknown._context_odds(recaser.model.begin()))
