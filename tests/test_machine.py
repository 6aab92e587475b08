"""The record of the type of machine says what decides last digits, and nothing else that happens to be loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import scipy

from morphlm import machine
from morphlm.machine import blas_libraries, describe_machine, machine_type

PRINT = "import json; from morphlm.machine import machine_type; print(json.dumps(dict(machine_type())))"


def machine_with(**environment: str) -> dict[str, str]:
    source = str(Path(machine.__file__).parents[1])
    command = [sys.executable, "-c", PRINT]
    changed = {**os.environ, "PYTHONPATH": source, **environment}
    printed = subprocess.run(command, env=changed, capture_output=True, text=True, check=True).stdout
    result: dict[str, str] = json.loads(printed)
    return result


def test_the_record_names_cpu_and_blas() -> None:
    record = machine_type()
    assert sorted(record) == ["blas", "blas_kernels", "blas_version", "cpu", "vectors"]
    assert all(isinstance(value, str) for value in record.values())
    assert record["cpu"]


def test_another_process_says_the_same() -> None:
    assert machine_with() == machine_type()


def test_the_cpu_that_numba_is_told_to_compile_for_shows() -> None:
    there = machine_with(NUMBA_CPU_NAME="generic")
    assert there == {**machine_type(), "cpu": "generic", "vectors": ""}


@pytest.mark.skipif(
    machine_type()["blas"] != "openblas" or os.uname().machine != "x86_64", reason="the names are OpenBLAS's for x86"
)
def test_the_kernels_that_openblas_is_told_to_use_show() -> None:
    assert machine_with(OPENBLAS_CORETYPE="Nehalem") == {**machine_type(), "blas_kernels": "Nehalem"}


def pool(path: Path, **more: Any) -> dict[str, Any]:
    return {"user_api": "blas", "internal_api": "openblas", "version": "1", "filepath": str(path)} | more


def test_libraries_that_kernels_do_not_call_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    own = pool(Path(scipy.__file__).parent.with_name("scipy.libs") / "libopenblas.so")
    other, threads = pool(Path("/elsewhere/libmkl.so"), internal_api="mkl"), pool(Path("/x.so"), user_api="openmp")
    monkeypatch.setattr("morphlm.threads.blas_pools", lambda: [other, threads, own])
    assert blas_libraries() == [own]
    monkeypatch.setattr("morphlm.threads.blas_pools", lambda: [other, threads])
    assert blas_libraries() == [other]


def test_a_description_is_short() -> None:
    record = {"cpu": "znver3", "vectors": "avx2", "blas": "openblas", "blas_version": "0.3.30"}
    assert describe_machine(record | {"blas_kernels": "Haswell"}) == "znver3, openblas 0.3.30 Haswell"
    assert describe_machine({}) == "unknown, unknown unknown unknown"
