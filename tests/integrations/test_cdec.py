"""The plug-in for cdec without cdec: phrases joined in random ways against `model.sentence`, and its arguments.

With the real cdec: `tests/full/test_cdec.py`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from morphlm.compiled.exporting import export_compiled
from morphlm.language_model.base import LanguageModel
from tests.compiled.building import build, run_program
from tests.compiled.models import MODELS, logbilinear, ngrams, sentences, text
from tests.language_model import state_models

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "integrations" / "cdec"
FLAGS = ("-O2", f"-I{PLUGIN}")


def derive(
    model: LanguageModel, path: Path, lines: list[list[str]], extra_words: Sequence[str] = ()
) -> list[tuple[float, int]]:
    """ln p and the number of unknown words of sentences; the probe compares all its derivations of each with that."""
    export_compiled(model, path, extra_words=extra_words)
    joined = "".join(" ".join(line) + "\n" for line in lines)
    printed = run_program(build(HERE / "chart_probe.cc", *FLAGS), path, "1", text=joined)
    return [(float(score), int(unknown)) for score, unknown in map(str.split, printed.splitlines())]


def random_lines(model: LanguageModel) -> list[list[str]]:
    """Sentences of real word order, which are short, and of random words: none, and up to many times the order."""
    rng, words = np.random.default_rng(1), (*model.vocabulary.words[3:], "<unk>")
    lengths = (0, 1, 2, 3, 5, 8, 13, 21, 34)
    real = sentences(text(), model.vocabulary)[:10]
    return real + [[words[k] for k in rng.integers(len(words), size=length)] for length in lengths]


@pytest.mark.parametrize("name", MODELS)
def test_derivations_add_up_to_the_score_of_the_sentence(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    lines = random_lines(model)
    expected = [sum(model.sentence(line)) for line in lines]
    found = [score for score, _ in derive(model, tmp_path / "model", lines)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("model", [ngrams(), logbilinear()], ids=lambda model: model.kind)
def test_marks_in_the_text_are_unknown_words(model: LanguageModel, tmp_path: Path) -> None:
    known = model.vocabulary.words[5]
    lines = [[known, mark, known] for mark in ("<s>", "</s>", "<unk>", "nowhere")] + [[known, known], []]
    found = derive(model, tmp_path / "model", lines)
    assert [unknown for _, unknown in found] == [1, 1, 1, 1, 0, 0]
    scores = [score for score, _ in found]
    assert scores[:4] == [pytest.approx(sum(model.sentence([known, "nowhere", known])), abs=1e-5)] * 4
    assert scores[4:] == [pytest.approx(sum(model.sentence(line)), abs=1e-5) for line in lines[4:]]


def test_contexts_compose_listed_words_which_count_as_unknown(tmp_path: Path) -> None:
    model = state_models.logbilinear("clbl++")
    first, second, third = model.vocabulary.words[3:6]
    line = [first, "domouška", second, "domouška", third]
    ((found, unknown),) = derive(model, tmp_path / "model", [line], ["domouška"])
    state, composed = model.begin(unknown_contexts="composed"), 0.0
    for word in (*line, "</s>"):
        logprob, state = model.score(state, word)
        composed += logprob
    assert unknown == 2
    assert found == pytest.approx(composed, abs=1e-5)
    assert found != pytest.approx(sum(model.sentence(line)), abs=0.01)


# ---------------------------------------------------------------- arguments


def arguments(path: Path | str, options: str = "", word: str = "") -> subprocess.CompletedProcess[str]:
    program = build(HERE / "arguments_probe.cc", *FLAGS)
    return subprocess.run([program, f"{path} {options}", word], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compiled") / "model.mlm"
    export_compiled(ngrams(2), path)
    return path


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ("", "MorphLM 32 0 0 v1990"),
        ("-n CLBL -c 0.5", "CLBL 0.5 0 0 v1990"),
        ("-d -v -p 12", "MorphLM 32 12 1 v0000"),
    ],
)
def test_arguments(compiled: Path, options: str, printed: str) -> None:
    done = arguments(compiled, options, "v1990")
    assert (done.returncode, done.stdout, done.stderr) == (0, printed + "\n", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-n", "-n needs a value; feature_function=External LIBRARY MODEL"),
        ("-c", "-c needs a value"),
        ("-c many", "-c many: the size of the cache is a number of megabytes"),
        ("-c 1x", "-c 1x: the size"),
        ("-c -1", "-c -1: the size"),
        ("-c nan", "-c nan: the size"),
        ("-p 0", "-p 0: features are printed with 1 to 17 digits"),
        ("-p 6.5", "-p 6.5: features are printed"),
        ("-n A=B", "-n A=B: the name of a feature has no '='"),
        (
            "-n A_OOV",
            "-n A_OOV: the name of a feature has no '=', ';' or '|', does not begin with '-' and does not end",
        ),
        ("-n -c", "-n -c: the name of a feature"),
        ("-x", "-x is no option; feature_function=External"),
        ("other.mlm", "and other.mlm; give each a feature_function of its own"),
    ],
)
def test_wrong_arguments_are_named(compiled: Path, options: str, message: str) -> None:
    done = arguments(compiled, options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_wrong_files_are_named(compiled: Path, tmp_path: Path) -> None:
    model, damaged = tmp_path / "model", tmp_path / "damaged.mlm"
    ngrams(2).save(model)
    raw = bytearray(compiled.read_bytes())
    raw[-1] ^= 1  # the last section holds the scores of the self-test
    damaged.write_bytes(raw)
    (tmp_path / "text").write_text("no model\n" * 100)
    cases = {
        "": "the compiled model is missing; feature_function=External",
        str(model): f"cdec needs a compiled model; run: morphlm export {model} FILE --format compiled",
        str(
            tmp_path / "none"
        ): f"{tmp_path / 'none'}: it cannot be read (No such file or directory); give the full path",
        str(tmp_path / "text"): "this is no compiled model; give the full path of a file that `morphlm export",
        f"{damaged} -v": "the content differs from its hash; export the model again",
    }
    for given, message in cases.items():
        done = arguments(given)
        assert done.returncode == 2, given
        assert message in done.stderr
