"""The notebooks of the documentation: `make notebooks` runs them anew and stores their outputs.

`python -m tests.notebooks NAME... [--out FOLDER] [--check CODE]` runs some of them, by default all; writes them to
another folder; and runs a last cell that is not stored.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
SECONDS = 600  # that a cell may take on a machine with other work
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def run_notebook(path: Path, check: str = "") -> Any:
    """The notebook with its outputs, run in a folder of its own; `check` is a last cell, not stored."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(check))
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=SECONDS, coalesce_streams=True, resources=place).execute()
    notebook.cells.pop()
    return tidied(notebook)


def tidied(notebook: Any) -> Any:
    """Without what differs from run to run or machine to machine: times, versions, and messages on progress."""
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = {}, f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                output.get("metadata", {}).clear()
    return notebook


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=NAMES)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--check", default="")
    arguments = parser.parse_args()
    for name in arguments.names:
        notebook = run_notebook(FOLDER / f"{name}.ipynb", arguments.check)
        nbformat.write(notebook, arguments.out / f"{name}.ipynb")


if __name__ == "__main__":
    main()
