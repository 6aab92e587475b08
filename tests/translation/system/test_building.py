"""From text files to a system: what is known to be right is translated right, and every stage resumes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import ConfigError, FormatError, InputError, MorphlmError
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load, model_from_files
from morphlm.scoring.mixing import mix
from morphlm.translation.evaluation.metrics import evaluate
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.system import building
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import BITEXT, EXTRA_RULES, LOCK, MANIFEST, SOURCE_TEXT, read_manifest
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.tuning import TuningText, tune_system
from morphlm.translation.tuning.loop import TuningConfig

from ..generated import sentences, small_system, write

CONFIG = SystemConfig(tokenise=False).with_decoder(pop_limit=20)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small system with its texts and its model."""
    folder = tmp_path_factory.mktemp("parts")
    small_system(folder, 150)
    return folder


def sources_of(parts: Path, *models: NamedModel, extra_rules: Path | None = None) -> Sources:
    given = models or (NamedModel("mkn", parts / "mkn"),)
    return Sources(parts / "train.source.txt", parts / "train.target.txt", models=given, extra_rules=extra_rules)


def test_a_known_grammar_is_learned(tmp_path: Path) -> None:
    """2,500 pairs with reordering, agreement and gaps; tuned on 60 others, tested on 100 more."""
    texts = write(tmp_path, "train", sentences(2500, 1))
    train_ngram(texts[1], 4).save(tmp_path / "mkn")
    config = SystemConfig(tokenise=False).with_decoder(pop_limit=50)
    build_system(tmp_path / "system", Sources(*texts, models=[NamedModel("mkn", tmp_path / "mkn")]), config)
    dev, test = sentences(60, 2), sentences(100, 3)
    text = TuningText(*(tuple(tuple(pair[side]) for pair in dev) for side in (0, 1)))
    tuning = TuningConfig(kbest=40, iterations=4, probes=2)
    tuned = tune_system(tmp_path / "system", text, tuning)
    first, best = tuned.best.iterations[0].bleu, tuned.best.bleu
    assert best > max(first, 90)
    system = TranslationSystem.load(tmp_path / "system")
    assert system.weights == tuned.best.weights
    found = [" ".join(translation.tokens) for translation in system.translate_all([pair[0] for pair in test])]
    references = [" ".join(pair[1]) for pair in test]
    assert evaluate(found, references).bleu > 90
    assert sum(one == other for one, other in zip(found, references, strict=True)) > 70  # whole sentences


# ---------------------------------------------------------------- stages


@pytest.mark.parametrize(
    "function", ["prepare_pair_files", "align_text", "write_pharaoh", "build_bitext", "copy_model"]
)
def test_interrupted_anywhere_it_goes_on_and_ends_the_same(
    function: str, parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "system"
    with monkeypatch.context() as patch:
        patch.setattr(building, function, _interrupt)
        with pytest.raises(KeyboardInterrupt):
            build_system(out, sources_of(parts), CONFIG)
    done = sorted(read_manifest(out).stages)
    with pytest.raises(FormatError, match="not complete"):
        TranslationSystem.load(out)
    capsys.readouterr()
    build_system(out, sources_of(parts), CONFIG)
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines[: len(done)]) == [f"{name}: found" for name in done]
    assert "found" not in "".join(lines[len(done) :])
    assert contents(out) == contents(parts / "system")


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_second_call_does_nothing(parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(parts / "system")
    capsys.readouterr()
    build_system(parts / "system", sources_of(parts), CONFIG)
    assert capsys.readouterr().err.splitlines() == [f"{name}: found" for name in ("prepare", "align", "bitext", "lm")]
    assert contents(parts / "system") == before


def _other_text(parts: Path) -> tuple[Sources, SystemConfig]:
    (parts / "other.txt").write_text((parts / "train.source.txt").read_text().replace("adj1", "adj2"))
    return Sources(parts / "other.txt", parts / "train.target.txt", models=sources_of(parts).models), CONFIG


def _shared(parts: Path) -> Sources:
    return Sources(bitext=parts / "system" / BITEXT, models=sources_of(parts).models)


CHANGES: dict[str, Callable[[Path], tuple[Sources, SystemConfig]]] = {
    "text": _other_text,
    "preparation": lambda parts: (sources_of(parts), SystemConfig(tokenise=False, lowercase=False)),
    "language models": lambda parts: (sources_of(parts, NamedModel("other", parts / "mkn")), CONFIG),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_system_that_was_built_is_not_changed(what: str, parts: Path) -> None:
    before = contents(parts / "system")
    with pytest.raises(ConfigError, match=f"this was built with another .*{what}.*; .*another out="):
        build_system(parts / "system", *CHANGES[what](parts))
    assert contents(parts / "system") == before


def test_settings_are_not_changed_where_the_text_was_given_as_a_bitext(parts: Path, tmp_path: Path) -> None:
    """Then preparation is in the key of no stage."""
    build_system(tmp_path / "system", _shared(parts), CONFIG)
    before = contents(tmp_path / "system")
    for config, named in (
        (SystemConfig(("en", "fr")), r"\(languages, tokenise, decoder\)"),
        (CONFIG.with_decoder(pop_limit=21), r"\(decoder\)"),
    ):
        with pytest.raises(ConfigError, match=f"other settings {named}; .*another out="):
            build_system(tmp_path / "system", _shared(parts), config)
    assert contents(tmp_path / "system") == before


@pytest.mark.parametrize("part", [f"{BITEXT}/tensors.safetensors", "lm/mkn/tensors.safetensors"])
def test_a_damaged_file_of_a_model_is_noticed(
    part: str, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hashes of these are in the manifest of the model's own directory."""
    out = tmp_path / "system"
    shutil.copytree(parts / "system", out)
    (out / part).write_bytes((out / part).read_bytes()[:-1])
    build_system(out, sources_of(parts), CONFIG)
    assert f"{part.partition('/')[0]}: the one is damaged and is made again" in capsys.readouterr().err
    assert contents(out) == contents(parts / "system")


def test_names_that_could_not_be_decoded_with_are_refused(parts: Path, tmp_path: Path) -> None:
    out = tmp_path / "system"
    refused(out, sources_of(parts, NamedModel("Glue", parts / "mkn")), ConfigError, "two features have the name Glue")
    (tmp_path / "rules").write_text("[X] ||| a ||| b ||| WordPenalty=1\n")
    sources = sources_of(parts, extra_rules=tmp_path / "rules")
    refused(out, sources, ConfigError, "two features have the name WordPenalty")


def test_rules_cannot_be_added_to_a_complete_system(parts: Path, tmp_path: Path) -> None:
    """Weights that were tuned without them would not belong to it any more."""
    (tmp_path / "rules").write_text("[X] ||| brand ||| nuevo ||| Extra=1\n")
    before = contents(parts / "system")
    with pytest.raises(ConfigError, match="this was built with another file of rules, or with or without one"):
        build_system(parts / "system", sources_of(parts, extra_rules=tmp_path / "rules"), CONFIG)
    assert contents(parts / "system") == before


def test_rules_without_words_are_for_every_sentence(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("[X] ||| [X,1] [X,2] ||| [X,2] [X,1] ||| Swap=1\n")
    out = tmp_path / "system"
    build_system(out, sources_of(parts, extra_rules=tmp_path / "rules"), CONFIG)
    system = TranslationSystem.load(out)
    swapping = TranslationSystem.load(out, weights=system.weights | {"Swap": 50.0})
    found = swapping.translate("noun1 noun2")
    assert found.features["Swap"] == 1.0
    assert found.tokens == ("sust2o", "sust1a")


def test_what_is_damaged_is_made_again(parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "system"
    shutil.copytree(parts / "system", out)
    (out / SOURCE_TEXT).write_text("damaged\n")
    shutil.rmtree(out / BITEXT)
    build_system(out, sources_of(parts), CONFIG)
    messages = capsys.readouterr().err
    for name in ("prepare", "bitext"):
        assert f"{name}: the one is damaged and is made again" in messages
    assert "align: found" in messages
    assert contents(out) == contents(parts / "system")


def test_a_bitext_serves_several_systems(parts: Path, tmp_path: Path) -> None:
    given = Sources(bitext=parts / "system" / BITEXT, models=sources_of(parts).models)
    build_system(tmp_path / "system", given, CONFIG)
    one, other = (TranslationSystem.load(folder / "system") for folder in (parts, tmp_path))
    for source, _ in sentences(5, 7):
        assert one.translate(source).to_json() == other.translate(source).to_json()
    assert list(read_manifest(tmp_path / "system").stages) == [BITEXT, "lm"]


def test_models_may_be_arpa_files_and_are_taken_in(parts: Path, tmp_path: Path) -> None:
    train_ngram(parts / "train.target.txt", 3).write_arpa(tmp_path / "mkn.arpa")
    build_system(tmp_path / "system", sources_of(parts, NamedModel("text", tmp_path / "mkn.arpa")), CONFIG)
    (tmp_path / "mkn.arpa").unlink()
    one, other = (TranslationSystem.load(folder / "system") for folder in (parts, tmp_path))
    assert other.feature_names[-2:] == ("text", "text_OOV")
    for source, _ in sentences(5, 7):
        assert one.translate(source).tokens == other.translate(source).tokens


def test_a_mixture_is_a_model_of_a_system(parts: Path, tmp_path: Path) -> None:
    mixed = mix([load(parts / "mkn"), load(parts / "mkn")], weights=[0.5, 0.5])
    mixed.save(tmp_path / "mixture")
    build_system(tmp_path / "system", sources_of(parts, NamedModel("lm", tmp_path / "mixture")), CONFIG)
    shutil.rmtree(tmp_path / "mixture")
    build_system(tmp_path / "plain", sources_of(parts, NamedModel("lm", parts / "mkn")), CONFIG)
    one, other = (TranslationSystem.load(tmp_path / name) for name in ("system", "plain"))
    assert one.decoder.models.models[0].kind == "mixture"
    found, expected = (system.translate("other noun1 verb2") for system in (one, other))
    assert found.tokens == expected.tokens
    assert found.features == pytest.approx(expected.features, abs=1e-5)


@pytest.mark.parametrize("name", ["PREPARE", "ALIGN", "INDEX", "COPY_MODELS"])
def test_a_system_of_an_older_revision_is_not_changed_but_translates(
    name: str, parts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(parts / "system")
    producer = getattr(building, name)
    monkeypatch.setattr(building, name, replace(producer, revision=producer.revision + 1))
    with pytest.raises(ConfigError, match="or by another version; give the same as before, or another out="):
        build_system(parts / "system", sources_of(parts), CONFIG)
    assert contents(parts / "system") == before
    assert TranslationSystem.load(parts / "system").translate("other noun1").tokens


def test_models_are_loaded_once(parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Path] = []

    def spy(path: Path, *arguments: object) -> object:
        loaded.append(path)
        return model_from_files(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(building, "model_from_files", spy)
    monkeypatch.setattr("morphlm.scoring.loading.model_from_files", spy)
    system = build_system(tmp_path / "system", sources_of(parts), CONFIG).load()
    assert loaded == [parts / "mkn"]
    again = TranslationSystem.load(parts / "system")
    assert system.translate("other noun1").features == again.translate("other noun1").features


# ---------------------------------------------------------------- what is refused


def test_names_of_models() -> None:
    assert NamedModel.of("models/cs.clbl++") == NamedModel("cs.clbl++", Path("models/cs.clbl++"))
    assert NamedModel.of("clbl=models/cs.clbl++") == NamedModel("clbl", Path("models/cs.clbl++"))
    for name in ("a b", "a/b", "", "|||", "..", "a="):
        with pytest.raises(ConfigError, match="cannot be the name"):
            NamedModel(name, Path("x"))
    with pytest.raises(ConfigError, match="two models have the name a"):
        Sources(Path("x"), Path("y"), models=[NamedModel("a", Path("x")), NamedModel("a", Path("y"))])
    for paths in ((), (Path("x"),), (Path("x"), Path("y"), Path("z"))):
        with pytest.raises(ConfigError, match="two texts"):
            Sources(*paths)


def refused(out: Path, sources: Sources, error: type[MorphlmError], match: str) -> None:
    """Refused, and without a trace."""
    before = contents(out.parent)
    with pytest.raises(error, match=match):
        build_system(out, sources, CONFIG)
    assert contents(out.parent) == before
    assert not out.exists()


def test_what_cannot_be_is_refused_before_anything_is_written(parts: Path, tmp_path: Path) -> None:
    out, good = tmp_path / "system", sources_of(parts)
    refused(out, sources_of(parts, NamedModel("a", tmp_path / "none")), FormatError, "none: there is no such model")
    refused(out, sources_of(parts, NamedModel("a", tmp_path)), FormatError, "not a model")
    refused(out, Sources(bitext=parts / "mkn"), FormatError, "this holds a mkn, not aligned text")
    refused(out, Sources(tmp_path / "none", good.target), InputError, "none: there is no such file")
    refused(out, Sources(tmp_path, good.target), InputError, "this is no file")
    (tmp_path / "rules").write_text("[X] ||| a\n")
    refused(out, sources_of(parts, extra_rules=tmp_path / "rules2"), InputError, "rules2: there is no such file")
    refused(out, sources_of(parts, extra_rules=tmp_path / "rules"), InputError, "rules:1: ")


def test_an_empty_folder_of_somebody_stays_when_a_text_is_refused(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("a b\n")
    (tmp_path / "system").mkdir()
    with pytest.raises(InputError, match="short has 1 lines"):
        build_system(tmp_path / "system", Sources(tmp_path / "short", parts / "train.target.txt"), CONFIG)
    assert list((tmp_path / "system").iterdir()) == []


def test_places_may_be_strings(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("[X] ||| other ||| otro |||\n")
    texts = [str(parts / f"train.{side}.txt") for side in ("source", "target")]
    given = Sources(texts[0], texts[1], models=[NamedModel("mkn", parts / "mkn")], extra_rules=str(tmp_path / "rules"))
    build_system(str(tmp_path / "system"), given, CONFIG)
    again = Sources(bitext=str(tmp_path / "system" / BITEXT), models=given.models, extra_rules=given.extra_rules)
    build_system(str(tmp_path / "again"), again, CONFIG)
    one, other = (TranslationSystem.load(str(tmp_path / name)) for name in ("system", "again"))
    assert one.translate("other noun1").features == other.translate("other noun1").features


def test_sides_of_different_length_are_told_with_their_counts(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("a b\n" * 10)
    sources = Sources(tmp_path / "short", parts / "train.target.txt")
    refused(tmp_path / "system", sources, InputError, r"short has 10 lines and .* has 150")


def test_text_without_a_pair_that_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n\n")
    (tmp_path / "full").write_text("a\nb\n")
    refused(tmp_path / "system", Sources(tmp_path / "empty", tmp_path / "full"), InputError, "no pair of sentences")


def test_a_folder_with_something_else_in_it_stays_as_it_is(parts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "precious.txt").write_text("precious\n")
    for place in (folder, parts / "mkn", folder / "precious.txt"):
        before = contents(place.parent)
        with pytest.raises(InputError, match=r"no translation system; choose another place|cannot write here"):
            build_system(place, sources_of(parts), CONFIG)
        assert contents(place.parent) == before


def test_two_cannot_build_in_one_place(parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def second(*_: object, **__: object) -> None:
        with pytest.raises(ConfigError, match="another process is writing here; wait until it has ended"):
            build_system(tmp_path / "system", sources_of(parts), CONFIG)
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "align_text", second)
    with pytest.raises(KeyboardInterrupt):
        build_system(tmp_path / "system", sources_of(parts), CONFIG)
    assert not (tmp_path / "system" / LOCK).exists()


# ---------------------------------------------------------------- odd text


def test_empty_lines_bars_and_brackets(tmp_path: Path) -> None:
    pairs = [("a ||| b", "x ||| y"), ("", "z"), ("[X] a", "[X,1] x"), ("  ", ""), ("b [X]", "y [X,1]"), ("|||", "|||")]
    for side, name in enumerate(("s", "t")):
        (tmp_path / name).write_text("".join(pair[side] + "\n" for pair in pairs * 5))
    manifest = build_system(tmp_path / "system", Sources(tmp_path / "s", tmp_path / "t"), CONFIG)
    assert manifest.stages["prepare"].figures["kept"] == 20
    assert manifest.stages["prepare"].figures["empty"] == 10
    system = TranslationSystem.load(tmp_path / "system")
    assert system.translate("b ||| a [X]").tokens == ("y", "|||", "x", "[x,1]")


def test_extra_rules_are_a_part_of_the_system(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("[X] ||| brand new [X,1] ||| [X,1] nuevo ||| Extra=1\n[X] ||| other ||| otro |||\n")
    out = tmp_path / "system"
    build_system(out, sources_of(parts, extra_rules=tmp_path / "rules"), CONFIG)
    system = TranslationSystem.load(out)
    assert system.feature_names[8] == "Extra"
    found = system.translate("brand new noun1")
    assert found.tokens[-2:] == ("sust1a", "nuevo")
    assert found.features["Extra"] == 1.0
    assert system.translate("noun1").features["Extra"] == 0.0
    before = contents(out)
    (tmp_path / "others").write_text("[X] ||| other ||| otro |||\n")
    for changed in (sources_of(parts), sources_of(parts, extra_rules=tmp_path / "others")):
        with pytest.raises(ConfigError, match="another file of rules"):
            build_system(out, changed, CONFIG)
    assert contents(out) == before
    assert EXTRA_RULES in read_manifest(out).stages and (out / MANIFEST).exists()


@pytest.mark.parametrize("limit", [0, 10_001])
def test_a_system_without_a_limit_is_not_built(tmp_path: Path, limit: int) -> None:
    """Whoever loads it would wait for ever; nobody could load it."""
    config = SystemConfig(tokenise=False).with_decoder(pop_limit=limit)
    with pytest.raises(ConfigError, match=f"pop_limit is {limit}; build a system with 1 to 10000"):
        build_system(tmp_path / "system", Sources(tmp_path / "a", tmp_path / "b"), config)
    assert not (tmp_path / "system").exists()


@pytest.mark.parametrize("settings", [{"sample": 0}, {"anchors": 0}, {"max_targets": 0}, {"anchors": 10_001}])
def test_a_system_stores_no_unlimited_search_for_rules(settings: dict[str, Any], tmp_path: Path) -> None:
    config = replace(CONFIG, grammar=GrammarConfig(**settings))
    with pytest.raises(ConfigError, match=f"{next(iter(settings))} is .*; build a system with 1 to 1"):
        build_system(tmp_path / "system", Sources(tmp_path / "a", tmp_path / "b"), config)
