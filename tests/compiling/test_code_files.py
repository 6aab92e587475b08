"""Compiled code is used only if it is of these sources and settings, and nobody else can have written it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from morphlm.compiling import code_files
from morphlm.compiling.code_files import (
    PACKAGE,
    KernelSources,
    code_folder,
    digests,
    find_kernels,
    find_unsafe,
    read_code,
    write_code,
)

needs_root = pytest.mark.skipif(
    os.getuid() != 0 or Path(sys.executable).resolve().is_relative_to(Path.home()),
    reason="only root can act for another user, who must be able to read Python",
)
NOBODY = 65534


def make(folder: Path, name: str, content: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    compiled = path.parent / "__pycache__" / f"{path.stem}.f-1.0123.nbc"
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(b"machine code")
    return path


def has_code(path: Path) -> bool:
    return any((path.parent / "__pycache__").glob(f"{path.stem}.*.nbc"))


def changed_sources(package: Path) -> list[str]:
    """What loses its code when a process begins."""
    with_code = {name for name, path in find_kernels(package).items() if has_code(path)}
    sources = KernelSources(package)
    for path in find_kernels(package).values():
        assert sources.digest_of(path) == digests(find_kernels(package))[sources._name_of(path) or ""]
    return sorted(name for name in with_code if not has_code(find_kernels(package)[name]))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    make(folder, "a/kernels/base.py", "x = 1\n")
    make(folder, "a/kernels/middle.py", "from package.a.kernels.base import f\n")
    make(folder, "a/kernels/last.py", "def g():\n    from package.a.kernels import middle\n")
    make(folder, "b/kernels.py", "from package.a.objects import base\n")
    make(folder, "a/objects.py", "from package.a.kernels.base import f\n")
    changed_sources(folder)
    for path in find_kernels(folder).values():
        make(folder, str(path.relative_to(folder)), path.read_text())
    return folder


def test_a_change_discards_the_code_of_all_that_need_the_file(package: Path) -> None:
    before = digests(find_kernels(package))
    (package / "a/kernels/base.py").write_text("x = 2\n")
    names = ["package.a.kernels.base", "package.a.kernels.last", "package.a.kernels.middle"]
    assert changed_sources(package) == names
    after = digests(find_kernels(package))
    assert [name for name in before if before[name] != after[name]] == names
    assert changed_sources(package) == []


def test_another_date_alone_discards_nothing(package: Path) -> None:
    os.utime(package / "a/kernels/base.py", ns=(5, 5))
    assert changed_sources(package) == []


@pytest.mark.parametrize("record", ["[not what it was]", '{"dates": 1, "sources": 2}', ""])
def test_without_a_record_everything_goes(package: Path, record: str) -> None:
    (package / "__pycache__/kernels.json").write_text(record)
    assert len(changed_sources(package)) == 4


def test_a_file_that_changed_after_the_process_began_is_noticed(package: Path) -> None:
    sources, path = KernelSources(package), package / "b/kernels.py"
    assert sources.is_unchanged(path)
    path.write_text("x = 5\n")
    assert not sources.is_unchanged(path)


def test_our_kernels_and_what_they_need_are_found() -> None:
    files = find_kernels(PACKAGE)
    assert "morphlm.ngram.kernels" in files
    found = digests(files)
    softmax, numerics = "morphlm.logbilinear.kernels.softmax", "morphlm.logbilinear.kernels.numerics"
    others = {name: path for name, path in files.items() if name != numerics}
    assert digests(others)[softmax] != found[softmax]


def test_code_depends_on_every_file_that_says_how_it_is_compiled(tmp_path: Path) -> None:
    package = tmp_path / "morphlm"
    for folder in ("compiling", "segmentation/kernels"):
        shutil.copytree(PACKAGE / folder, package / folder, ignore=shutil.ignore_patterns("__pycache__"))
    changed = sorted((package / "compiling").glob("*.py"))
    kernels = [f"morphlm.segmentation.kernels.{name}" for name in ("baseline", "categories", "paths", "strings")]
    before = digests(find_kernels(package))
    assert "morphlm.compiling" in before and not any(name.endswith("__init__") for name in before)
    for path in changed:
        content = path.read_bytes()
        path.write_bytes(content + b"\nx = 1\n")
        after = digests(find_kernels(package))
        assert [name for name in kernels if after[name] == before[name]] == [], path.name
        path.write_bytes(content)
    assert digests(find_kernels(package)) == before


def test_a_package_is_known_by_the_name_of_its_folder(tmp_path: Path) -> None:
    package = tmp_path / "package"
    make(package, "a/kernels/__init__.py", "from package.a.kernels.base import f\n")
    make(package, "a/kernels/base.py", "x = 1\n")
    user = make(package, "b/kernels.py", "from package.a.kernels import f\n")
    assert sorted(find_kernels(package)) == ["package.a.kernels", "package.a.kernels.base", "package.b.kernels"]
    before = KernelSources(package).digest_of(user)
    (package / "a/kernels/base.py").write_text("x = 2\n")
    assert KernelSources(package).digest_of(user) != before
    assert KernelSources(package).is_unchanged(package / "a/kernels/__init__.py")


def test_all_kernels_are_compiled_by_our_decorator() -> None:
    direct = [name for name, path in find_kernels(PACKAGE).items() if "import njit" in path.read_text()]
    lines = {line for name in direct for line in find_kernels(PACKAGE)[name].read_text().split("\n") if "njit" in line}
    assert {line for line in lines if line.startswith(("from", "import"))} == {"from morphlm.compiling import njit"}


# ---------------------------------------------------------------- who can write


@pytest.mark.parametrize(
    ("mode", "parent", "problem"),
    [
        (0o700, 0o755, None),
        (0o755, 0o1777, None),  # /tmp
        (0o757, 0o755, "others can write to {folder}"),
        (0o1777, 0o755, "others can write to {folder}"),  # they can add files
        (0o700, 0o777, "others can write to {parent}"),  # they can put another folder there
        (0o700, 0o757, "others can write to {parent}"),
    ],
)
def test_a_folder_that_others_can_write_to_is_not_safe(
    tmp_path: Path, mode: int, parent: int, problem: str | None
) -> None:
    folder = tmp_path / "parent" / "folder"
    folder.mkdir(parents=True)
    folder.parent.chmod(parent)
    folder.chmod(mode)
    expected = None if problem is None else problem.format(folder=folder, parent=folder.parent)
    assert find_unsafe(folder) == expected


@needs_root
def test_a_folder_of_another_user_or_group_is_not_safe(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o775)
    assert find_unsafe(folder) is None  # the group root has no other members
    os.chown(folder, 0, NOBODY)
    assert find_unsafe(folder) == f"others can write to {folder}"
    folder.chmod(0o755)
    os.chown(folder, NOBODY, 0)
    assert find_unsafe(folder) == f"{folder} belongs to another user"
    assert find_unsafe(folder, frozenset([NOBODY])) is None


@pytest.fixture
def code(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.nbc"
    write_code(path, b"machine code")
    assert read_code(path) == b"machine code"
    assert path.stat().st_mode & 0o777 == 0o644
    return path


def test_damaged_code_is_not_used(code: Path) -> None:
    whole = code.read_bytes()
    for position in range(len(whole)):
        code.write_bytes(whole[:position])
        assert read_code(code) is None
        code.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert read_code(code) is None


def test_code_that_others_may_have_written_is_not_used(code: Path, tmp_path: Path) -> None:
    code.chmod(0o666)
    assert read_code(code) is None
    code.chmod(0o600)
    (tmp_path / "link").symlink_to(code)
    assert read_code(tmp_path / "link") is None
    if os.getuid() == 0:
        os.chown(code, NOBODY, 0)
        assert read_code(code) is None


def test_code_that_cannot_be_kept_is_no_error(tmp_path: Path) -> None:
    write_code(tmp_path / "nothing" / "kernel.nbc", b"")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- whole processes

KERNELS = """
from morphlm.compiling import njit

@njit(cache=True)
def read(array, index):
    return array[index]
"""
PRINT_READ = """
import numpy
from kernels import read

print(read(numpy.arange(4)[:2], 3), read._cache_hits.total(), read._cache.cache_path)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder with kernels that every user can read; the one of pytest is for its user alone."""
    code_folder.cache_clear()
    folder = Path("/tmp") / f"morphlm-test-{os.getpid()}" if os.getuid() == 0 else tmp_path
    (folder / "code").mkdir(parents=True)
    (folder / "code/kernels.py").write_text(KERNELS)
    for path in (folder, folder / "code"):
        path.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def environment(place: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "HOME", "TMP"))}
    paths = f"{place / 'code'}:{PACKAGE.parent}"
    return {**kept, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", **variables}


def run(place: Path, *code: str, as_nobody: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if as_nobody else []
    command = [*user, sys.executable, *(code or ("-c", PRINT_READ))]
    return subprocess.run(
        command, env=environment(place, **variables), cwd=place, capture_output=True, text=True, check=False
    )


def test_checked_and_unchecked_code_are_kept_apart(place: Path) -> None:
    cache = str(place / "cache")
    plain, checked = run(place, NUMBA_CACHE_DIR=cache), run(place, NUMBA_CACHE_DIR=cache, NUMBA_BOUNDSCHECK="1")
    plain_again = run(place, NUMBA_CACHE_DIR=cache)
    checked_again = run(place, NUMBA_CACHE_DIR=cache, NUMBA_BOUNDSCHECK="1")
    assert plain.stdout.split()[:2] == ["3", "0"]
    assert plain_again.stdout.split()[:2] == ["3", "1"]
    for done in (checked, checked_again):
        assert "IndexError: index is out of bounds" in done.stderr


def test_code_in_a_folder_that_others_can_write_to_is_neither_read_nor_written(place: Path) -> None:
    cache = place / "cache"
    assert run(place, NUMBA_CACHE_DIR=str(cache)).stdout.split()[1] == "0"
    assert run(place, NUMBA_CACHE_DIR=str(cache)).stdout.split()[1] == "1"
    cache.chmod(0o777)
    done = run(place, NUMBA_CACHE_DIR=str(cache))
    assert done.stdout.split() == ["3", "0", str(place / "code/__pycache__")]
    assert done.stderr.startswith(f"others can write to {cache}, so compiled code is not kept in {cache}/")
    assert done.stderr.endswith(f"; mend it by `chmod -R go-w {cache}`\n")
    assert done.stderr.count("\n") == 1


def test_many_folders_that_others_can_write_to_are_one_warning(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_files, "_notes", {})
    cache = place / "cache"
    for name in ("one", "two", "three"):
        sources = place / name
        sources.mkdir(mode=0o755)
        folder = code_folder(sources, str(cache))
        assert folder is not None
        folder.chmod(0o777)
        code_folder.cache_clear()
    assert [code_folder(place / name, str(cache)) for name in ("one", "two", "three")] == [
        place / name / "__pycache__" for name in ("one", "two", "three")
    ]
    code_files.say_notes()
    said = capsys.readouterr().err
    assert said.startswith(f"warning: others can write to {cache}/one_")
    assert said.count("\n") == 1


@needs_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no program to become another user")
def test_without_a_home_code_is_kept_in_a_private_folder(place: Path) -> None:
    (place / "tmp").mkdir()
    (place / "tmp").chmod(0o1777)
    done, again = (run(place, as_nobody=True, TMPDIR=str(place / "tmp"), HOME="/nonexistent") for _ in range(2))
    private = place / f"tmp/morphlm-kernels-{NOBODY}"
    assert [done.stdout.split()[:2], again.stdout.split()[:2]] == [["3", "0"], ["3", "1"]]
    assert done.stderr.startswith(f"compiled code is kept in {private}, as neither the package nor a home")
    assert (done.stderr.count("\n"), again.stderr) == (1, "")
    assert private.stat().st_mode & 0o777 == 0o700
    # What somebody else has made under that name is not used.
    private.rename(place / "tmp/other")
    private.mkdir(mode=0o777)
    private.chmod(0o777)
    stranger = run(place, as_nobody=True, TMPDIR=str(place / "tmp"), HOME="/nonexistent")
    assert stranger.stdout.split() == ["3", "0", "None"]
    assert "each process compiles anew; set NUMBA_CACHE_DIR" in stranger.stderr
    assert not any(private.rglob("*.nbc"))


@needs_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no program to become another user")
def test_code_that_root_compiled_for_an_image_is_read_by_others(place: Path) -> None:
    cache = str(place / "cache")
    built = run(place, NUMBA_CACHE_DIR=cache)
    used = run(place, as_nobody=True, NUMBA_CACHE_DIR=cache, HOME="/nonexistent")
    assert [built.stdout.split()[:2], used.stdout.split()[:2]] == [["3", "0"], ["3", "1"]]
    assert (built.stderr, used.stderr) == ("", "")


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no program to become another user")
@needs_root
def test_with_nothing_to_write_to_code_stays_in_memory(place: Path) -> None:
    code = f"import tempfile; tempfile._candidate_tempdir_list = lambda: ['{place}/code']\n{PRINT_READ}"
    done = run(place, "-c", code, as_nobody=True, HOME="relative")
    assert done.stdout.split() == ["3", "0", "None"]
    assert done.stderr.startswith("no folder can be used for compiled code, so that each process compiles anew; set")
    helped = run(place, "-m", "morphlm", "--help", as_nobody=True, HOME="relative")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert not (place / "relative").exists()


@pytest.mark.skipif(sys.version_info[:3] == (3, 13, 0), reason="this Python fails to import NumPy there")
def test_a_current_folder_that_is_gone_is_no_error(place: Path) -> None:
    # Code is made where there is a current folder, as Numba asks for it, and used where there is none.
    leave = f"import os; os.mkdir('{place}/gone'); os.chdir('{place}/gone'); os.rmdir('{place}/gone')\n"
    (place / "code/__pycache__").write_text("no folder")
    for cache in ("", "relative"):
        made = run(place, TMPDIR=str(place), HOME="relative")
        done = run(place, "-c", leave + PRINT_READ, TMPDIR=str(place), HOME="relative", NUMBA_CACHE_DIR=cache)
        assert made.stderr.startswith(f"compiled code is kept in {place}/morphlm-kernels-")
        assert (done.stderr, done.stdout.split()[:2]) == ("", ["3", "1"])
        shutil.rmtree(place / f"morphlm-kernels-{os.geteuid()}")


def test_the_current_folder_is_for_temporary_files_only_if_it_is_meant_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("TMPDIR", "/nonexistent")
    assert code_files._temporary_folder() is None  # nothing else could be written to
    tmp_path.chmod(0o1777)
    assert code_files._temporary_folder() is not None  # `cd /tmp` changes nothing
    tmp_path.chmod(0o700)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert code_files._temporary_folder() is not None


def test_processes_of_two_types_of_cpu_may_begin_at_once(place: Path) -> None:
    def start(cpu: str) -> subprocess.Popen[str]:
        variables = environment(place, NUMBA_CACHE_DIR=str(place / "cache"), NUMBA_CPU_NAME=cpu)
        pipes = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, "-c", PRINT_READ], env=variables, cwd=place, stdout=pipes, stderr=pipes, text=True
        )

    started = [start(cpu) for cpu in ("generic", "x86-64-v2") * 2]
    for process in started:
        out, err = process.communicate()
        assert (out.split()[0], err) == ("3", "")
    assert len(list((place / "cache").rglob("kernels.read*"))) == 2
    assert not [
        path for path in (place / "cache").rglob("*") if path.is_file() and path.suffix not in (".nbc", ".json")
    ]


def test_old_machine_code_is_not_run(place: Path) -> None:
    # A real package: `outer` inlines `inner` from another file, which changes between two processes.
    package = place / "code/package"
    (package / "kernels").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from pathlib import Path\n"
        "from morphlm.compiling import code_cache, code_files\n"
        "code_cache.SOURCES = code_files.KernelSources(Path(__file__).parent)\n"
    )
    (package / "kernels/__init__.py").write_text("")
    head = "from morphlm.compiling import njit\n"
    outer = "from package.kernels.inner import inner\n@njit(cache=True)\ndef outer():\n    return inner() + 1\n"
    (package / "kernels/outer.py").write_text(head + outer)

    def answer(value: int) -> str:
        (package / "kernels/inner.py").write_text(head + f"@njit(cache=True)\ndef inner():\n    return {value}\n")
        code = "from package.kernels.outer import outer; print(outer(), outer._cache_hits.total())"
        # Elsewhere than beside the source, where Numba would not notice anything either.
        done = run(place, "-c", code, NUMBA_CACHE_DIR=str(place / "cache"))
        return done.stdout.strip() or done.stderr

    assert [answer(1), answer(1), answer(2), answer(2), answer(1)] == ["2 0", "2 1", "3 0", "3 1", "2 0"]


def test_a_note_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    code_files._note("a note of a test")
    code_files.say_notes()
    code_files._note("a note of a test")
    code_files.say_notes()
    assert capsys.readouterr().err.count("a note of a test") == 1
