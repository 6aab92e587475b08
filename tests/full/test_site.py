"""`make docs` builds the site without a warning, from what is in the repository alone."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.test_docs import INTEGRATIONS, PACKAGES, ROOT

pytestmark = pytest.mark.full


def build(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build("--keep-going", "-E", "-d", folder / "trees", ROOT / "docs", folder / "html")
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


def test_pages_load_nothing_from_other_servers(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text()
        loaded = re.findall(r'<(?:script|img|iframe|source)[^>]* src="([^"]+)"', text)
        loaded += re.findall(r'<link[^>]* rel="(?:stylesheet|preload|icon)"[^>]* href="([^"]+)"', text)
        assert not [address for address in loaded if address.startswith(("http:", "https:", "//"))], page
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?(?:https?:)?//", style.read_text()), style


def test_every_public_name_has_an_entry(site: Path) -> None:
    root = set(importlib.import_module("morphlm").__all__)
    for package in PACKAGES:
        page = (site / "reference" / "python" / f"{package.rpartition('.')[2]}.html").read_text()
        module = importlib.import_module(package)
        names = {name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType | str)}
        for name in names - root if package != "morphlm" else names:
            assert f'id="{package}.{name}"' in page


def test_every_name_of_an_adapter_has_an_entry(site: Path) -> None:
    page = (site / "reference" / "python" / "integrations.html").read_text()
    for package in INTEGRATIONS:
        for name in importlib.import_module(package).__all__:
            assert f'id="{package}.{name}"' in page


def test_a_link_to_a_heading_that_is_not_there_fails(tmp_path: Path) -> None:
    """The settings that matter, on two pages."""
    (tmp_path / "index.md").write_text("# A\n\n[there](other.md#heading) [not there](other.md#nothing)\n")
    (tmp_path / "other.md").write_text("---\norphan: true\n---\n# B\n\n## Heading\n")
    settings = ["-C", "-D", "extensions=myst_parser", "-D", "myst_heading_anchors=4"]
    done = build(*settings, tmp_path, tmp_path / "html")
    assert done.returncode != 0
    assert re.findall(r"not found in doc 'other': '(\w+)'", done.stderr) == ["nothing"]
