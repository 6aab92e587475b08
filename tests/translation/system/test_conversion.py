"""Weights and k-best lists from and to cdec and Moses."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.translation import (
    KBestEntry,
    TranslationSystem,
    convert_kbest,
    export_weights,
    import_weights,
    read_kbest,
    write_kbest,
)
from morphlm.translation.system.conversion import SystemName
from morphlm.translation.system.system import tuned_weights
from tests.conftest import Outcome

from ..generated import small_system

Command = Callable[..., Outcome]
LN10 = math.log(10)
NAMES = ["EgivenF", "LexEgivenF", "WordPenalty", "PassThrough", "LM0", "LM0_OOV", "mkn", "mkn_OOV", "CountEF"]
numbers = st.floats(-100, 100, allow_nan=False)
feature_values = st.fixed_dictionaries({name: st.tuples(numbers, numbers) for name in NAMES})


def product(weights: Any, values: Any) -> float:
    return sum(w * v for name in weights for w, v in zip(weights[name], values[name], strict=False))


def test_units_of_cdec() -> None:
    """Three words, p = 1/100: cdec's features are -2 and -3 / ln 10, ours are ln 0.01 and 3."""
    theirs = {
        "LanguageModel": (0.7,),
        "LanguageModel_OOV": (-1.5,),
        "WordPenalty": (-2.0,),
        "Glue": (0.3,),
        "F": (4.0,),
    }
    ours = import_weights(theirs, "cdec", models={"mkn": "LanguageModel"})
    assert list(ours) == ["mkn", "mkn_OOV", "WordPenalty", "Glue", "F"]
    assert ours["mkn"] * math.log(0.01) == pytest.approx(0.7 * -2)
    assert ours["WordPenalty"] * 3 == pytest.approx(-2.0 * -3 / LN10)
    assert (ours["mkn_OOV"], ours["Glue"], ours["F"]) == (-1.5, 0.3, 4.0)
    assert import_weights({"LanguageModel": (LN10,)}, "cdec") == {"LM0": pytest.approx(1)}
    assert export_weights({"LM0": 1.0}, "cdec") == {"LanguageModel": (pytest.approx(LN10),)}


def test_units_of_moses(tmp_path: Path) -> None:
    ini = tmp_path / "moses.ini"
    weights = "LM0= 0.5 -1\nWordPenalty0= -2\nPhrasePenalty0= 0.2\nUnknownWordPenalty0= 1\n"
    rules = "TranslationModel0= 0.1 0.2 0.3 0.4\nTranslationModel1= 0.6\n"
    ini.write_text(f"[feature]\nx\n[weight]\n{weights}{rules}")
    ours = import_weights(ini, "moses")
    assert ours == {
        "LM0": 0.5,
        "LM0_OOV": -1.0,
        "WordPenalty": 2.0,
        "PassThrough": -100.0,
        "FgivenE": 0.1,
        "LexFgivenE": 0.2,
        "EgivenF": 0.3,
        "LexEgivenF": 0.4,
        "RulePenalty": 0.2,
        "Glue": pytest.approx(0.8),  # Moses' phrase penalty counts the rules of its glue grammar, too
    }
    assert export_weights(ours, "moses")["TranslationModel1"] == (pytest.approx(0.6),)
    assert export_weights({"EgivenF": 1.0}, "moses")["TranslationModel0"] == (0.0, 0.0, 1.0, 0.0)
    with pytest.raises(ConfigError, match="TranslationModel0 has 5 weights"):
        import_weights({"TranslationModel0": (1.0,) * 5}, "moses")


@pytest.mark.parametrize("system", ["cdec", "moses"])
@given(drawn=feature_values)
def test_products_of_weights_and_features_stay(system: SystemName, drawn: dict[str, tuple[float, float]]) -> None:
    weights = {name: weight for name, (weight, _) in drawn.items()}
    entry = KBestEntry("0", ("a",), {name: (value,) for name, (_, value) in drawn.items()})
    total = product({name: (weight,) for name, weight in weights.items()}, entry.features)
    models = {"LM0": "LanguageModel", "mkn": "Other"}  # of which only the first is recognised
    theirs = export_weights(weights, system, models=models)
    [converted] = convert_kbest([entry], "morphlm", system, models=models)
    assert product({name: theirs[name] for name in converted.features}, converted.features) == pytest.approx(total)
    back = import_weights(theirs, system, models=models)
    assert {name: back[name] for name in weights} == pytest.approx(weights)
    [again] = convert_kbest([converted], system, "morphlm", models=models)
    assert {name: again.features[name] for name in weights} == {
        name: pytest.approx(values) for name, values in entry.features.items()
    }


def test_the_rule_penalty_is_cdecs_arity_penalty() -> None:
    """Three rules and two glue rules: cdec counts the latter too, among those with two gaps."""
    theirs = export_weights({"RulePenalty": 0.5, "Glue": 0.2}, "cdec")
    assert theirs == {"Glue": (pytest.approx(-0.3),), "Arity_0": (0.5,), "Arity_1": (0.5,), "Arity_2": (0.5,)}
    assert pytest.approx(3 * 0.5 + 2 * 0.5 + 2 * -0.3) == 3 * 0.5 + 2 * 0.2
    assert import_weights(theirs, "cdec") == pytest.approx({"RulePenalty": 0.5, "Glue": 0.2})
    assert export_weights({"RulePenalty": 0.0, "Glue": 1.0}, "cdec") == {"Glue": (1.0,)}
    assert import_weights({"Arity_0": (0.0,), "A": (1.0,)}, "cdec") == {"A": 1.0}


def test_features_of_cdecs_extractor() -> None:
    weights = import_weights({"EgivenFCoherent": (-2.0,), "SampleCountF": (1.0,)}, "cdec", extractor=True)
    assert weights == pytest.approx({"EgivenF": 2 / LN10, "SampleCountF": 1 / LN10})
    assert import_weights({"SampleCountF": (1.0,)}, "cdec") == {"SampleCountF": 1.0}
    with pytest.raises(ConfigError, match="about cdec's extractor"):
        import_weights({"LM0": (1.0,)}, "moses", extractor=True)


def test_what_cannot_be_converted() -> None:
    with pytest.raises(ConfigError, match="Arity_0, Arity_1 differ"):
        import_weights({"Arity_0": (1.0,), "Arity_1": (2.0,)}, "cdec")
    with pytest.raises(ConfigError, match="two features would be called LM0"):
        import_weights({"LanguageModel": (1.0,), "LM0": (1.0,)}, "cdec")
    with pytest.raises(ConfigError, match="LexicalReordering0 has 6 values"):
        import_weights({"LexicalReordering0": (1.0,) * 6}, "moses")
    with pytest.raises(ConfigError, match="one name in the other system"):
        import_weights({"A": (1.0,)}, "cdec", models={"a": "LM", "b": "LM"})


# ---------------------------------------------------------------- lists


def test_lists_of_both_notations(tmp_path: Path) -> None:
    entries = [
        KBestEntry("0", ("a", "|||", "\\|||"), {"LM": (-1.5,), "Glue": (2.0,)}, -3.25),
        KBestEntry("0", (), {"LM": (0.0,)}, None),
    ]
    for notation, mark in (("moses", "= "), ("cdec", "=")):
        write_kbest(tmp_path / "list", entries, notation)  # type: ignore[arg-type]
        lines = (tmp_path / "list").read_text().splitlines()
        assert lines[0] == f"0 ||| a \\||| \\\\||| ||| LM{mark}-1.5 Glue{mark}2 ||| -3.25"
        assert list(read_kbest(tmp_path / "list")) == entries
    with pytest.raises(ConfigError, match="has 2 values"):
        KBestEntry("0", (), {"TM": (1.0, 2.0)}).to_line("cdec")
    (tmp_path / "list").write_text("0 ||| a ||| LM=1 ||| 2\n0 ||| a ||| 5 ||| 1\n")
    with pytest.raises(InputError, match=r"list:2: a value has no name"):
        list(read_kbest(tmp_path / "list"))


def test_lists_of_cdec_leave_zeros_out() -> None:
    """So a second model has to be named: it has no feature for unknown words in most lines."""
    lines = [KBestEntry("0", ("a",), {"LM2": (-1.0,), "LM2_OOV": (1.0,)}), KBestEntry("0", ("b",), {"LM2": (-1.0,)})]
    with pytest.raises(ConfigError, match="LM2 seems to be a language model"):
        list(convert_kbest(lines, "cdec", "morphlm"))
    one, other = convert_kbest(lines, "cdec", "morphlm", models={"second": "LM2"})
    assert one.features == {"second": (pytest.approx(-LN10),), "second_OOV": (1.0,)}
    assert other.features == {"second": (pytest.approx(-LN10),)}


def test_features_without_a_counterpart_stay() -> None:
    entry = KBestEntry("3", ("a",), {"LM0": (-2.0,), "Reordering0": (1.0, 2.0), "PhrasePenalty0": (4.0,)}, -1.0)
    [ours] = convert_kbest([entry], "moses", "morphlm")
    assert ours.features == {
        "LM0": (-2.0,),
        "Reordering0_0": (1.0,),
        "Reordering0_1": (2.0,),
        "PhrasePenalty0": (4.0,),
    }
    [theirs] = convert_kbest([entry], "moses", "cdec")
    assert theirs.to_line("cdec") == (
        "3 ||| a ||| LanguageModel=-0.868589 Reordering0_0=1 Reordering0_1=2 PhrasePenalty0=4 ||| -1"
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_system(tmp_path_factory.mktemp("conversion"), count=60)


def test_commands(place: Path, tmp_path: Path, morphlm_command: Command) -> None:
    """The score of every line is the product of what cdec would be given, up to six digits."""
    text = tmp_path / "text"
    text.write_text("the noun1s verb3 the noun2 .\n")
    moses = morphlm_command("translate", "decode", place, text, "--kbest", "5")
    cdec = morphlm_command("translate", "decode", place, text, "--kbest", "5", "--kbest-format", "cdec")
    assert cdec.stdout == moses.stdout.replace("= ", "=") != moses.stdout
    (tmp_path / "list").write_text(moses.stdout)
    converted = morphlm_command("translate", "kbest", tmp_path / "list", "--to", "cdec")
    weights = json.loads(morphlm_command("translate", "weights", place, "--to", "cdec", "--json").stdout)
    assert weights["LanguageModel"] == pytest.approx(0.5 * LN10)
    assert tuned_weights(place) == TranslationSystem.load(place).weights
    (tmp_path / "list").write_text(converted.stdout)
    entries = list(read_kbest(tmp_path / "list"))
    assert len(entries) == 5
    for entry in entries:
        total = sum(weight * entry.features[name][0] for name, weight in weights.items())
        assert entry.score == pytest.approx(total, abs=1e-3)
    (tmp_path / "weights").write_text(morphlm_command("translate", "weights", place, "--to", "cdec").stdout)
    back = morphlm_command(
        "translate", "weights", str(tmp_path / "weights"), "--from", "cdec", "--lm", "mkn=LanguageModel"
    )
    (tmp_path / "back").write_text(back.stdout)
    again = morphlm_command("translate", "decode", place, text, "--kbest", "5", "--weights", str(tmp_path / "back"))
    assert again.stdout == moses.stdout


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["weights", "A=1"], "both morphlm"),
        (["weights", "A=1", "--from", "cdec", "--to", "moses", "--lm", "a=b"], "in two steps"),
        (["weights", "A=1", "--from", "cdec", "--lm", "a"], "no pair of names"),
        (["weights", "A=1", "--to", "cdec", "--run", "1"], "--run is a run of a system"),
        (["weights", ".", "--from", "cdec"], "leave --from out"),
        (["decode", "nothing", "--kbest-format", "cdec"], "add --kbest"),
    ],
)
def test_bad_options(morphlm_command: Command, arguments: list[str], what: str) -> None:
    outcome = morphlm_command("translate", *arguments)
    assert outcome.status == 2 and what in outcome.stderr and "Traceback" not in outcome.stderr


def test_any_word_may_pass(place: Path, morphlm_command: Command, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("the noun1 .\n")
    weights = "--weights", "PassThrough=5"
    plain = morphlm_command("translate", "decode", place, tmp_path / "text", *weights)
    passed = morphlm_command("translate", "decode", place, tmp_path / "text", *weights, "--pass-all")
    assert passed.stdout == "the noun1 .\n" != plain.stdout
