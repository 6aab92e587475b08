"""Text files of one's own as a data set: their lines, untouched, dealt out to train, dev and test.

The lines of all files, in the order of their names, are cut into blocks of up to 100 neighbours; a seeded hash picks
5 % of the blocks (at least one) for dev and as many for test. Neighbours stay together because a held-out sentence
whose context was trained on says little. Duplicates are not touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from morphlm.errors import ConfigError, InputError, MissingFileError
from morphlm.files import cannot_read, sha256_of
from morphlm.tables import counted
from morphlm.text.datasets.folder import HELD_OUT, DatasetOrigin, DatasetRequest, part_writer
from morphlm.text.reading import read_blocks
from morphlm.wording import option

NAME = "own files"
BLOCK_LINES = 100
FEWEST_BLOCKS = 20  # so that one block is a twentieth; below 20 lines a block is a line
LICENCE = "your own files; their licence is for you to know"


@dataclass(frozen=True)
class OwnFilesOptions:
    """The files to take."""

    path: Path  # a file, or a folder whose files are all taken
    parallel_path: Path | None = None  # the same lines in another language


def own_files_identity(request: DatasetRequest) -> dict[str, Any]:
    """The options that decide the content, for dataset.json."""
    return {"seed": request.seed, "files": _hashes(_options(request))}


def _hashes(options: OwnFilesOptions) -> dict[str, str]:
    sides = {"text": options.path, "parallel": options.parallel_path}
    return {
        f"{side}: {_name(file, root)}": _readable_sha256(file)
        for side, root in sides.items()
        if root is not None
        for file in text_files(root)
    }


def _name(file: Path, root: Path) -> str:
    return file.name if file == root else f"{root.name}/{file.relative_to(root).as_posix()}"


def _readable_sha256(file: Path) -> str:
    try:
        return sha256_of(file)
    except OSError as error:
        raise cannot_read(file, error) from error


def _options(request: DatasetRequest) -> OwnFilesOptions:
    options = OwnFilesOptions(**request.options)
    if (options.parallel_path is None) != (request.parallel is None):
        raise ConfigError(
            f"{option('--parallel')} and {option('--parallel-path')} go together; name the language and the file"
        )
    return options


def text_files(root: Path) -> list[Path]:
    """The file itself, or all files of a folder in the order of their names; hidden ones are passed over."""
    if root.is_file():
        return [root]
    if not root.is_dir():
        raise MissingFileError("there is no such file or folder; check the name", source=str(root))
    inside = sorted(path for path in root.rglob("*") if path.is_file())
    files = [path for path in inside if not any(part.startswith(".") for part in path.relative_to(root).parts)]
    if not files:
        raise InputError("there are no files in this folder; name one that has text", source=str(root))
    return files


def make_own_files(directory: Path, request: DatasetRequest) -> DatasetOrigin:
    """Count the lines, deal out the blocks, copy the lines."""
    options = _options(request)
    sides = [options.path] if options.parallel_path is None else [options.path, options.parallel_path]
    total = sum(1 for _ in _rows(sides))
    block = max(1, min(BLOCK_LINES, total // FEWEST_BLOCKS))
    parts = deal_out(-(-total // block), request.seed)
    if "train" not in parts:
        raise InputError(
            f"there is too little text, {counted(total, 'line')}; a data set needs at least 3", source=str(options.path)
        )
    with part_writer(directory, request.languages) as writer:
        for number, texts in enumerate(_rows(sides)):
            writer.write(parts[number // block], texts)
    return DatasetOrigin(LICENCE, {"files": _hashes(options)})


def deal_out(blocks: int, seed: int) -> list[str]:
    """The part of every block: those with the smallest hashes are held out."""
    held_out = max(1, round(blocks * HELD_OUT))
    order = sorted(range(blocks), key=lambda block: hashlib.sha256(f"{seed}:{block}".encode()).digest())
    parts = ["train"] * blocks
    for rank, block in enumerate(order[: 2 * held_out]):
        parts[block] = "dev" if rank < held_out else "test"
    return parts


def _rows(sides: list[Path]) -> Iterator[tuple[str, ...]]:
    """The lines of each side, side by side."""
    for number, texts in enumerate(zip_longest(*map(_lines, sides)), 1):
        if None in texts:
            short = sides[texts.index(None)]
            message = (
                f"the text has {counted(number - 1, 'line')} and its parallel side has more; both need the same number"
            )
            raise InputError(message, source=str(short))
        yield texts


def _lines(root: Path) -> Iterator[str]:
    for file in text_files(root):
        for block in read_blocks(file):
            yield from block.lines()
