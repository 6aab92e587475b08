import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .fake_packages import help_package, write_fake_apt_get

VERSION = "4%3a7.4.7-1+deb12u14"


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Make a machine whose apt-get delivers the given pages of the given languages; returns its folder."""

    def machine(complaint: str = "", **languages: dict[str, str]) -> Path:
        packages = tmp_path / "packages"
        packages.mkdir()
        for language, pages in languages.items():
            code = "en-us" if language == "en" else language.replace("_", "-")
            (packages / f"libreoffice-help-{code}_{VERSION}_all.deb").write_bytes(help_package(code, pages))
        write_fake_apt_get(tmp_path / "bin", packages, complaint=complaint)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        return tmp_path / "bin"

    return machine
