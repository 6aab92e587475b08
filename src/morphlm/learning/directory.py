"""The directory that `learn` writes: what is where, whose it is, and whether it is of the same input.

DIR/model/          the model to use; `morphlm.load(DIR)` and every command that takes a model follow DIR to it
DIR/segmenter/      the morphemes; `morphlm segment --load DIR` follows DIR to it
DIR/vectors/        words.bin and morphemes.bin, in word2vec's format
DIR/report.html     a page on the models
DIR/README.txt      how to use all of it
DIR/learn.json      the record: input, trials, choices, results
DIR/text/           train.txt, dev.txt and test.txt, prepared
DIR/work/           what an interrupted run needs to go on; removed at the end
"""

from __future__ import annotations

import shutil
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from morphlm.artefacts import lock
from morphlm.errors import ConfigError, InputError
from morphlm.files import cannot_write, check_can_make, checked_path, make_folder
from morphlm.learning.record import LearnRecord, RecordFile, read_record
from morphlm.learning.request import LearnRequest, describe_changes, look_at_inputs
from morphlm.learning.schema import CLBL, KNESER_NEY, MIXTURE
from morphlm.modelfile import LEARNED_MODEL, LEARNED_RECORD, LEARNED_SEGMENTER
from morphlm.wording import either, option

PARTS = ("train", "dev", "test")
SHOWN_CHANGES = 3  # in a message


@dataclass(frozen=True)
class LearnDirectory:
    """Where everything lies."""

    root: Path

    @property
    def record(self) -> Path:
        return self.root / LEARNED_RECORD

    @property
    def model(self) -> Path:
        return self.root / LEARNED_MODEL

    @property
    def segmenter(self) -> Path:
        return self.root / LEARNED_SEGMENTER

    @property
    def vectors(self) -> Path:
        return self.root / "vectors"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    @property
    def readme(self) -> Path:
        return self.root / "README.txt"

    @property
    def texts(self) -> Path:
        return self.root / "text"

    def text(self, part: str) -> Path:
        """The prepared text of a part: train, dev or test."""
        return self.texts / f"{part}.txt"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def kneser_ney(self) -> Path:
        return self.trained(KNESER_NEY)

    @property
    def clbl(self) -> Path:
        return self.trained(CLBL)

    def trained(self, name: str) -> Path:
        """A model that the mixture may be made of, a cache too."""
        return self.work / name

    @property
    def plain_mixture(self) -> Path:
        """The mixture without caches, to compare with, where the model has some."""
        return self.work / MIXTURE

    @property
    def artefacts(self) -> Path:
        """Vocabularies, segmenters and classes."""
        return self.work / "artefacts"

    @property
    def log(self) -> Path:
        """The messages of all stages."""
        return self.work / "log.txt"

    def locked(self) -> AbstractContextManager[None]:
        """Nobody else learns here until the block ends."""
        return lock(self.root / ".lock", self.root, f"give another {option('--out')}")

    def remove_work(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)

    def clear(self) -> None:
        """Remove all that `learn` has written, and nothing else."""
        for path in (self.model, self.segmenter, self.vectors, self.report, self.readme, self.texts, self.work):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)  # last: while it is there, the directory is known to be ours

    def remove_if_empty(self) -> None:
        """After the text was refused."""
        with suppress(OSError):
            self.root.rmdir()


def find_record(request: LearnRequest, *, restart: bool) -> LearnRecord | None:
    """The record of an earlier run with the same input and settings; None if there was none.

    Refuses, before any work is done, a place that cannot be written, that holds anything else, or that was learned
    from other input: what is there may have taken hours.
    """
    directory = LearnDirectory(checked_path(request.out))
    _check_apart(directory.root.resolve(), request)
    if not directory.record.is_file():
        _check_free(directory.root)
        return None
    if restart:
        return None
    record = read_record(directory.record)
    if record.text is None:  # nothing was learned yet
        return None
    changes = describe_changes(record.settings, request.settings) + _changed_files(record, request)
    if changes:
        more = [f"{len(changes) - SHOWN_CHANGES:,} more"] if len(changes) > SHOWN_CHANGES else []
        listed = "; ".join(changes[:SHOWN_CHANGES] + more)
        cure = f"give {option('--restart', True)} to learn anew in its place, or another {option('--out')}"
        raise ConfigError(f"{directory.root}: this was learned from other input ({listed}); {cure}")
    return record


def _check_apart(root: Path, request: LearnRequest) -> None:
    """A folder is read as a whole, so the result must not lie in it, nor the text in the result."""
    for _, name in request.named_files:
        text = Path(name).resolve()
        if str(name) != "-" and (root.is_relative_to(text) or text.is_relative_to(root)):
            where = "lies in" if root.is_relative_to(text) else "lies around"
            raise ConfigError(
                f"{root}: this {where} the text {name}, which would be read or replaced; give another {option('--out')}"
            )


def _check_free(root: Path) -> None:
    check_can_make(root)
    try:
        is_free = not root.exists() or (root.is_dir() and not any(path.name != ".lock" for path in root.iterdir()))
    except OSError as error:
        raise cannot_write(root, error) from error
    if not is_free:
        raise InputError(
            f"this exists and was not made by {either('`morphlm learn`', '`learn`')}; choose another "
            f"{option('--out')}, or "
            "empty it",
            source=str(root),
        )


def _changed_files(record: LearnRecord, request: LearnRequest) -> list[str]:
    """What is different about the files."""
    before = {(file.role, file.name): file for file in record.inputs}
    now = {(file.role, file.name): file for file in look_at_inputs(request)}
    changes = [f"{name} is new" for role, name in now if (role, name) not in before]
    changes += [f"without {name}" for role, name in before if (role, name) not in now]
    both = [(file, now[key]) for key, file in before.items() if key in now]
    return changes + [f"{file.name} has changed" for file, other in both if not file.is_unchanged(other)]


def begin(request: LearnRequest, *, restart: bool) -> RecordFile:
    """The record of an earlier run, or a new one; call it while the directory is locked."""
    directory, record = LearnDirectory(request.out), find_record(request, restart=restart)
    if record is not None:
        return RecordFile(directory.record, record)
    inputs = look_at_inputs(request)  # which may be refused, before anything is removed
    try:
        directory.clear()
    except OSError as error:
        raise cannot_write(directory.root, error) from error
    make_folder(directory.root)
    file = RecordFile(directory.record, LearnRecord(request.settings, inputs))
    file.update(minutes=request.minutes)
    return file
