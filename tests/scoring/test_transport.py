"""Models that are pickled, copied, shared by threads, or sent to other processes say the same to the last bit."""

from __future__ import annotations

import copy
import multiprocessing
import operator
import os
import pickle
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from morphlm.compiling import njit
from morphlm.errors import FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear import model as logbilinear
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.scoring.mixing import mix
from morphlm.scoring.mixture import MixtureModel
from morphlm.scoring.spelling import train_spelling
from morphlm.segmentation.segmenter import train_segmenter
from morphlm.vectors.reading import load_vectors
from tests.scoring.travelling import MAKERS, answers, fresh, total
from tests.training.small import sentences

SMALL = 2_000  # bytes of a pickle that names a directory


def pickled(model: Any) -> Any:
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("name", MAKERS)
def test_pickles_and_copies_of_models_in_memory(name: str) -> None:
    model = fresh(name)
    before = pickle.dumps(model), copy.copy(model), copy.deepcopy(model)
    expected = answers(model)
    assert answers(pickle.loads(before[0])) == answers(before[1]) == answers(before[2]) == expected
    again = pickled(model)
    assert answers(again) == expected
    assert answers(pickled(again)) == expected
    assert answers(copy.copy(model)) == answers(copy.deepcopy(model)) == expected


@pytest.mark.parametrize("name", MAKERS)
def test_pickles_of_models_with_a_directory_name_it(tmp_path: Path, name: str) -> None:
    model = fresh(name, tmp_path / "model")
    first = pickle.dumps(model)
    expected = answers(model)
    assert len(first) < SMALL
    assert len(pickle.dumps(model)) < SMALL
    loaded = pickle.loads(first)
    assert answers(loaded) == expected
    assert len(pickle.dumps(loaded)) < SMALL
    shutil.move(tmp_path / "model", tmp_path / "elsewhere")  # now the content is sent
    assert answers(pickled(model)) == expected
    with pytest.raises(FormatError, match="there is no such model"):
        pickle.loads(first)


def test_a_directory_is_named_after_saving_too_and_by_its_real_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = train_ngram(sentences(40, 1), 2)
    monkeypatch.chdir(tmp_path)
    model.save("model")
    content = pickle.dumps(model)
    assert len(content) < SMALL
    monkeypatch.chdir("/")
    assert answers(pickle.loads(content)) == answers(model)


def test_another_model_in_the_directory_is_refused(tmp_path: Path) -> None:
    model = train_ngram(sentences(40, 1), 2)
    model.save(tmp_path / "model")
    content = pickle.dumps(model)
    train_ngram(sentences(40, 2), 2).save(tmp_path / "model")
    with pytest.raises(FormatError, match=r"model: another model is here now than the one that was pickled; pickle"):
        pickle.loads(content)
    assert answers(pickled(model)) == answers(model)  # by its content


def test_settings_and_changed_records_travel(tmp_path: Path) -> None:
    model: Any = fresh("clbl++", tmp_path / "model")
    model.threads, model.cache_megabytes = 3, 0.5
    for other in (pickled(model), copy.copy(model), copy.deepcopy(model)):
        assert (other.threads, other.cache_megabytes) == (3, 0.5)
    mixture = mix([model, fresh("mkn")], weights=[0.5, 0.5], out=tmp_path / "mixture")
    assert len(pickle.dumps(mixture)) < SMALL
    assert pickled(mixture).parts[0].threads == 3
    model.training["note"] = "mine"
    assert pickled(model).training == model.training


def test_a_mixture_in_memory_names_the_directories_of_its_components(tmp_path: Path) -> None:
    models = [fresh("mkn", tmp_path / "mkn"), fresh("clbl++", tmp_path / "clbl++")]
    mixture = mix(models, weights=[0.5, 0.5])
    assert len(pickle.dumps(mixture)) < 2 * SMALL
    assert answers(pickled(mixture)) == answers(mixture)


def test_copies_share_arrays_but_not_settings_and_caches(tmp_path: Path) -> None:
    model: Any = fresh("clbl++", tmp_path / "model")
    answers(model)
    for other in (copy.copy(model), copy.deepcopy(model)):
        assert other.parameters.Q is model.parameters.Q
        assert other.queries is not model.queries
        assert all(map(operator.is_, other.queries.model, model.queries.model))
        other.threads = 7
        assert model.threads is None
    assert copy.copy(model).training is model.training
    assert copy.deepcopy(model).training is not model.training
    mixture = mix([model, fresh("mkn")], weights=[0.5, 0.5])
    deep: MixtureModel = copy.deepcopy(mixture)
    assert deep.parts[0] is not mixture.parts[0]
    first, second = copy.deepcopy([model, model])
    assert first is second


def test_a_model_of_no_known_kind_is_pickled_as_any_object() -> None:
    model = train_ngram(sentences(40, 1), 2)
    expected = model.sentence(["domu"])
    model.kind = "unheard-of"
    assert pickled(model).sentence(["domu"]) == expected


# ---------------------------------------------------------------- what models are made of


def test_parts_of_models_survive_without_their_caches(tmp_path: Path) -> None:
    model: Any = fresh("clbl++", tmp_path / "model")
    vocabulary, partition, vectors = model.vocabulary, model.partition, model.vectors
    assert vocabulary.ids and partition.members and vectors.neighbours("domu")
    assert "ids" not in vars(pickled(vocabulary))
    for other in (pickled(vocabulary), copy.copy(vocabulary), copy.deepcopy(vocabulary)):
        assert (other.words, other.ids, other.counts.tolist()) == (
            vocabulary.words,
            vocabulary.ids,
            vocabulary.counts.tolist(),
        )
    for other in (pickled(partition), copy.deepcopy(partition)):
        assert other.class_of.tolist() == partition.class_of.tolist()
        assert [members.tolist() for members in other.members] == [members.tolist() for members in partition.members]
    for other in (pickled(vectors), copy.copy(vectors), copy.deepcopy(vectors)):
        assert other.neighbours("domu") == vectors.neighbours("domu")
        assert other.matrix.tobytes() == vectors.matrix.tobytes()
    assert pickled(model.queries).log_probability((3, 4), 5) == model.queries.log_probability((3, 4), 5)


def test_segmenters_spelling_and_states_survive() -> None:
    segmenter = train_segmenter({"domu": 2, "domy": 1, "školu": 1})
    spelling = train_spelling(fresh("mkn").vocabulary)
    words = ["domem", "školy", "x"]
    for _ in range(2):  # before and after the first question
        for turn in (pickled, copy.copy, copy.deepcopy):
            assert turn(segmenter).segment_all(words) == segmenter.segment_all(words)
            assert turn(spelling).log_shares(words).tobytes() == spelling.log_shares(words).tobytes()
    for name in ("mkn", "clbl", "wide", "nested mixture"):
        model = fresh(name)
        _, state = model.score(model.begin(), "domu")
        assert pickled(state) == copy.deepcopy(state) == state
        assert model.score(pickled(state), "polem") == model.score(state, "polem")


@pytest.mark.parametrize("order", ["C", "F"])
def test_vectors_of_a_file_do_not_know_its_name(tmp_path: Path, order: Any) -> None:
    matrix = np.asarray(np.arange(12, dtype=np.float32).reshape(4, 3), order=order)
    np.save(tmp_path / "vectors.npy", matrix)
    (tmp_path / "vectors.words.txt").write_text("a\nb\nc\nd\n")
    vectors = load_vectors(tmp_path / "vectors.npy")
    assert not has_file_name(vectors.vectors)
    assert vectors.vectors.tolist() == matrix.tolist() == pickled(vectors).vectors.tolist()


def has_file_name(array: Any) -> bool:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


# ---------------------------------------------------------------- threads and processes


@pytest.mark.parametrize("name", ["mkn", "clbl++", "wide", "mixture"])
def test_eight_threads_share_a_model(name: str) -> None:
    expected, model = answers(fresh(name)), fresh(name)
    with ThreadPoolExecutor(8) as pool:
        assert all(result == expected for result in pool.map(answers, [model] * 32))


def test_a_fork_while_another_thread_composes_a_model() -> None:
    # The child must not wait for the lock of a thread that it does not have.
    expected, model = answers(fresh("clbl++")), fresh("clbl++")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with logbilinear._compiling:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        child = _fork_answers(model)
        assert child == expected
    finally:
        done.set()
        thread.join()


def test_a_fork_waits_while_another_thread_compiles_a_kernel() -> None:
    # Numba's lock would be held for ever in the child.
    held = threading.Event()

    def compile_slowly() -> None:
        with global_compiler_lock:
            held.set()
            time.sleep(0.3)

    expected, model = answers(fresh("mkn")), fresh("mkn")
    thread = threading.Thread(target=compile_slowly)
    thread.start()
    held.wait()
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_compile_something)
    child.start()
    child.join(60)
    child.kill()
    thread.join()
    assert child.exitcode == 0
    assert _fork_answers(model) == expected


def _compile_something() -> None:
    assert njit()(lambda number: number + 1)(1) == 2


def _fork_answers(model: LanguageModel) -> Any:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_send_answers, args=(theirs, model))
    child.start()
    try:
        assert ours.poll(60), "the child hangs"
        return ours.recv()
    finally:
        child.kill()
        child.join()


def _send_answers(pipe: Any, model: LanguageModel) -> None:
    pipe.send(answers(model))


@pytest.fixture
def misleading_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory is that of another model, whose files have the names that ours have."""
    train_ngram(sentences(300, 9), 4).save(tmp_path / "other")
    monkeypatch.chdir(tmp_path / "other")
    yield tmp_path
    assert os.getcwd() == str(tmp_path / "other")  # noqa: PTH109


def test_joblib_and_spawned_processes_get_the_model_that_was_meant(misleading_folder: Path) -> None:
    models = [fresh("mkn", misleading_folder / "mkn"), fresh("clbl++", misleading_folder / "clbl++"), fresh("mixture")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        spawned = pool.map(answers, models)
    vectors: Any = models[1]
    arrays = [load(misleading_folder / "mkn").trie.words, vectors.parameters.Q]  # type: ignore[attr-defined]
    run = joblib.Parallel(n_jobs=2, max_nbytes=1)  # even small arrays are shared as files
    sent = run(joblib.delayed(answers)(model) for model in models)
    sums = run(joblib.delayed(total)(array) for array in arrays)
    assert spawned == sent == [answers(model) for model in models]
    assert sums == [total(array) for array in arrays]
