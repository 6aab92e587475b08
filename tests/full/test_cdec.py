"""The plug-in inside a real cdec: MORPHLM_CDEC in the environment names its source tree, which has a built program."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from morphlm.compiled.exporting import export_compiled
from morphlm.language_model.base import LanguageModel
from morphlm.translation import Decoder, DecoderConfig
from morphlm.translation.grammar.reading import read_rules
from tests.compiled.building import COMPILERS, build, compiler, run_program
from tests.compiled.models import MODELS, ngrams
from tests.full.test_native import SANITIZED
from tests.integrations.test_cdec import random_lines
from tests.test_docs import ROOT, examples
from tests.training.small import sentences

pytestmark = pytest.mark.full

PLUGIN = ROOT / "integrations" / "cdec"
PROBES = [ROOT / "tests" / "integrations" / name for name in ("chart_probe.cc", "arguments_probe.cc")]
PROGRAM = Path("build", "decoder", "cdec")
SOURCE_WORDS = [f"s{k}" for k in range(6)]
NAMES = ("n-grams of order 3", "clbl++ full", "lbl diagonal", "mixture by n-grams", "clbl+c of order 7")
WEIGHTS = {"F": 0.7, "Glue": -0.3, "PassThrough": -2.0}
WORD_WEIGHT = -0.4


@dataclass(frozen=True)
class Cdec:
    """The program, and the plug-in that was built for it."""

    program: Path
    library: Path

    def run(self, *arguments: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
        command = [str(self.program), *map(str, arguments)]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Candidate:
    """A line of a k-best list."""

    tokens: list[str]
    features: dict[str, float]
    score: float

    @classmethod
    def parse(cls, line: str) -> Candidate:
        _, words, features, score = line.split(" ||| ")
        pairs = (pair.split("=") for pair in features.split())
        return cls(words.split(), {name: float(value) for name, value in pairs}, float(score))


@pytest.fixture(scope="module")
def source_tree() -> Path:
    given = os.environ.get("MORPHLM_CDEC")
    if not given:
        pytest.skip("MORPHLM_CDEC is not set; let it name the source tree of a cdec that is built in its folder build")
    if not (Path(given) / PROGRAM).is_file():
        pytest.skip(f"MORPHLM_CDEC is set, but there is no {Path(given) / PROGRAM}")
    compiler("g++")
    return Path(given)


@pytest.fixture(scope="module")
def cdec(source_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Cdec:
    library = tmp_path_factory.mktemp("plugin") / "libff_morphlm.so"
    command = ["make", "-C", str(PLUGIN), f"CDEC={source_tree}", f"OUT={library}", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return Cdec(source_tree / PROGRAM, library)


@pytest.fixture(scope="module")
def grammar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Words, phrases and reorderings, with target words that the models know, and some that they do not."""
    rng = np.random.default_rng(3)
    targets = [*ngrams().vocabulary.words[3:12], "nowhere"]
    lines = []
    for word in SOURCE_WORDS[:-1]:  # the last one passes through
        for side in rng.choice(targets, 3, replace=False):
            lines.append(f"[X] ||| {word} ||| {side} ||| F={rng.normal():.4f}")
        first, second = rng.choice(targets, 2)
        lines.append(f"[X] ||| {word} [X,1] ||| [1] {first} {second} ||| F={rng.normal():.4f}")
        lines.append(f"[X] ||| [X,1] {word} [X,2] ||| {first} [2] [1] ||| F={rng.normal():.4f}")
    path = tmp_path_factory.mktemp("grammar") / "grammar"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def plug(cdec: Cdec, path: Path, name: str, options: str = "-p 12") -> str:
    return f"External {cdec.library} {path} -n {name} {options}"


def decode(
    cdec: Cdec, grammar: Path, features: Sequence[str], weights: dict[str, float], lines: Sequence[str], *more: str
) -> list[list[Candidate]]:
    """The k-best lists of lines."""
    (grammar.parent / "weights").write_text("".join(f"{name} {value!r}\n" for name, value in weights.items()))
    functions = [part for feature in ("WordPenalty", *features) for part in ("-F", feature)]
    done = cdec.run(
        *("--formalism", "scfg", "-P", "-S", "15", "-k", "20", "-w", grammar.parent / "weights", "-g", grammar),
        *(*functions, *more),
        text="".join(f"{line}\n" for line in lines),
    )
    assert done.returncode == 0, done.stderr
    lists: list[list[Candidate]] = [[] for _ in lines]
    for line in done.stdout.splitlines():
        lists[int(line.split(" ", 1)[0])].append(Candidate.parse(line))
    return lists


def source_lines() -> list[str]:
    rng = np.random.default_rng(1)
    return [" ".join(rng.choice(SOURCE_WORDS, size)) for size in (1, 2, 3, 5, 8, 12)]


def cdec_weights(names: Sequence[str]) -> dict[str, float]:
    """cdec's WordPenalty of a word is -log10 e."""
    return WEIGHTS | {"WordPenalty": -WORD_WEIGHT * math.log(10)} | dict.fromkeys(names, 0.5)


def expected(model: LanguageModel, tokens: Sequence[str]) -> float:
    return sum(model.sentence(list(tokens)))


def test_sums_of_several_models_are_ours(cdec: Cdec, grammar: Path, tmp_path: Path) -> None:
    models = {f"LM{k}": MODELS[name]() for k, name in enumerate(NAMES)}
    for name, model in models.items():
        export_compiled(model, tmp_path / name)
    features = [plug(cdec, tmp_path / name, name) for name in models]
    lists = decode(cdec, grammar, features, cdec_weights(list(models)), source_lines())
    assert [len(candidates) > 1 for candidates in lists] == [True] * len(lists)
    unknown, known = 0, ngrams().vocabulary.words  # those of all models
    for candidate in (candidate for candidates in lists for candidate in candidates):
        oov = sum(token not in known for token in candidate.tokens)
        unknown += oov
        for name, model in models.items():
            assert candidate.features[name] == pytest.approx(expected(model, candidate.tokens), abs=1e-5)
            assert candidate.features.get(f"{name}_OOV", 0) == oov
    assert unknown > 20


@pytest.mark.parametrize("name", ["n-grams of order 3", "clbl++ full", "mixture by n-grams"])
def test_without_pruning_the_best_translations_are_our_decoder_s(
    cdec: Cdec, grammar: Path, tmp_path: Path, name: str
) -> None:
    model, lines = MODELS[name](), source_lines()[:4]
    export_compiled(model, tmp_path / "model")
    feature = plug(cdec, tmp_path / "model", "LM0")
    lists = decode(cdec, grammar, [feature], cdec_weights(["LM0"]), lines, "--intersection_strategy", "Full")
    weights = WEIGHTS | {"WordPenalty": WORD_WEIGHT, "LM0": 0.5}
    decoder = Decoder([model], weights, DecoderConfig(pop_limit=0, pass_all=True))
    rules = read_rules(grammar)
    found = [decoder.decode(line.split(), rules).score for line in lines]
    assert [candidates[0].score for candidates in lists] == pytest.approx(found, abs=1e-4)


def test_digits_are_asked_for_as_0(cdec: Cdec, tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("[X] ||| a ||| w17 w2 ||| F=1\n")
    model = ngrams()
    export_compiled(model, tmp_path / "model")
    for options, tokens in (("-p 12", ["w17", "w2"]), ("-p 12 -d", ["w00", "w0"])):
        feature = plug(cdec, tmp_path / "model", "LM", options)
        ((best, *_),) = decode(cdec, tmp_path / "grammar", [feature], cdec_weights(["LM"]), ["a"])
        assert best.tokens == ["w17", "w2"]  # as the decoder has them
        assert best.features["LM"] == pytest.approx(expected(model, tokens), abs=1e-5)
        assert best.features.get("LM_OOV", 0) == sum(token not in model.vocabulary.words for token in tokens)


def test_errors_end_cdec_with_one_line(cdec: Cdec, grammar: Path, tmp_path: Path) -> None:
    export_compiled(ngrams(), tmp_path / "model")
    right = plug(cdec, tmp_path / "model", "LM")
    cases = {
        f"External {cdec.library}": "morphlm: the compiled model is missing",
        f"{right} -q": "morphlm: -q is no option",
        plug(cdec, tmp_path / "none", "LM2"): "morphlm: " + str(tmp_path / "none") + ": it cannot be read",
        plug(cdec, grammar, "LM2"): f"morphlm: {grammar}: this is no compiled model",
        right: "morphlm: two models have the feature LM; name one of them: -n NAME",
    }
    for wrong, message in cases.items():
        done = cdec.run("--formalism", "scfg", "-g", grammar, "-F", right, "-F", wrong, text="s1\n")
        assert done.returncode == 2, wrong
        assert done.stderr.splitlines()[-1].startswith(message)
        assert done.stdout == ""


# ---------------------------------------------------------------- without cdec


@pytest.mark.parametrize("name", ["n-grams of order 1", "clbl+c of order 7", "mixture of mixtures"])
def test_derivations_under_sanitizers(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    export_compiled(model, tmp_path / "model")
    lines = "".join(" ".join(line) + "\n" for line in random_lines(model))
    run_program(build(PROBES[0], *SANITIZED, f"-I{PLUGIN}"), tmp_path / "model", "2", text=lines)


@pytest.mark.parametrize("standard", [17, 20])
@pytest.mark.parametrize("with_compiler", COMPILERS)
def test_the_headers_compile_without_warnings(with_compiler: str, standard: int) -> None:
    for probe in PROBES:
        build(probe, "-O3", f"-I{PLUGIN}", with_compiler=with_compiler, standard=standard)


# ---------------------------------------------------------------- the page


def write_texts(folder: Path) -> None:
    """Parallel text: an English word is a Czech one from its end to its beginning."""
    for name, count, seed in (("raw", 300, 1), ("raw.dev", 30, 2), ("raw.test", 5, 3)):
        lines = [" ".join(sentence) for sentence in sentences(count, seed)]
        (folder / f"{name}.cs").write_text("".join(f"{line}\n" for line in lines))
        (folder / f"{name}.en").write_text("".join(f"{' '.join(w[::-1] for w in line.split())}\n" for line in lines))


def test_the_example_of_the_page_runs(source_tree: Path, tmp_path: Path) -> None:
    write_texts(tmp_path)
    commands = examples(ROOT / "docs" / "howto" / "cdec.md", "sh")
    script = "\n".join(["set -euo pipefail", f'morphlm() {{ "{sys.executable}" -m morphlm "$@"; }}', *commands])
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CDEC": str(source_tree),
        "MORPHLM": str(ROOT),
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "out.cs").read_text().splitlines()
    reference = (tmp_path / "raw.test.cs").read_text().splitlines()
    assert sum(a == b for a, b in zip(found, reference, strict=True)) >= 3  # a dictionary is enough for this language
    candidates = [Candidate.parse(line) for line in (tmp_path / "checked.txt").read_text().splitlines()]
    assert len(candidates) > len(reference)
    for candidate in candidates:
        assert candidate.features["CLBL"] == pytest.approx(candidate.features["CHECK"], rel=1e-5, abs=1e-4)
