import os
import pwd
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from morphlm.errors import FormatError, InputError
from morphlm.text.datasets.debian import SANDBOX_USER, fetch_packages, package_files

from .fake_packages import ar_of, package_of, tar_of


def test_wanted_files_of_a_package(tmp_path: Path) -> None:
    path = tmp_path / "a.deb"
    path.write_bytes(package_of({"usr/a.html": "jedna", "usr/b.txt": "ne", "usr/c/d.html": "dvě"}))
    assert list(package_files(path, re.compile(r"\.html$"))) == [
        ("usr/a.html", b"jedna"),
        ("usr/c/d.html", "dvě".encode()),
    ]


def test_package_with_plain_tar(tmp_path: Path) -> None:
    path = tmp_path / "a.deb"
    path.write_bytes(ar_of({"data.tar": tar_of({"x": "y"})}))
    assert list(package_files(path, re.compile(""))) == [("x", b"y")]


def test_package_damaged_at_any_length_is_refused_by_name(tmp_path: Path) -> None:
    whole = package_of({"a.html": "text"})
    path = tmp_path / "a.deb"
    for length in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"a\.deb"):
            list(package_files(path, re.compile("")))


def test_package_with_unknown_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.deb"
    path.write_bytes(ar_of({"data.tar.lz": b"LZIP"}))
    with pytest.raises(FormatError, match=r"data\.tar\.lz"):
        list(package_files(path, re.compile("")))


def test_packages_are_fetched_with_a_private_state_and_carry_their_version(
    debian: Callable[..., Path], tmp_path: Path
) -> None:
    program = debian(cs={"a": "x"}, en={"a": "y"})
    packages = fetch_packages(["libreoffice-help-en-us", "libreoffice-help-cs"], tmp_path / "work")
    assert [(package.name, package.version) for package in packages] == [
        ("libreoffice-help-en-us", "4:7.4.7-1+deb12u14"),
        ("libreoffice-help-cs", "4:7.4.7-1+deb12u14"),
    ]
    calls = (program / "calls").read_text(encoding="utf-8").splitlines()
    assert [line.split()[3] for line in calls] == ["update", "download"]
    assert all(line.startswith(f"-qq -c {tmp_path / 'work' / 'apt.conf'}") for line in calls)


def test_the_sandbox_of_apt_stays_on(debian: Callable[..., Path], tmp_path: Path) -> None:
    debian(cs={"a": "x"})
    fetch_packages(["libreoffice-help-cs"], tmp_path / "work")
    assert "Sandbox" not in (tmp_path / "work" / "apt.conf").read_text()
    assert (tmp_path / "work" / "apt.conf").stat().st_uid == os.getuid()
    if os.getuid() == 0:
        with suppress(KeyError):  # where there is an apt, it has a user of its own, who may write there and only there
            assert (tmp_path / "work" / "packages").stat().st_uid == pwd.getpwnam(SANDBOX_USER).pw_uid
        assert (tmp_path / "work").stat().st_uid == 0


def test_without_apt_get_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"apt-get is not on this machine.*get_dataset\('generated', directory\)"):
        fetch_packages(["x"], tmp_path / "work")


def test_a_failing_apt_get_gives_its_first_reason(debian: Callable[..., Path], tmp_path: Path) -> None:
    debian(complaint="note\nW: Failed to fetch the list: no network\nE: Unable to locate package x")
    with pytest.raises(InputError, match=r"\(W: Failed to fetch the list: no network\).*get_dataset"):
        fetch_packages(["x"], tmp_path / "work")


def test_a_package_that_is_not_delivered_is_named(debian: Callable[..., Path], tmp_path: Path) -> None:
    debian(cs={"a": "x"})
    with pytest.raises(InputError, match="did not deliver the package libreoffice-help-fr"):
        fetch_packages(["libreoffice-help-cs", "libreoffice-help-fr"], tmp_path / "work")
