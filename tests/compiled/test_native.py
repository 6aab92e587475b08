"""`morphlm.hpp` against Python, in every way that it has to score."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import morphlm
from morphlm.arrays import Float64Array
from morphlm.compiled.exporting import export_compiled
from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import train_ngram
from morphlm.text.reading import RESERVED
from tests.logbilinear.test_unknown_contexts import TEXT, make

from .building import HERE, NATIVE, build, compiler, run_program
from .models import MODELS, WORDS, mixture, sentences, text, wide


def native_scores(path: Path, lines: list[list[str]]) -> Float64Array:
    """ln p of the tokens of sentences, by the probe, which compares single, batched and explicit queries."""
    printed = run_program(build(HERE / "probe.cc", "-O2"), path, text="".join(" ".join(line) + "\n" for line in lines))
    return np.array([float(number) for number in printed.split()])


def compare(model: LanguageModel, path: Path, tolerance: float = 1e-5) -> None:
    lines = sentences(text(), model.vocabulary)
    np.testing.assert_allclose(native_scores(path, lines), model.score_tokens(text()), rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_model(name: str, tmp_path: Path) -> None:
    model, path = MODELS[name](), tmp_path / "model"
    export_compiled(model, path)
    compare(model, path)


def test_the_wide_context_is_fixed_by_the_text_before(tmp_path: Path) -> None:
    model, path = wide(), tmp_path / "model"
    before = sentences(text(), model.vocabulary)[:5]
    export_compiled(model, path, after=before)
    fixed = model.after_text(before)
    compare(fixed, path)
    assert np.abs(fixed.score_tokens(text()) - model.after_text([]).score_tokens(text())).max() > 0.01


@pytest.mark.parametrize("name", ["clbl++ diagonal", "lbl full", "vectors of 64", "mixture by n-grams"])
def test_half_precision_is_read_as_python_reads_it(name: str, tmp_path: Path) -> None:
    export_compiled(MODELS[name](), tmp_path / "model", float16=True)
    compare(morphlm.load(tmp_path / "model"), tmp_path / "model")


@pytest.mark.parametrize("mixed", [False, True], ids=["alone", "in a mixture"])
def test_listed_words_are_composed_in_contexts(mixed: bool, tmp_path: Path) -> None:
    clbl = make("clbl++")
    words = [word for word in clbl.vocabulary.words if word not in RESERVED]
    model = mixture(train_ngram([words], 2, vocabulary=clbl.vocabulary), clbl) if mixed else clbl
    lines = [[word for word in sentence if word != "<unk>"] for sentence in TEXT]
    export_compiled(model, tmp_path / "model", extra_words=["domouška", "poleň", "xyz"])
    scored = native_scores(tmp_path / "model", lines)
    expected = model.score_text(lines, unknown_contexts="composed").logprobs
    np.testing.assert_allclose(scored, expected, rtol=0, atol=1e-5)
    assert np.abs(expected - model.score_text(lines).logprobs).max() > 1e-3


# ---------------------------------------------------------------- C


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    """libmorphlm.so, by the compiler call that morphlm.h names."""
    loaded = ctypes.CDLL(str(build(NATIVE / "morphlm.cc", "-O2", "-shared", "-fPIC", "-fvisibility=hidden")))
    for name in ("morphlm_load", "morphlm_new_cache"):
        getattr(loaded, name).restype = ctypes.c_void_p
    for name in ("morphlm_logprob", "morphlm_logprob_after"):
        getattr(loaded, name).restype = ctypes.c_double
    for name in ("morphlm_error", "morphlm_word"):
        getattr(loaded, name).restype = ctypes.c_char_p
    for name in ("morphlm_state_size", "morphlm_order", "morphlm_vocabulary_size", "morphlm_words"):
        getattr(loaded, name).restype = ctypes.c_size_t
    return loaded


def numbers(count: int) -> ctypes.Array[ctypes.c_int32]:
    return (ctypes.c_int32 * count)()


def test_the_c_interface_gives_the_same(library: ctypes.CDLL, tmp_path: Path) -> None:
    model = MODELS["mixture by n-grams"]()
    export_compiled(model, tmp_path / "model")
    loaded = ctypes.c_void_p(library.morphlm_load(str(tmp_path / "model").encode()))
    cache = ctypes.c_void_p(library.morphlm_new_cache(loaded, ctypes.c_double(1)))
    assert (library.morphlm_verify(loaded), library.morphlm_self_test(loaded)) == (1, 1)
    assert (library.morphlm_order(loaded), library.morphlm_vocabulary_size(loaded)) == (model.order, WORDS)
    assert library.morphlm_words(loaded) == WORDS
    state, size = numbers(library.morphlm_state_size(loaded)), ctypes.c_size_t
    library.morphlm_begin(loaded, state)
    ids = [library.morphlm_id(loaded, word.encode(), size(len(word))) for word in ("w3", "w7", "none", "w1", "</s>")]
    assert ids == [model.vocabulary.id_of(word) for word in ("w3", "w7", "none", "w1", "</s>")]
    assert [library.morphlm_word(loaded, word) for word in (ids[0], 1, 99, -1)] == [b"w3", b"<s>", b"", b""]
    states = [list(state)]
    scored = []
    for word in ids:
        scored.append(library.morphlm_logprob(loaded, state, word, state, cache))
        states.append(list(state))
    expected = model.score_tokens(np.array(ids, np.int32))
    np.testing.assert_allclose(scored, expected, rtol=0, atol=1e-5)
    many, before = (ctypes.c_double * 5)(), numbers(5 * len(state))
    before[:] = [number for one in states[:-1] for number in one]
    assert library.morphlm_logprobs(loaded, before, (ctypes.c_int32 * 5)(*ids), size(5), many, None, cache) == 0
    np.testing.assert_allclose(list(many), expected, rtol=0, atol=1e-5)
    context = (ctypes.c_int32 * 3)(ids[1], ids[0], 1)
    after = library.morphlm_logprob_after(loaded, context, size(3), ids[2], cache)
    assert after == pytest.approx(expected[2], abs=1e-5)
    library.morphlm_state_after(loaded, context, size(3), state)
    assert list(state) == states[2]
    probabilities = (ctypes.c_double * WORDS)()
    assert library.morphlm_distribution(loaded, state, probabilities, cache) == 0
    assert sum(probabilities) == pytest.approx(1, abs=1e-6)
    library.morphlm_null_context(loaded, state)
    nothing = library.morphlm_logprob(loaded, state, ids[0], None, cache)
    assert nothing == pytest.approx(model.score(model.begin(sentence=False), "w3")[0], abs=1e-5)
    library.morphlm_free_cache(cache)
    library.morphlm_free(loaded)


def test_the_c_interface_tells_what_went_wrong(library: ctypes.CDLL, tmp_path: Path) -> None:
    assert library.morphlm_load(str(tmp_path / "none").encode()) is None
    assert b"No such file" in library.morphlm_error()
    (tmp_path / "text").write_text("a b c\n" * 100)
    assert library.morphlm_load(str(tmp_path / "text").encode()) is None
    assert library.morphlm_error().endswith(b"text: this is no compiled model")
    for name in ("one", "other"):
        export_compiled(MODELS["clbl diagonal"](), tmp_path / name)
    one, other = (ctypes.c_void_p(library.morphlm_load(str(tmp_path / name).encode())) for name in ("one", "other"))
    cache = ctypes.c_void_p(library.morphlm_new_cache(one, ctypes.c_double(1)))
    state = numbers(library.morphlm_state_size(other))
    assert math.isnan(library.morphlm_logprob(other, state, 3, None, cache))
    assert library.morphlm_error() == b"this cache is of another model"
    assert library.morphlm_new_cache(one, ctypes.c_double(-1)) is None


def test_the_c_header_is_c() -> None:
    command = [compiler("gcc"), "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-xc"]
    subprocess.run([*command, str(NATIVE / "include" / "morphlm.h")], check=True)


# ---------------------------------------------------------------- examples


def test_the_query_example_scores_like_morphlm_score(tmp_path: Path) -> None:
    model = MODELS["mixture by n-grams"]()
    export_compiled(model, tmp_path / "model")
    printed = run_program(build(NATIVE / "examples" / "query.cc", "-O2"), tmp_path / "model", text="w1 w2 none\n\n")
    first, second = printed.splitlines()
    logprobs = [np.log(10) * float(field.split()[1]) for field in first.split("\t")[:-1]]
    np.testing.assert_allclose(logprobs, model.sentence(["w1", "w2", "none"]), rtol=0, atol=1e-5)
    assert first.endswith("OOV: 1")
    assert float(second.split()[3]) * np.log(10) == pytest.approx(sum(model.sentence([])), abs=1e-5)


def test_the_beam_search_finds_the_best_order(tmp_path: Path) -> None:
    model = MODELS["mixture by n-grams"]()
    export_compiled(model, tmp_path / "model")
    words = ["w5", "w1", "w12", "w3", "w7"]
    printed = run_program(
        build(NATIVE / "examples" / "beam_search.cc", "-O2"), tmp_path / "model", text=" ".join(words)
    )
    score, order = printed.rstrip("\n").split("\t")
    scores = {orders: sum(model.sentence(list(orders))) for orders in permutations(words)}
    best = max(scores, key=scores.__getitem__)
    assert (order, float(score)) == (" ".join(best), pytest.approx(scores[best], abs=1e-4))


@pytest.mark.parametrize("content", [b"", b"morphlm\x1a", b"\x00" * 500, b"morphlm\x1a" + b"\xff" * 500])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(content)
    program = build(NATIVE / "examples" / "query.cc", "-O2")
    done = subprocess.run([program, tmp_path / "model"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{tmp_path}/model: ")
    assert done.stderr.count("\n") == 1


def test_a_library_with_cmake(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake; install it to run this test")
    compiler("c++")
    subprocess.run(["cmake", "-S", NATIVE, "-B", tmp_path], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", tmp_path], check=True, capture_output=True)
    assert (tmp_path / "query").exists()
    assert list(tmp_path.glob("libmorphlm.*"))


def test_the_program_of_the_how_to_page_runs(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "native.md").read_text()
    (tmp_path / "program.cc").write_text(page.split("```cpp\n")[1].split("```")[0])
    model = make("clbl++")
    export_compiled(model, tmp_path / "model.mlm")
    program = build(tmp_path / "program.cc", "-O2")
    done = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, check=True)
    printed = [line.split() for line in done.stdout.splitlines()]
    assert [word for word, _ in printed] == ["škola", "domu", "</s>"]
    expected = model.sentence(["škola", "domu"])
    np.testing.assert_allclose([float(logprob) for _, logprob in printed], expected, rtol=0, atol=1e-4)
