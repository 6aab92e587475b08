"""Sentences with grammars and constraints of their own, markup and lattices."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.translation.decoder.constrained import Constraint
from morphlm.translation.grammar.rules import write_rules
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.segments import Segment, SegmentReader
from morphlm.translation.system.system import TranslationSystem
from tests.conftest import Outcome

from ..generated import sentences, small_system

Command = Callable[..., Outcome]
PLAIN = SegmentReader(SystemConfig(tokenise=False))
SEGS = SegmentReader(SystemConfig(tokenise=False), sentence_grammars=True)
SOURCE = "the noun1s verb3 the noun2 ."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_system(tmp_path_factory.mktemp("segments"), count=80)


@pytest.fixture(scope="module")
def system(place: Path) -> TranslationSystem:
    return TranslationSystem.load(place)


# ---------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("A  b", Segment(("a", "b"))),
        ("", Segment(())),
        ('<seg id="7" grammar="g.gz">A b</seg>', Segment(("a", "b"), 7, ("g.gz",))),
        ("  <seg grammar = 'my file' >a < b</seg> ", Segment(("a", "<", "b"), None, ("my file",))),
        (
            '<seg grammar10="c" grammar2="b" grammar1="a" grammar="0" docid="x">a</seg>',
            Segment(("a",), None, ("0", "a", "b", "c")),
        ),
        ("<seg></seg>", Segment(())),
        ("<segment> a", Segment(("<segment>", "a"))),
        ("a <b> c </b>", Segment(("a", "<b>", "c", "</b>"))),
    ],
)
def test_lines(line: str, expected: Segment) -> None:
    assert SEGS.segment(line) == expected


@pytest.mark.parametrize(
    ("reader", "line", "what"),
    [
        (PLAIN, '<seg id="7">a</seg>', "--sentence-grammars|sentence_grammars=True"),
        (SEGS, '<seg id="7">a', "not like `<seg"),
        (SEGS, '<SEG id="7">a</SEG>', "in small letters"),
        (SEGS, "<seg id=7>a</seg>", "not like `<seg"),
        (SEGS, '<seg id="x">a</seg>', "no whole number"),
        (SEGS, '<seg id="1" id="2">a</seg>', "twice"),
        (SEGS, '<seg grammar0="g">a</seg>', "no grammar0"),
        (SEGS, '<seg grammar="-">a</seg>', "names no file"),
        (PLAIN, "((('the',1.0,1),),(('house',0.5,1),('home',0.5,1),),)", "word lattice"),
        (SegmentReader(SystemConfig(tokenise=False), markup="refuse"), 'a <n translation="x">b</n>', "markup"),
        (SegmentReader(SystemConfig(tokenise=False), markup="refuse"), "a<br/>b", "<br/>"),
    ],
)
def test_what_is_refused(reader: SegmentReader, line: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        reader.segment(line)


def test_numbers_and_signs_are_no_markup() -> None:
    reader = SegmentReader(SystemConfig(tokenise=False), markup="refuse")
    for line in ("a < b > c", "3<4 and 5>4", "<3", "(((a) b) c)"):
        assert reader.segment(line).tokens == tuple(line.split())


# ---------------------------------------------------------------- grammars of sentences


def test_the_grammar_of_a_sentence_gives_what_its_rules_give(
    place: Path, system: TranslationSystem, tmp_path: Path, morphlm_command: Command
) -> None:
    """The rules of each sentence in a file of its own: translations are those of the system that finds them."""
    texts = [" ".join(source) for source, _ in sentences(4, 5)]
    lines = []
    for number, text in enumerate(texts):
        write_rules(tmp_path / f"g{number}.gz", system.rules(text.split()))
        lines.append(f'<seg grammar="{tmp_path}/g{number}.gz" id="{10 * number}">{text}</seg>\n')
    (tmp_path / "segs").write_text("".join(lines))
    (tmp_path / "plain").write_text("".join(f"{text}\n" for text in texts))
    plain = morphlm_command("translate", "decode", place, tmp_path / "plain", "--kbest", "3")
    grammars = morphlm_command(
        "translate", "decode", place, tmp_path / "segs", "--kbest", "3", "--sentence-grammars", "--threads", "2"
    )
    assert grammars.status == 0
    expected = [line.partition(" ||| ")[::2] for line in plain.stdout.splitlines()]
    assert [line.partition(" ||| ")[::2] for line in grammars.stdout.splitlines()] == [
        (f"{10 * int(number)}", rest) for number, rest in expected
    ]
    refused = morphlm_command("translate", "decode", place, tmp_path / "segs")
    assert refused.status == 2 and "segs:1: this is a <seg>" in refused.stderr


def test_features_that_only_grammars_of_sentences_have(place: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "g").write_text("[X] ||| x ||| one ||| Own=1\n[X] ||| x ||| two ||| Own=2\n")
    (tmp_path / "text").write_text(f'<seg grammar="{tmp_path}/g">x</seg>\nx\n')
    weights = "--weights", "Own=1 EgivenF=0.5"
    outcome = morphlm_command("translate", "decode", place, tmp_path / "text", *weights, "--sentence-grammars")
    assert (outcome.status, outcome.stdout) == (0, "two\nx\n") and "no grammar has" not in outcome.stderr
    outcome = morphlm_command(
        "translate", "decode", place, tmp_path / "text", "--weights", "Own=-1 Onw=1", "--sentence-grammars"
    )
    assert outcome.stdout == "one\nx\n" and "features that no grammar has: Onw" in outcome.stderr
    outcome = morphlm_command("translate", "decode", place, tmp_path / "text", *weights)
    assert outcome.status == 2 and "a weight for Own" in outcome.stderr
    with pytest.raises(ConfigError, match="a weight for Own"):
        TranslationSystem.load(place, weights={"Own": 1.0})
    system = TranslationSystem.load(place, weights={"Own": 1.0}, sentence_grammars=True)
    assert tuple(system.translate(SOURCE).features) == system.feature_names
    (tmp_path / "text").write_text(f'x\n<seg grammar="{tmp_path}/none">x</seg>\n')
    outcome = morphlm_command("translate", "decode", place, tmp_path / "text", "--sentence-grammars")
    assert outcome.status == 2 and outcome.stdout == "x\n" and f"{tmp_path}/none" in outcome.stderr


# ---------------------------------------------------------------- constraints


def test_forced_and_prefix_in_python(system: TranslationSystem) -> None:
    best = system.translate(SOURCE)
    forced = system.translate_forced(SOURCE, " ".join(best.tokens).upper())
    assert forced is not None and forced.tokens == best.tokens and forced.score == pytest.approx(best.score, abs=1e-6)
    other = next(one for one in best.kbest(50) if one.tokens[:1] != best.tokens[:1])
    found = system.translate_prefix(SOURCE, list(other.tokens[:1]))
    assert found is not None and found.tokens[:1] == other.tokens[:1] and found.score >= other.score - 1e-9
    assert system.translate_forced(SOURCE, ["no", "such", "thing"]) is None
    begun = system.translate_prefix(SOURCE, other.tokens[0][:-1], incomplete=True)
    assert begun is not None and begun.tokens[0].startswith(other.tokens[0][:-1])
    assert system.translate_prefix(SOURCE, "", incomplete=True) is not None
    segment = Segment(tuple(SOURCE.split()), constraint=Constraint(other.tokens[:1]))
    [again] = system.map_segments(lambda _, translation: translation, [segment])
    assert again is not None and again.to_json() == found.to_json()


def test_constraints_on_the_command_line(
    place: Path, system: TranslationSystem, tmp_path: Path, morphlm_command: Command
) -> None:
    (tmp_path / "text").write_text(f"{SOURCE}\n{SOURCE}\n\n")
    best = system.translate(SOURCE)
    (tmp_path / "target").write_text(f"{' '.join(best.tokens)}\nnothing\n\n")
    decode = "translate", "decode", place, tmp_path / "text"
    outcome = morphlm_command(*decode, "--force", tmp_path / "target")
    assert outcome.stdout.splitlines()[:2] == [f"{best.score:.6g}", "-inf"] and len(outcome.stdout.splitlines()) == 3
    assert "1 sentence cannot be translated so" in outcome.stderr
    objects = morphlm_command(*decode, "--force", tmp_path / "target", "--json").stdout.splitlines()
    assert [json.loads(line)["reachable"] for line in objects] == [True, False, True]
    lists = morphlm_command(*decode, "--force", tmp_path / "target", "--kbest", "5").stdout.splitlines()
    assert [line.split(" ||| ")[0] for line in lists] == ["0", "2"]
    (tmp_path / "target").write_text(f"{best.tokens[0]}\nnothing\n\n")
    outcome = morphlm_command(*decode, "--prefix", tmp_path / "target")
    assert outcome.stdout == f"{' '.join(best.tokens)}\n\n\n"
    (tmp_path / "target").write_text(f"{best.tokens[0]}\n")
    outcome = morphlm_command(*decode, "--prefix", tmp_path / "target")
    assert outcome.status == 2 and "fewer lines than the text" in outcome.stderr
    (tmp_path / "target").write_text(f"{best.tokens[0]}\n\n\n\n")
    outcome = morphlm_command(*decode, "--prefix", tmp_path / "target", "--incomplete")
    assert outcome.status == 2 and "more lines than the text" in outcome.stderr
    (tmp_path / "target").write_bytes(f"{best.tokens[0]}\r\n\r\n\r\n".encode())
    outcome = morphlm_command(*decode, "--prefix", tmp_path / "target")
    assert outcome.status == 2 and "target:1: there is a carriage return" in outcome.stderr
    outcome = morphlm_command(*decode, "--prefix", tmp_path / "target", "--mend")
    assert outcome.status == 0 and "3 CRLF line ends replaced" in outcome.stderr
    outcome = morphlm_command(*decode, "--incomplete")
    assert outcome.status == 2 and "belongs to --prefix" in outcome.stderr
