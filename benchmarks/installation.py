"""How much room an installation takes: the core, and the core with each extra, in new virtual environments.

    python benchmarks/installation.py [EXTRA ...]

Measures the core and these extras (all of `pyproject.toml` but those for
developers), and prints a Markdown table. Packages come from where pip gets them; constraints.txt fixes their versions.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
import tomllib
import venv
from importlib import metadata
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
FOR_DEVELOPERS = ("dev", "fuzz")
SHOWN = 5  # packages
MEGABYTE = 1 << 20


def extras() -> list[str]:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name not in FOR_DEVELOPERS]


def installed(folder: Path, extra: str | None) -> Path:
    """A new environment with the package, as `pip install .` makes it."""
    venv.create(folder, with_pip=True, clear=True)
    requirement = str(CHECKOUT) if extra is None else f"{CHECKOUT}[{extra}]"
    command = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "-c", str(CHECKOUT / "constraints.txt"), requirement], check=True)
    return folder


def megabytes(folder: Path) -> float:
    """What `du` counts: blocks on the disk; a file with two names once."""
    seen: dict[tuple[int, int], int] = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        seen[status.st_dev, status.st_ino] = 512 * status.st_blocks
    return sum(seen.values()) / MEGABYTE


def packages(environment: Path) -> dict[str, float]:
    """Megabytes of each installed distribution, the largest first; pip's compiled copies of modules count."""
    (site,) = environment.glob("lib/python*/site-packages")
    sizes = {}
    for found in metadata.distributions(path=[str(site)]):
        paths = {site / str(file) for file in found.files or ()}
        there = (path for path in paths if path.is_file())
        sizes[re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower()] = (
            sum(512 * path.stat().st_blocks for path in there) / MEGABYTE
        )
    return dict(sorted(sizes.items(), key=lambda entry: -entry[1]))


def described(sizes: dict[str, float]) -> str:
    return ", ".join(f"{name} {size:.0f}" for name, size in list(sizes.items())[:SHOWN] if size >= 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help="default: all that are not for developers")
    wanted = parser.parse_args().extras or extras()
    folder = Path(tempfile.mkdtemp(prefix="morphlm-installation-"))
    try:
        core = installed(folder / "core", None)
        size, base = megabytes(core), packages(core)
        print("| installed | MB | the largest packages |\n|---|---|---|")
        print(f"| `morphlm` | {size:.0f} | {described(base)} |", flush=True)
        for extra in wanted:
            environment = installed(folder / "extra", extra)
            added = {name: size for name, size in packages(environment).items() if name not in base}
            print(f"| `morphlm[{extra}]` | +{megabytes(environment) - size:.0f} | {described(added)} |", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
