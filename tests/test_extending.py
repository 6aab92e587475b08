"""docs/extending.md does what it says: its class bigram, as an installed package, is a kind like any other."""

from __future__ import annotations

import importlib
import json
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import morphlm
from morphlm.errors import ConfigError, FormatError
from morphlm.kinds import ModelKind, find_kind, kind_named, kind_names, register
from morphlm.segmentation import register_factor_source
from morphlm.segmentation.sources import registry
from morphlm.translation import TranslationSystem
from tests.conftest import GOLDEN, Outcome
from tests.translation.generated import sentences, write

PAGE = Path(__file__).parent.parent / "docs" / "extending.md"
TRAIN, DEV = GOLDEN / "kneser-ney" / "train.txt", GOLDEN / "kneser-ney" / "test.txt"
NAME = "class-bigram"
Command = Callable[..., Outcome]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def install(folder: Path, source: str, entry_points: str) -> None:
    """What pip leaves behind of a package with one module."""
    (folder / "class_bigram.py").write_text(source)
    metadata = folder / "class_bigram-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: class-bigram\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The page's package, installed."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    declared = re.fullmatch(r'\[project.entry-points."(.*?)"\]\n(\S+) = "(.*)"\n', blocks("toml")[0])
    assert declared is not None
    install(folder, blocks("python")[0], f"[{declared[1]}]\n{declared[2]} = {declared[3]}\n")
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("class_bigram", None)


def test_the_kind_of_the_page_has_less_than_100_lines() -> None:
    assert blocks("python")[0].count("\n") < 100


def test_it_is_unknown_until_its_package_is_installed(morphlm_command: Command) -> None:
    assert find_kind(NAME) is None
    assert "'class-bigram' is no kind of model; " in morphlm_command("train", NAME).stderr


def test_the_commands_of_the_page(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    lines = TRAIN.read_text().splitlines()[:600]
    Path("train.txt").write_text("\n".join(lines) + "\n")
    for name in ("dev.txt", "test.txt"):
        Path(name).write_text("\n".join(DEV.read_text().splitlines()[:60]) + "\n")
    outcomes = {}
    for line in blocks("sh")[0].splitlines():
        program, *arguments = line.split()
        assert program == "morphlm"
        outcomes[arguments[0], arguments[1]] = outcome = morphlm_command(*arguments)
        assert outcome.status == 0, (line, outcome.stderr)
    model = morphlm.load("cs.bigram")
    assert (model.kind, model.order, model.training["alpha"]) == (NAME, 2, 0.5)
    assert model.distribution(model.begin()).sum() == pytest.approx(1.0, abs=1e-6)
    stated = [float(number) for number in re.findall(r"\b\d+\.\d\d\b", outcomes["ppl", "cs.bigram"].stdout)]
    assert model.perplexity("test.txt").including_unknown == pytest.approx(stated[0], abs=0.005)
    mixture = morphlm.load("cs.mixture")
    best = min(morphlm.load(name).perplexity("dev.txt").including_unknown for name in ("cs.mkn", "cs.bigram"))
    assert mixture.perplexity("dev.txt").including_unknown < best
    assert "cs.bigram" in Path("report.html").read_text()
    assert len(outcomes["score", "cs.mixture"].stdout.splitlines()) == 60


def test_its_settings_are_options_with_help_and_a_range(package: Path, morphlm_command: Command) -> None:
    shown = morphlm_command("train", NAME, "--help").stdout
    assert "--alpha X" in shown
    assert "Added to every count.  [default: 0.1]" in " ".join(shown.split()).replace(" [", "  [")
    assert "--classes" in shown
    assert "--factors" not in shown  # it needs none
    assert "--width" not in shown
    assert "--checkpoint-minutes" not in shown  # it writes none
    assert NAME in morphlm_command("train", "--help").stdout
    refused = morphlm_command("train", NAME, "--train", TRAIN, "--dev", DEV, "--out", "x", "--alpha", "0")
    assert refused.stderr == "morphlm: --alpha is 0.0; it must be a finite number above 0\n"
    with pytest.raises(ConfigError, match="width means nothing to class-bigram"):
        morphlm.train(NAME, TRAIN, DEV, width=3)


def test_from_python_and_found_again(package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentences = [line.split() for line in TRAIN.read_text().splitlines()[:300]]
    model = morphlm.train(NAME, sentences, sentences[:50], tmp_path / "m", classes=6, alpha=0.2)
    capsys.readouterr()
    again = morphlm.train(NAME, sentences, sentences[:50], tmp_path / "m", classes=6, alpha=0.2, resume=True)
    assert f"{NAME}: found in {tmp_path / 'm'}" in capsys.readouterr().err
    assert again.sentence(sentences[0]) == model.sentence(sentences[0])
    other = morphlm.train(NAME, sentences, sentences[:50], tmp_path / "m", classes=6, alpha=0.3, resume=True)
    assert other.sentence(sentences[0]) != model.sentence(sentences[0])
    assert f"{NAME}: found" not in capsys.readouterr().err


def test_ids_and_states_are_checked_around_its_methods(package: Path, tmp_path: Path) -> None:
    model = morphlm.train(NAME, [["na", "dom"], ["dom"]] * 5, [["dom"]], tmp_path / "m", classes=2)
    for word in (-1, len(model.vocabulary), 1.5, None):
        with pytest.raises(morphlm.WordIdError, match="is no id of a word"):
            model.score_id(model.begin(), word)  # type: ignore[arg-type]
        with pytest.raises(morphlm.WordIdError, match="is no id of a word"):
            model.score_tokens([3, word])  # type: ignore[arg-type]
    for state in (-1, 2, None, (0,), [0]):
        for ask in (model.distribution, lambda state: model.score(state, "dom"), model.next_sentence):
            with pytest.raises(morphlm.StateError, match="is no state of this model"):
                ask(state)


@pytest.fixture
def halves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The page's source of factors, registered for as long as the test runs."""
    folder = tmp_path / "halves"
    folder.mkdir()
    (folder / "halves.py").write_text(next(block for block in blocks("python") if "class Halves" in block))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    register_factor_source(importlib.import_module("halves").HALVES)
    yield
    sys.modules.pop("halves", None)


def test_own_kinds_and_own_factors_live_inside_mixtures(package: Path, halves: None, tmp_path: Path) -> None:
    """Saved, moved and loaded, also a mixture in a mixture; words never seen are composed by the own source."""
    lines = TRAIN.read_text().splitlines()[:300]
    train, dev = [line.split() for line in lines[:250]], [line.split() for line in lines[250:]]
    vocabulary = tmp_path / "vocabulary.tsv"
    morphlm.make_vocabulary(train, vocabulary)
    shared: dict[str, Any] = {"vocabulary": str(vocabulary), "classes": 6}
    own = morphlm.train(NAME, train, dev, **shared)
    additive = morphlm.train("clbl++", train, dev, factors="halves:3", epochs=1, width=8, **shared)
    inner = morphlm.mix([own, additive], dev)
    outer = morphlm.mix([morphlm.train_ngram(train, 3, vocabulary=own.vocabulary), inner], dev, tmp_path / "mixture")
    (tmp_path / "mixture").rename(tmp_path / "moved")
    loaded = morphlm.load(tmp_path / "moved")
    assert [part.kind for part in loaded.parts] == ["mkn", NAME, "clbl++"]
    for sentence in dev[:10]:
        assert loaded.sentence(sentence) == pytest.approx(outer.sentence(sentence), abs=1e-9)
    factors = additive.vectors.factors
    assert factors is not None
    stem = next(name for name in factors.names[factors.surfaces :] if len(name) == 3 and name[0] != "-")
    assert np.allclose(loaded.vectors[stem + "\N{SNOWMAN}"], additive.vectors.morpheme(stem))
    copied = pickle.loads(pickle.dumps(loaded))
    assert copied.sentence(dev[0]) == loaded.sentence(dev[0])


def test_a_mixture_whose_source_of_factors_is_gone_still_scores(
    halves: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train = [line.split() for line in TRAIN.read_text().splitlines()[:150]]
    additive = morphlm.train("clbl++", train, train[:20], factors="halves:3", epochs=1, width=8, classes=4)
    ngrams = morphlm.train_ngram(train, 2, vocabulary=additive.vocabulary)
    mixture = morphlm.mix([ngrams, additive], train[:20], tmp_path / "mixture")
    monkeypatch.setattr(registry, "_registered", {})
    capsys.readouterr()
    loaded = morphlm.load(tmp_path / "mixture")
    assert (
        "the source of factors 'halves' is not installed, so words never seen have no factors"
        in capsys.readouterr().err
    )
    assert loaded.sentence(train[0]) == pytest.approx(mixture.sentence(train[0]), abs=1e-9)


def test_a_model_whose_package_is_gone_is_refused_by_name(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [["na", "dom"], ["dom"]] * 5
    morphlm.train(NAME, sentences, sentences, tmp_path / "m", classes=2)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(package)])
    with pytest.raises(FormatError, match=r"the kind 'class-bigram'; .* install the package that has it"):
        morphlm.load(tmp_path / "m")


def test_a_model_cannot_name_code(package: Path, tmp_path: Path) -> None:
    """What its manifest says is a name to look up, never something to import."""
    sentences = [["na", "dom"], ["dom"]] * 5
    morphlm.train(NAME, sentences, sentences, tmp_path / "m", classes=2)
    manifest = tmp_path / "m" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["kind"] = "class_bigram:read"
    manifest.write_text(json.dumps(content))
    with pytest.raises(FormatError):
        morphlm.load(tmp_path / "m")


def test_arrays_that_do_not_fit_are_refused(package: Path, tmp_path: Path) -> None:
    from morphlm.modelfile import read_model, write_model

    sentences = [["na", "dom"], ["dom"]] * 5
    morphlm.train(NAME, sentences, sentences, tmp_path / "m", classes=2)
    files = read_model(tmp_path / "m")
    tensors = dict(files.tensors) | {"class_of": np.full(5, 99, np.int32)}
    write_model(tmp_path / "forged", files.__class__(NAME, {}, files.training, tensors, files.texts, files.self_test))
    with pytest.raises(FormatError, match="class_of has values from 99 to 99"):
        morphlm.load(tmp_path / "forged")


def test_registering_for_a_running_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.kinds._registered", {})
    record = ModelKind(name="own", description="One of one's own.", read="somewhere:read", train="somewhere:train")
    register(record)
    register(record)  # twice is once
    assert kind_named("own", trainable=True) is record
    assert kind_names()[-1] == "own"
    with pytest.raises(ConfigError, match="there is a kind 'clbl' already"):
        register(ModelKind(name="clbl", description="Not this.", read="somewhere:read"))
    with pytest.raises(ConfigError, match="has no decoder scorer"):
        record.load("decoder_scorer")


def test_a_kind_without_training_cannot_be_trained() -> None:
    assert kind_named("mixture").train == ""
    with pytest.raises(ConfigError, match="'mixture' is no kind of model; choose one of "):
        kind_named("mixture", trainable=True)
    assert "mixture" in kind_names(trainable=False)
    assert "mixture" not in kind_names()


@pytest.mark.parametrize(
    "source",
    [
        "KIND = 3\n",
        "from morphlm.extension import ModelKind\nKIND = ModelKind('trigram', 'Of another name.', 'x:read')\n",
    ],
)
def test_an_entry_point_that_leads_to_no_record_of_its_name_is_refused(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, source, "[morphlm.kinds]\nclass-bigram = class_bigram:KIND\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError, match=r"entry point 'class-bigram' .* leads to no record"):
        find_kind(NAME)
    sys.modules.pop("class_bigram", None)


def test_inside_the_translation_decoder(package: Path, tmp_path: Path, morphlm_command: Command) -> None:
    """`translate build` takes the class bigram, alone and in a mixture, and the search scores with it exactly."""
    write(tmp_path, "train", sentences(200, 1))
    write(tmp_path, "test", sentences(6, 3))
    texts, out = [tmp_path / "train.source.txt", tmp_path / "train.target.txt"], tmp_path / "system"
    target: list[str | Path] = ["--train", texts[1], "--dev", tmp_path / "test.target.txt"]
    bigram, mixture = tmp_path / "bigram", tmp_path / "mixture"
    commands: list[list[str | Path]] = [
        ["train", NAME, *target, "--out", bigram, "--kappa", "0"],
        ["train", "mkn", "--train", texts[1], "--out", tmp_path / "mkn"],
        ["mix", tmp_path / "mkn", bigram, "--dev", tmp_path / "test.target.txt", "--out", mixture],
        ["translate", "build", *texts, "--no-tokenise", "--lm", bigram, "--lm", mixture, "--out", out],
    ]
    for command in commands:
        outcome = morphlm_command(*command)
        assert outcome.status == 0, outcome.stderr
    decoded = morphlm_command("translate", "decode", out, tmp_path / "test.source.txt")
    assert len(decoded.stdout.splitlines()) == 6
    system = TranslationSystem.load(out)
    for line in (tmp_path / "test.source.txt").read_text().splitlines():
        translation = system.translate(line.split())
        for path in (bigram, mixture):
            logprobs = morphlm.load(path).sentence(list(translation.tokens))
            assert translation.features[path.name] == pytest.approx(sum(logprobs), abs=1e-3)


def test_a_package_that_cannot_be_imported_harms_no_other_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    install(tmp_path, "import nothing_of_this_name\n", "[morphlm.kinds]\nclass-bigram = class_bigram:KIND\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    listed = morphlm_command("train", "--help")
    assert (listed.status, "clbl++" in listed.stdout) == (0, True)
    assert "warning: the kind 'class-bigram' of an installed package cannot be imported" in listed.stderr
    refused = morphlm_command("train", NAME)
    assert refused.status == 2
    assert "cannot be imported (No module named 'nothing_of_this_name'); install that package again" in refused.stderr
