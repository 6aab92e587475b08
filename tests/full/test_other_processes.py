"""Every kind of model in every kind of other process, and several processes that compile at once."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import pytest

from morphlm.compiling.code_files import PACKAGE
from tests.scoring.travelling import MAKERS, answers, fresh, total

pytestmark = pytest.mark.full

METHODS = ("fork", "spawn", "forkserver", "joblib")

SCORE = """
import hashlib
import morphlm
from tests.scoring.travelling import answers, fresh

print([sorted(answers(fresh(kind)).items()) for kind in ("mkn", "clbl++")])
"""


def run(method: str, models: list[Any]) -> list[Any]:
    if method == "joblib":
        results: list[Any] = joblib.Parallel(n_jobs=2, max_nbytes=1)(joblib.delayed(answers)(m) for m in models)
        return results
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map(answers, models)


@pytest.mark.parametrize("has_directory", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_every_model_before_and_after_its_first_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, has_directory: bool
) -> None:
    models = [fresh(name, tmp_path / name if has_directory else None) for name in MAKERS]
    fresh("arpa").save(tmp_path / "misleading")
    monkeypatch.chdir(tmp_path / "misleading")
    before = run(method, models)
    expected = [answers(model) for model in models]
    assert before == expected
    assert run(method, models) == expected


def test_arrays_of_models_in_joblib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models: list[Any] = [fresh(name, tmp_path / name) for name in ("mkn", "clbl++", "full", "wide")]
    fresh("arpa").save(tmp_path / "misleading")
    monkeypatch.chdir(tmp_path / "misleading")
    arrays = [models[0].trie.logprob, models[0].trie.first_child]
    arrays += [array for model in models[1:] for array in (*model.parameters, model.vectors.matrix)]
    sent = joblib.Parallel(n_jobs=2, max_nbytes=1)(joblib.delayed(total)(array) for array in arrays)
    assert sent == [total(array) for array in arrays]


def test_processes_of_two_types_of_cpu_that_compile_all_kernels_of_models_at_once(tmp_path: Path) -> None:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    variables["PYTHONPATH"] = f"{PACKAGE.parent}:{Path(__file__).parents[2]}"

    def start(cpu: str) -> subprocess.Popen[str]:
        settings = variables | ({"NUMBA_CPU_NAME": cpu} if cpu else {})
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", SCORE], env=settings, stdout=pipe, stderr=pipe, text=True)

    def outputs() -> list[str]:
        started = [start(cpu) for cpu in ("", "generic") * 2]
        finished = [process.communicate() for process in started]
        assert [process.returncode for process in started] == [0] * 4, finished
        return [out for out, _ in finished]

    cold, warm = outputs(), outputs()
    assert cold[0] == cold[2]
    assert cold[1] == cold[3]
    assert warm == cold
