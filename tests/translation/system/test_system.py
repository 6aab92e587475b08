"""A loaded system: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import copy
import json
import os
import pickle
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.ngram.training import train_ngram
from morphlm.text.preparation import paper_options
from morphlm.text.prepare import prepare_files
from morphlm.translation.decoder.models import forms_of
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.grammar.rules import FEATURES, Rule, RuleTable, table_of
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SOURCE, TARGET, SystemConfig
from morphlm.translation.system.directory import BITEXT, MANIFEST, MODELS, WEIGHTS, read_signed, write_signed
from morphlm.translation.system.schema import SYSTEM
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.tuning import KeptRules, TuningText, read_tuning_text, tune_system
from morphlm.translation.system.weights import given_weights, start_weights
from morphlm.translation.tuning.loop import TuningConfig
from morphlm.translation.tuning.mert import MertConfig

from ..generated import sentences, small_system

TUNING = TuningConfig(kbest=10, iterations=2, mert=MertConfig(restarts=1))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system that was tuned twice."""
    directory = small_system(tmp_path_factory.mktemp("system"))
    tune_system(directory, tuning_text(12), TUNING, seeds=(1, 2))
    return directory


@pytest.fixture(scope="module")
def system(place: Path) -> TranslationSystem:
    return TranslationSystem.load(place)


def tuning_text(count: int) -> TuningText:
    pairs = sentences(count, 2)
    return TuningText(*(tuple(tuple(pair[side]) for pair in pairs) for side in (SOURCE, TARGET)))


# ---------------------------------------------------------------- translating


def test_text_and_tokens(system: TranslationSystem) -> None:
    translation = system.translate("The NOUN1s verb3 the  noun2 .")
    assert translation.to_json() == system.translate(["the", "noun1s", "verb3", "the", "noun2", "."]).to_json()
    assert system.translate_text("the noun1s verb3 the noun2 .") == " ".join(translation.tokens)
    assert "sust1as" in translation.tokens and "sust2o" in translation.tokens
    assert tuple(translation.features) == system.feature_names
    score = sum(system.weights.get(name, 0.0) * value for name, value in translation.features.items())
    assert translation.score == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("turn", [lambda system: pickle.loads(pickle.dumps(system)), copy.copy, copy.deepcopy])
def test_a_system_survives_pickles_and_copies(place: Path, turn: Callable[[TranslationSystem], Any]) -> None:
    system, text = TranslationSystem.load(place), "the noun1s verb3 the noun2 ."
    before = turn(system)
    expected = system.translate(text).to_json()
    assert before.translate(text).to_json() == turn(system).translate(text).to_json() == expected
    assert turn(system).weights == system.weights
    bitext, again = system.extractor.bitext, turn(system).extractor.bitext
    assert (again.source_words, again.lexicon.forward.tolist()) == (
        bitext.source_words,
        bitext.lexicon.forward.tolist(),
    )


@pytest.mark.parametrize("text", ["", "   ", "\t"])
def test_an_empty_line_stays_empty(system: TranslationSystem, text: str) -> None:
    assert system.translate(text).tokens == ()
    assert system.translate_text(text) == ""
    assert [candidate.tokens for candidate in system.translate(text).kbest(5)] == [()]


def test_unknown_words_pass_through(system: TranslationSystem) -> None:
    assert system.translate("Schifffahrt 2012 ||| [X,1] \\").tokens == ("schifffahrt", "2012", "|||", "[x,1]", "\\")
    assert system.translate("the noun1 schifffahrt .").features["PassThrough"] == 1.0


def test_results_do_not_depend_on_threads(system: TranslationSystem) -> None:
    texts = [" ".join(source) for source, _ in sentences(12, 5)]
    one, two = ([t.to_json() for t in system.translate_all(texts, threads=threads)] for threads in (1, 2))
    assert one == two == [system.translate(text).to_json() for text in texts]


def test_a_sentence_of_400_words_has_narrower_spans(
    system: TranslationSystem, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word for source, _ in sentences(60, 6) for word in source][:400]
    translation = system.translate(words)
    assert "a sentence of 400 words: rules cover 7 of them" in capsys.readouterr().err
    assert translation.chart.widest == 7 == system.config.decoder.span_of(400)
    assert 300 < len(translation.tokens) < 500
    system.translate(words[:200])
    assert capsys.readouterr().err == ""
    assert system.config.decoder.span_of(200) == 15
    assert system.config.decoder.span_of(1_000_000) == 1


def test_tokens_are_put_together_and_digits_stay() -> None:
    config = SystemConfig(("en", "de"))
    assert config.prepare('He said: "In 2012, it\'s over!"') == [
        *["he", "said", ":", '"', "in", "2012", ",", "it", "'s", "over", "!", '"']
    ]
    assert config.text_of(["er", "sagte", ":", "im", "jahr", "2012", ",", "ja", "!"]) == "er sagte: im jahr 2012, ja!"
    assert config.prepare("Das 'X' [x] |||", TARGET)[-3:] != ["[x]", "|||"]
    assert SystemConfig(("en", "ru")).prepare("Windows 7 работает", TARGET) == ["windows", "7", "работает"]
    assert SystemConfig(tokenise=False, lowercase=False).prepare("A  b.") == ["A", "b."]
    with pytest.raises(ConfigError, match="tokeniser needs both languages"):
        SystemConfig()


# ---------------------------------------------------------------- words in language models


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Text with digits as 0, as `morphlm prepare` makes it, and its record."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "raw").write_text("Im Jahr 1999 .\nIm Jahr 2001 .\nAm 5. Mai 1999 .\n" * 3)
    prepare_files([folder / "raw"], folder / "text", paper_options("de"))
    return folder


def test_words_are_looked_up_as_the_models_text_has_them(prepared: Path) -> None:
    model = train_ngram(prepared / "text", 3)
    assert model.training["preparation"]["normalisation"] == "lc+digits"
    assert forms_of(model)(["Im", "2012", "12.5", "x", "<s>", "<S>"]) == [
        *["im", "0000", "00.0", "x", "<unk>", "<unk>"]
    ]
    without = train_ngram([["im", "jahr"]], 2)
    assert forms_of(without)(["Im", "2012"]) == ["Im", "2012"]


def test_a_translation_keeps_its_digits_and_the_model_knows_them(prepared: Path, tmp_path: Path) -> None:
    for name, text in (("s", "in the year 1999\nin 1848\n"), ("t", "im jahr 1999\nim jahr 1848\n")):
        (tmp_path / name).write_text(text * 5)
    model = train_ngram(prepared / "text", 3)
    model.save(tmp_path / "mkn")
    config = SystemConfig(tokenise=False)
    given = Sources(tmp_path / "s", tmp_path / "t", models=[NamedModel("mkn", tmp_path / "mkn")])
    build_system(tmp_path / "system", given, config)
    system = TranslationSystem.load(tmp_path / "system")
    for sentence, year in (("in the year 1999", "1999"), ("in the year 2012", "2012")):  # found, and passed through
        found = system.translate(sentence)
        assert found.tokens == ("im", "jahr", year)
        assert found.features["mkn_OOV"] == 0.0
        assert found.features["mkn"] == pytest.approx(sum(model.sentence(["im", "jahr", "0000"])), abs=1e-4)
    assert system.translate("in the year mmxii").features["mkn_OOV"] == 1.0


# ---------------------------------------------------------------- weights


def test_weights_of_runs_and_given_ones(place: Path, system: TranslationSystem) -> None:
    assert system.tuned is not None
    assert [run.seed for run in system.tuned.runs] == [1, 2]
    assert system.weights == system.tuned.best.weights
    assert TranslationSystem.load(place, run=2).weights == system.tuned.runs[1].weights
    assert TranslationSystem.load(place, weights={"mkn": 1.0}).weights == {"mkn": 1.0}
    with pytest.raises(ConfigError, match="no tuning run with the seed 3; there are 1, 2"):
        TranslationSystem.load(place, run=3)
    with pytest.raises(ConfigError, match="a weight for mnk, but no such feature"):
        TranslationSystem.load(place, weights={"mnk": 1.0})
    assert set(start_weights(["mkn"])) <= set(system.feature_names)


def test_given_weights() -> None:
    assert given_weights("a=1 b= 0.5") == {"a": 1.0, "b": 0.5}
    with pytest.raises(ConfigError, match="a has 2 weights"):
        given_weights("a= 1 2")


def test_tuning_again_finds_what_is_there(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (place / WEIGHTS).read_bytes()
    tune_system(place, tuning_text(12), TUNING, seeds=(1, 2))
    assert "tune: found" in capsys.readouterr().err
    assert (place / WEIGHTS).read_bytes() == before


def test_runs_with_other_seeds_stay(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place, tmp_path / "system")
    before = TranslationSystem.load(place).tuned
    assert before is not None
    seeds = [run.seed for run in before.runs]
    tuned = tune_system(tmp_path / "system", tuning_text(12), TUNING, seeds=[7])
    assert [run.seed for run in tuned.runs] == [*seeds, 7]
    assert tuned.run(seeds[0]) == before.run(seeds[0])
    others = tune_system(tmp_path / "system", tuning_text(3), TUNING, seeds=[7])
    assert [run.seed for run in others.runs] == [7]


def test_two_cannot_tune_one_system(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(place, tmp_path / "system")

    def second(*_: object, **__: object) -> None:
        with pytest.raises(ConfigError, match="another process is writing here; wait until it has ended"):
            tune_system(tmp_path / "system", tuning_text(12), TUNING, seeds=[9])
        raise KeyboardInterrupt

    monkeypatch.setattr("morphlm.translation.system.tuning.tune", second)
    with pytest.raises(KeyboardInterrupt):
        tune_system(tmp_path / "system", tuning_text(12), TUNING, seeds=[8])


def test_tuning_mends_what_it_is_asked_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s").write_bytes(b"a b\r\nc <UNK>\n")
    (tmp_path / "t").write_text("x y\nz\n")
    paths, config = (tmp_path / "s", tmp_path / "t"), SystemConfig(tokenise=False)
    with pytest.raises(InputError, match=r"s:1: there is a carriage return .* \(mend=True does it\)"):
        read_tuning_text(*paths, config)
    assert read_tuning_text(*paths, config, mend=True).sources == (("a", "b"), ("c",))
    assert "mended: 1 reserved mark removed" in capsys.readouterr().err


def test_tuning_reads_pairs_and_leaves_out_empty_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s").write_text("A b\n\nc\n")
    (tmp_path / "t").write_text("X\ny\n\n")
    config = SystemConfig(tokenise=False)
    assert read_tuning_text(tmp_path / "s", tmp_path / "t", config) == TuningText((("a", "b"),), (("x",),))
    assert "left out: 2 of 3 pairs to tune on, empty on a side" in capsys.readouterr().err
    (tmp_path / "t").write_text("X\n")
    with pytest.raises(InputError, match=r"s has 3 lines and .*t has 1"):
        read_tuning_text(tmp_path / "s", tmp_path / "t", config)
    (tmp_path / "s").write_text("\n")
    with pytest.raises(InputError, match="no sentences to tune on"):
        read_tuning_text(tmp_path / "s", tmp_path / "t", config)


def test_rules_are_kept_while_there_is_room() -> None:
    calls: list[tuple[str, ...]] = []

    def find(tokens: Sequence[str]) -> RuleTable:
        calls.append(tuple(tokens))
        return table_of([Rule(("a",), ("b",))] * len(tokens))

    rules = KeptRules(find, capacity=3)
    for _ in range(2):
        for sentence in (("a", "a"), ("b", "b"), ("c",)):
            assert len(rules(sentence)) == len(sentence)
    assert calls == [("a", "a"), ("b", "b"), ("c",), ("b", "b")]


# ---------------------------------------------------------------- extra rules


def test_extra_rules_for_a_sentence() -> None:
    rules = [
        Rule(("a", 1, "b"), ("x", 1), {"E": 1.0}),
        Rule(("a",), ("z",), {"F": 2.0}),
        Rule((1, "c"), (1, "y")),
        Rule(("a", "d"), ("w",)),
    ]
    extra = ExtraRules(table_of(rules))
    assert [rule.target for rule in extra.for_sentence(["c", "b", "a", "a"])] == [("x", 1), ("z",), (1, "y")]
    assert len(extra.for_sentence(["e"])) == 0
    swap = Rule((1, 2), (2, 1), {})
    assert ExtraRules(table_of([*rules, swap])).for_sentence(["e"]).rule(0).target == (2, 1)
    joined = extra.joined_to(table_of([], FEATURES), ["e"])
    assert joined.feature_names == (*FEATURES, "E", "F")
    assert extra.joined_to(table_of([], FEATURES), ["a"]).features[0].tolist() == [0.0] * 9 + [2.0]


def test_without_rules_a_sentence_comes_out_as_it_is(tmp_path: Path) -> None:
    """No pattern of the sentence is in the training text: an empty grammar."""
    for name in ("s", "t"):
        (tmp_path / name).write_text("x y\n")
    build_system(tmp_path / "system", Sources(tmp_path / "s", tmp_path / "t"), SystemConfig(tokenise=False))
    system = TranslationSystem.load(tmp_path / "system")
    assert len(system.rules(["a", "b"])) == 0
    assert system.translate("a b").tokens == ("a", "b")


# ---------------------------------------------------------------- what is refused


def test_no_system(tmp_path: Path, place: Path) -> None:
    with pytest.raises(FormatError, match="there is no such translation system"):
        TranslationSystem.load(tmp_path / "none")
    with pytest.raises(FormatError, match=r"system.json is missing"):
        TranslationSystem.load(tmp_path)
    with pytest.raises(FormatError, match=r"system.json is missing"):
        TranslationSystem.load(place.parent / "mkn")


@pytest.mark.parametrize(
    "name",
    [
        MANIFEST,
        WEIGHTS,
        f"{BITEXT}/manifest.json",
        f"{BITEXT}/tensors.safetensors",
        f"{BITEXT}/source.words.txt",
        f"{MODELS}/mkn/manifest.json",
        f"{MODELS}/mkn/tensors.safetensors",
        f"{MODELS}/mkn/vocabulary.tsv",
    ],
)
def test_damage_is_refused_and_named(name: str, place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "system"
    shutil.copytree(place, copy)
    content = (copy / name).read_bytes()
    for at in (len(content) // 3, len(content) - 2):
        (copy / name).write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        with pytest.raises(FormatError, match=f"{name.rpartition('/')[2]}.*;"):
            TranslationSystem.load(copy)
    (copy / name).write_bytes(content[:-3])
    with pytest.raises(FormatError, match=f"{name.rpartition('/')[2]}.*;"):
        TranslationSystem.load(copy)
    if name != WEIGHTS:  # without it, the system is not tuned
        (copy / name).unlink()
        with pytest.raises(FormatError, match=r"missing;|missing.*;"):
            TranslationSystem.load(copy)
    (copy / name).write_bytes(content)
    TranslationSystem.load(copy)


def test_a_missing_language_model_is_named(place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "system"
    shutil.copytree(place, copy)
    shutil.rmtree(copy / MODELS / "mkn")
    with pytest.raises(FormatError, match=f"{MODELS}/mkn: it is missing"):
        TranslationSystem.load(copy)


def test_weights_of_another_system(place: Path, tmp_path: Path) -> None:
    other = small_system(tmp_path, 60)
    assert TranslationSystem.load(other).tuned is None
    shutil.copy(place / WEIGHTS, other / WEIGHTS)
    with pytest.raises(FormatError, match="these weights belong to another system"):
        TranslationSystem.load(other)


def test_another_format(place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "system"
    shutil.copytree(place, copy)
    content = read_signed(copy / MANIFEST, SYSTEM)
    write_signed(copy / MANIFEST, content | {"format": 99})
    with pytest.raises(FormatError, match="format 99, this morphlm reads 1"):
        TranslationSystem.load(copy)
    write_signed(copy / MANIFEST, content | {"models": ["../x"]})
    with pytest.raises(FormatError, match=r"models\[0\] is '../x', not of the form"):
        TranslationSystem.load(copy)
    write_signed(copy / MANIFEST, content | {"config": {"languages": [None, None], "tokenise": True}})
    with pytest.raises(FormatError, match=r"makes no sense.*tokeniser"):
        TranslationSystem.load(copy)
    (copy / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(FormatError, match="damaged"):
        TranslationSystem.load(copy)


@pytest.mark.parametrize("name", [MANIFEST, WEIGHTS, "bitext", "bitext/manifest.json", "lm/mkn/manifest.json"])
@pytest.mark.parametrize("target", ["pipe", "/dev/zero", "itself"])
def test_pipes_devices_and_loops_in_place_of_files_are_refused(
    place: Path, tmp_path: Path, name: str, target: str
) -> None:
    copy = tmp_path / "system"
    shutil.copytree(place, copy)
    if (copy / name).is_dir():
        shutil.rmtree(copy / name)
    else:
        (copy / name).unlink()
    if target == "pipe":
        os.mkfifo(copy / name)
    else:
        (copy / name).symlink_to(copy / name if target == "itself" else target)
    if (name, target) == (WEIGHTS, "itself"):
        assert TranslationSystem.load(copy).tuned is None  # as if there were none
    else:
        with pytest.raises(FormatError):
            TranslationSystem.load(copy)


def test_rules_without_a_digest_are_refused(place: Path, tmp_path: Path) -> None:
    """Else nobody would look whether the file is one."""
    copy = tmp_path / "system"
    shutil.copytree(place, copy)
    content = read_signed(copy / MANIFEST, SYSTEM)
    stages = content["stages"] | {"rules.gz": {"key": "a", "files": {}, "figures": {}}}
    write_signed(copy / MANIFEST, content | {"stages": stages})
    with pytest.raises(FormatError, match=r"the digest of rules\.gz is missing"):
        TranslationSystem.load(copy)


def test_a_model_of_another_tokeniser_is_warned_of(system: TranslationSystem, caplog: pytest.LogCaptureFixture) -> None:
    moses, plain = SystemConfig(languages=("en", "cs")), SystemConfig(tokenise=False)
    models = {"ours": train_ngram(["To je věta.", "To je věta."], 2, language="cs"), "tokens": train_ngram([["a"]], 2)}
    for config, warned in ((moses, True), (plain, False)):
        caplog.clear()
        TranslationSystem(config, system.extractor.bitext, models)
        said = caplog.text
        assert ("the words of ours were cut by another tokeniser (words1.cs)" in said) == warned
        assert "tokens were cut" not in said
