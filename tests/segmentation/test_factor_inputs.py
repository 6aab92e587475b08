"""Factors from Python and from registered sources: a dict, a function, an object, a name of somebody else's package."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from morphlm import load, train
from morphlm.errors import ConfigError, FormatError
from morphlm.scoring.loading import load as load_model
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.morphemes import Morpheme
from morphlm.segmentation.source_spec import as_factorisation, choose_source
from morphlm.segmentation.sources import registry
from morphlm.segmentation.sources.registry import FactorSource, register_factor_source
from tests.conftest import Outcome
from tests.segmentation.small import model_of, vocabulary
from tests.training.small import ENDINGS, STEMS, sentences

KNOWN = {stem + ending: [stem, f"-{ending}"] for stem in STEMS for ending in ENDINGS}
QUICK: dict[str, Any] = {"width": 4, "epochs": 1, "batch": 100, "order": 3, "classes": 3}


class Halves:
    """Cuts every word in two; the position is its setting."""

    source_name = "halves"

    def __init__(self, cut: int) -> None:
        self.cut = cut

    def factors_of(self, word: str) -> Sequence[str]:
        return [word[: self.cut], "-" + word[self.cut :]] if len(word) > self.cut else []

    def to_json(self) -> dict[str, Any]:
        return {"cut": self.cut}


def read_halves(argument: str) -> Halves:
    if not argument.isdecimal():
        raise ConfigError(f"halves:{argument} is no number of letters; write it like halves:3")
    return Halves(int(argument))


def restore_halves(settings: dict[str, Any]) -> Halves:
    return Halves(settings["cut"])


HALVES = FactorSource("halves", "3", "each word in two", f"{__name__}:read_halves", restore=restore_halves)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register_factor_source(HALVES)
    yield
    registry._registered.clear()


def texts(folder: Path) -> tuple[Path, Path]:
    for name, seed in (("train", 1), ("dev", 2)):
        lines = [" ".join(sentence) for sentence in sentences(80 if seed == 1 else 12, seed)]
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    return folder / "train", folder / "dev"


# ---------------------------------------------------------------- what a model learns and keeps


FORMS: dict[str, Any] = {
    "dict": {word: factors for word, factors in KNOWN.items() if word != "domu"},
    "function": lambda word: KNOWN.get(word, []) if word != "domu" else (),
    "object": type("Own", (), {"factors_of": lambda self, word: KNOWN.get(word, ()) if word != "domu" else []})(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_model_keeps_the_factors_of_its_words_and_none_of_others(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, dev = texts(tmp_path)
    model: Any = train("clbl++", text, dev, tmp_path / "m", factors=FORMS[form], kappa=0.0, **QUICK)
    told = "cannot be saved with a model, so words outside the vocabulary have no factors"
    assert (told in capsys.readouterr().err) == (form != "dict")
    loaded: Any = load(tmp_path / "m")
    for of_model in (model, loaded):
        factors = of_model.structure.factors
        ids = factors.vocabulary.ids
        assert [factors.names[k] for k in factors[ids["domem"]]] == ["domem", "dom", "-em"]
        assert [factors.names[k] for k in factors[ids["domu"]]] == ["domu"]
        assert factors.unfactored == 1
        assert factors.analyser is None
        assert len(factors.of_new_word("školemou")) == 0
        assert not of_model.vectors.composable("školemou")


def test_words_never_seen_compose_by_an_object_that_can_be_restored(tmp_path: Path) -> None:
    text, dev = texts(tmp_path)
    model: Any = train("clbl++", text, dev, tmp_path / "m", factors=Halves(3), kappa=0.0, **QUICK)
    again: Any = load(tmp_path / "m")
    assert json.loads((tmp_path / "m" / "analyser.json").read_text()) == {
        "kind": "source",
        "name": "halves",
        "settings": {"cut": 3},
    }
    for of_model in (model, again):
        factors = of_model.structure.factors
        assert [factors.names[k] for k in factors.of_new_word("domxx")] == ["dom"]  # "-xx" is not known
        assert of_model.vectors.composable("domxx")
        assert of_model.vectors["domxx"] == pytest.approx(of_model.vectors.morpheme("dom"))


def test_without_the_source_a_model_loads_and_words_never_seen_have_no_factors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model_of(build_factors(vocabulary(), as_factorisation(Halves(3), vocabulary()))).save(tmp_path / "m")
    registry._registered.clear()
    model: Any = load_model(tmp_path / "m")
    assert model.structure.factors.analyser is None
    assert "'halves' is not installed, so words never seen have no factors" in capsys.readouterr().err
    register_factor_source(FactorSource("halves", "3", "each word in two", read_halves, restore=lambda settings: 5 / 0))
    with pytest.raises(ZeroDivisionError):  # an error of the source itself is not hidden
        load_model(tmp_path / "m")
    register_factor_source(FactorSource("halves", "3", "each word in two", read_halves, restore=lambda s: s["none"]))
    with pytest.raises(FormatError, match=r"analyser\.json"):
        load_model(tmp_path / "m")


# ---------------------------------------------------------------- by name


def entry_point(folder: Path, name: str, target: str) -> None:
    """An installed package, as far as Python can tell."""
    (folder / "other-1.0.dist-info").mkdir()
    (folder / "other-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    lines = f"[{registry.ENTRY_POINTS}]\n{name} = {target}\n"
    (folder / "other-1.0.dist-info" / "entry_points.txt").write_text(lines)


@pytest.mark.parametrize("installed", [True, False])
def test_commands_take_a_source_of_somebody_else_by_name(
    installed: bool, tmp_path: Path, morphlm_command: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    if installed:
        registry._registered.clear()
        entry_point(tmp_path, "halves", f"{__name__}:HALVES")
        monkeypatch.syspath_prepend(tmp_path)
    text, dev = texts(tmp_path)
    morphlm_command("vocab", text, "--kappa", "0", "--out", tmp_path / "v.tsv")
    outcome = morphlm_command("factors", "halves:3", "--vocab", tmp_path / "v.tsv", "--out", tmp_path / "f", "--json")
    assert json.loads(outcome.stdout)["source"] == "halves 3"
    assert "domem\tdom -em\n" in (tmp_path / "f" / "morphemes.tsv").read_text()
    options = [f"--{name}={value}" for name, value in QUICK.items()]
    arguments = ["train", "clbl++", "--train", text, "--dev", dev, "--factors", "halves:3", "--out", tmp_path / "m"]
    assert morphlm_command(*arguments, *options).status == 0
    neighbours = morphlm_command("neighbours", tmp_path / "m", "domxx", "-k", "1").stdout
    assert neighbours.startswith("domxx\tcomposed\t")
    assert "write it like halves:3" in morphlm_command("factors", "halves:x", "--vocab", tmp_path / "v.tsv").stderr
    assert "halves:3" in morphlm_command("factors", "nothing:3", "--vocab", tmp_path / "v.tsv").stderr


def test_packages_are_asked_only_for_unknown_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(tmp_path, "broken", "nowhere:at_all")
    monkeypatch.syspath_prepend(tmp_path)
    assert choose_source("halves:2", vocabulary())["domem"] == ("do", "-mem")
    with pytest.raises(ModuleNotFoundError):
        choose_source("broken:2", vocabulary())


def test_an_entry_point_must_lead_to_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry_point(tmp_path, "other", f"{__name__}:HALVES")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="leads to no source of that name"):
        choose_source("other:2", vocabulary())


def test_names_of_sources_are_checked() -> None:
    with pytest.raises(ConfigError, match="another name"):
        register_factor_source(FactorSource("table", "FILE", "mine", read_halves))
    with pytest.raises(ConfigError, match="without a colon"):
        FactorSource("a:b", "FILE", "mine", read_halves)
    register_factor_source(FactorSource("echo", "TEXT", "gives its argument", str))
    with pytest.raises(ConfigError, match="'echo' gives the string 'x'"):
        choose_source("echo:x", vocabulary())


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "cannot come from 5"),
        (Path("x"), "cannot come from"),
        (["dom"], "cannot come from"),
        (Halves, "cannot come from"),
        (type("Odd", (), {"factors_of": 3})(), "cannot come from"),
        ({5: ["a"]}, "keys of the dict must be words"),
        ({"domem": "dom em"}, "give a list of strings"),
        ({"domem": None}, "give a list of strings"),
        ({"domem": {"a"}}, "give a list of strings"),
        ({"domem": [5]}, "the factor 5 of 'domem'; factors are strings"),
        ({"domem": [["a"]]}, "factors are strings"),
        (lambda word: None, "gives None as the factors of"),
        (lambda word: [word.encode()], "factors are strings"),
        ({"domem": ["a b"]}, "without white space"),
        ({"domem": [""]}, "without white space"),
        ({"domem": ["\ud800"]}, "without white space"),
    ],
)
def test_factors_of_wrong_types_are_refused(given: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_factors(vocabulary(), as_factorisation(given, vocabulary()))


def test_errors_of_a_function_are_its_own() -> None:
    table: dict[str, list[str]] = {}
    with pytest.raises(KeyError):
        build_factors(vocabulary(), as_factorisation(lambda word: table[word], vocabulary()))


def test_what_cannot_be_restored_is_refused_before_training() -> None:
    own = Halves(2)
    own.source_name = "unheard"
    with pytest.raises(ConfigError, match="register_factor_source first"):
        as_factorisation(own, vocabulary())


def test_settings_must_be_json(tmp_path: Path) -> None:
    own = Halves(2)
    own.to_json = lambda: {"cut": {2}}  # type: ignore[method-assign]
    model = model_of(build_factors(vocabulary(), as_factorisation(own, vocabulary())))
    with pytest.raises(ConfigError, match="is no JSON"):
        model.save(tmp_path / "m")


def test_a_dict_may_hold_morphemes() -> None:
    factorisation = as_factorisation({"domem": (Morpheme("dom", "STM"), "em")}, vocabulary())
    assert factorisation["domem"] == ("dom/STM", "em")
    assert factorisation["domu"] == ()
    assert factorisation.source == "dict"
