"""Debian packages as a source of text: fetched by name, unpacked in Python, never installed.

`apt-get` works on a private state folder, so this needs neither root nor a fresh package list and changes nothing on
the machine. A package is an `ar` archive that holds a compressed tar archive.
"""

from __future__ import annotations

import contextlib
import io
import os
import pwd
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from morphlm.errors import FetchError, FormatError
from morphlm.files import COMPRESSIONS, DECOMPRESSION_ERRORS
from morphlm.wording import either


def what_to_use_instead() -> str:
    """Where there is no network or no apt."""
    generated = either("`morphlm data get generated DIR`", "get_dataset('generated', directory)")
    return f"use {generated}, or name a file or folder of your own instead of a data set"


# Besides the private folders: no translated descriptions, and none of the hooks that the machine's own configuration
# runs after an update. Called by root, apt fetches as its own user without rights, as it always does.
_CONFIGURATION = """\
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "30";
Acquire::https::Timeout "30";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""
SANDBOX_USER = "_apt"
_AR_MAGIC, _AR_HEADER = b"!<arch>\n", 60


@dataclass(frozen=True)
class Package:
    """A downloaded package file."""

    name: str
    version: str
    path: Path


def fetch_packages(names: Sequence[str], folder: Path) -> list[Package]:
    """Download packages by name into a folder."""
    program = shutil.which("apt-get")
    if program is None:
        raise FetchError(f"apt-get is not on this machine (Debian and Ubuntu have it); {what_to_use_instead()}")
    for private in ("lists", "cache"):
        (folder / private).mkdir(parents=True)
    packages = _make_download_folder(folder)
    configuration = folder / "apt.conf"
    configuration.write_text(_CONFIGURATION.format(folder=folder), encoding="utf-8")
    command = [program, "-qq", "-c", str(configuration)]
    complaints = _run([*command, "update"], packages).stderr
    downloaded = _run([*command, "download", *names], packages)
    if downloaded.returncode != 0:
        raise FetchError(
            f"apt-get cannot fetch the packages ({_cause(complaints + downloaded.stderr)}); {what_to_use_instead()}"
        )
    return [_find(name, packages) for name in names]


def _make_download_folder(folder: Path) -> Path:
    """Where packages go; root lets apt's own user write there, and there only."""
    packages = folder / "packages"
    packages.mkdir()
    with contextlib.suppress(KeyError, OSError):  # there is no such user, or we are not root and apt stays who we are
        os.chown(packages, pwd.getpwnam(SANDBOX_USER).pw_uid, -1)
        folder.chmod(0o711)
    return packages


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def _cause(complaints: str) -> str:
    """The first thing that apt complained about: what failed in `update` explains what fails in `download`."""
    lines = [line.strip() for line in complaints.splitlines() if re.match(r"[EW]: ", line)]
    return lines[0] if lines else "it gave no reason"


def _find(name: str, folder: Path) -> Package:
    paths = sorted(folder.glob(f"{name}_*.deb"))
    if not paths:
        raise FetchError(f"apt-get did not deliver the package {name}; {what_to_use_instead()}")
    version = unquote(paths[0].name.split("_")[1])
    return Package(name, version, paths[0])


def package_files(path: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of the files in a package whose path matches `wanted`."""
    name, content = _data_member(path)
    extension = Path(name).suffix
    raw = io.BytesIO(content)
    try:
        stream = raw if extension == ".tar" else COMPRESSIONS[extension][2](raw, "rb")
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for entry in archive:
                member = entry.name.removeprefix("./")
                if entry.isfile() and wanted.search(member) and (file := archive.extractfile(entry)) is not None:
                    yield member, file.read()
    except (*DECOMPRESSION_ERRORS, tarfile.TarError, KeyError) as error:
        raise FormatError(f"{path.name}: {name} in this package cannot be unpacked; fetch it again") from error


def _data_member(path: Path) -> tuple[str, bytes]:
    """The member `data.tar...` of the ar archive: after a header of 60 bytes (name: first 16, size: 48 to 57)."""
    data = path.read_bytes()
    position = len(_AR_MAGIC)
    while data.startswith(_AR_MAGIC) and position + _AR_HEADER <= len(data):
        header = data[position : position + _AR_HEADER]
        if not header[48:58].strip().isdigit():
            break
        name, size = header[:16].decode("latin-1").strip().rstrip("/"), int(header[48:58])
        position += _AR_HEADER
        if name.startswith("data.tar") and position + size <= len(data):
            return name, data[position : position + size]
        position += size + size % 2
    raise FormatError(f"{path.name}: this is not a whole Debian package; fetch it again")
