"""Where the machine code of kernels is kept, and for which sources it holds. `code_cache` reads and writes it.

Such a file is a pickle: to read it is to run it. So only folders that nobody else can write to are used, in this order:
the one of NUMBA_CACHE_DIR, `__pycache__` beside the source, the user's cache, one for this user among the temporary
files. If there is none, every process compiles for itself. The name of a file has a hash of all that its content
depends on, so that processes of other versions, settings or types of CPU may share a folder, and begin at once.

Code depends on its source and on all files of kernels that this imports, since their functions are inlined. Their
digests are kept in a record, so that usually some dates are compared and nothing is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import stat
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from morphlm.progress import notify
from morphlm.signals import signals_blocked

PACKAGE = Path(__file__).resolve().parents[1]  # morphlm
RECORD = "kernels.json"
SUFFIX = ".nbc"  # as Numba's own
_IMPORT = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
CURE = "set NUMBA_CACHE_DIR to a folder that only you can write to"


# ---------------------------------------------------------------- sources


class KernelSources:
    """The files of kernels of a package, as they were when they were first looked at."""

    def __init__(self, package: Path) -> None:
        self.package, self._paths = package, find_kernels(package)
        self._dates = _dates_of(self._paths)
        self._digests: dict[str, str] | None = None

    def is_unchanged(self, path: Path) -> bool:
        """Whether a file is still the one that was looked at, or is none of the package."""
        name = self._name_of(path)
        return name is None or self._dates[name] == _date_of(path)

    def digest_of(self, path: Path, given: str = "") -> str:
        """A hash of a file and of the kernels that it imports; of all of them, if it is none of the package.

        `given` is the folder that the user wants compiled code to be kept in.
        """
        if self._digests is None:
            self._digests = self._find_digests(given)
        name = self._name_of(path)
        if name is not None:
            return self._digests[name]
        return hashlib.sha256(path.read_bytes() + "".join(self._digests.values()).encode()).hexdigest()

    def _name_of(self, path: Path) -> str | None:
        name = _module_name(path, self.package) if path.is_relative_to(self.package) else ""
        return name if name in self._paths else None

    def _find_digests(self, given: str) -> dict[str, str]:
        """From the record; if dates have changed, computed anew, and the code of what has changed is removed."""
        folder = code_folder(self.package, given)
        record = {} if folder is None else _read_record(folder / RECORD)
        if record.get("dates") == self._dates and record.get("sources", {}).keys() == self._paths.keys():
            return dict(record["sources"])
        sources, known = digests(self._paths), record.get("sources", {})
        if folder is not None:
            for path in (path for name, path in self._paths.items() if known.get(name) != sources[name]):
                _remove_compiled(path, given)
            with suppress(OSError):
                _replace(folder / RECORD, json.dumps({"dates": self._dates, "sources": sources}).encode())
        return sources


def find_kernels(package: Path) -> dict[str, Path]:
    """Files of kernels, and of how they are compiled, by the names of their modules."""
    paths = [*package.glob("compiling/*.py"), *package.rglob("kernels.py"), *package.rglob("kernels/*.py")]
    return {_module_name(path, package): path for path in sorted(paths)}


def _module_name(path: Path, package: Path) -> str:
    """By which it is imported: that of a package is that of its folder."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _date_of(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_mtime_ns, status.st_size]


def _dates_of(paths: Mapping[str, Path]) -> dict[str, list[int]]:
    return {name: _date_of(path) for name, path in paths.items()}


def digests(paths: Mapping[str, Path]) -> dict[str, str]:
    """A hash for each file, of it and of all files of kernels that it imports, directly or not."""
    contents = {name: path.read_bytes() for name, path in paths.items()}
    needed = {name: sorted(imported(content) & paths.keys()) for name, content in contents.items()}
    return {
        name: hashlib.sha256(b"\0".join(contents[module] for module in _closure(name, needed))).hexdigest()
        for name in paths
    }


def _closure(name: str, needed: Mapping[str, list[str]]) -> list[str]:
    reached, pending = {name}, [name]
    while pending:
        new = set(needed[pending.pop()]) - reached
        reached |= new
        pending += new
    return sorted(reached)


def imported(content: bytes) -> set[str]:
    """The names in a source's `from` imports that may be modules; to parse all sources would take longer."""
    found = [(module, re.findall(r"\w+", names)) for module, names in _IMPORT.findall(content.decode())]
    return {module for module, _ in found} | {f"{module}.{name}" for module, names in found for name in names}


def _read_record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) and isinstance(record.get("sources", {}), dict) else {}


def _remove_compiled(path: Path, given: str) -> None:
    """Remove what is of no use any more. Code that another process has just written is only compiled again."""
    folder = code_folder(path.parent, given)
    if folder is not None:
        for compiled in folder.glob(f"{path.stem}.*.nb[ic]"):
            with suppress(OSError):
                compiled.unlink()


# ---------------------------------------------------------------- folders


@dataclass(frozen=True)
class _Candidate:
    """A folder that compiled code may be kept in."""

    folder: Path
    owners: frozenset[int]  # who may own it, besides root and the user
    cure: str  # what to do if others can write to it
    note: str = ""  # what to say if it is used
    mode: int = 0o755  # of a folder that is made: anybody may read code, only its owner may write it


_notes: dict[str, str] = {}  # what there is to say: for each remedy the first case, as the others are mended with it
_said: set[str] = set()


@cache
def code_folder(sources: Path, given: str = "") -> Path | None:
    """The folder for compiled code of the files in a folder; None: there is none, it stays in memory."""
    for candidate in _candidates(sources, given):
        folder = _made(candidate.folder, candidate.mode)
        if folder is None:
            continue
        problem = find_unsafe(folder, candidate.owners)
        if problem is None:
            _note(candidate.note)
            return folder
        cure = candidate.cure
        _note(f"warning: {problem}, so compiled code is not kept in {candidate.folder}; {cure}", cure)
    _note(f"no folder can be used for compiled code, so that each process compiles anew; {CURE}")
    return None


@cache
def readable_folders(sources: Path, given: str = "") -> tuple[Path, ...]:
    """Folders that may have compiled code of the files in a folder, also those that cannot be written to.

    An image of a container may hold code that was compiled when it was built.
    """
    folders = []
    for candidate in _candidates(sources, given):
        with suppress(OSError):  # the current folder is gone, or a part must not be looked at
            folder = Path(os.path.realpath(candidate.folder))
            can_read = folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
            if can_read and find_unsafe(folder, candidate.owners) is None:
                folders.append(folder)
    return tuple(folders)


def _note(message: str, cure: str = "") -> None:
    if message:
        _notes.setdefault(cure or message, message)


def say_notes() -> None:
    """Tell, once, what is unusual about where compiled code is kept; called when something has been compiled."""
    for message in [message for message in _notes.values() if message not in _said]:
        _said.add(message)
        notify(message, important=True)


def _candidates(sources: Path, given: str) -> Iterator[_Candidate]:
    own = f"{sources.name}_{hashlib.sha256(os.fsencode(sources)).hexdigest()[:16]}"
    if given:
        yield _Candidate(Path(given) / own, frozenset(), f"mend it by `chmod -R go-w {given}`")
    # Whoever owns the source could as well change that.
    owners = frozenset([sources.stat().st_uid])
    yield _Candidate(sources / "__pycache__", owners, f"mend it by `chmod -R go-w {PACKAGE}`, or {CURE}")
    home = _user_cache()
    if home is not None:
        yield _Candidate(home / "morphlm" / own, frozenset(), CURE)
    temporary = _temporary_folder()
    if temporary is not None:
        note = f"compiled code is kept in {temporary}, as neither the package nor a home can be used for it; {CURE}"
        yield _Candidate(temporary / own, frozenset(), CURE, note, mode=0o700)


def _user_cache() -> Path | None:
    """Where programs of this user cache files; None if the user has no home."""
    standard = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    path = Path(os.environ.get("XDG_CACHE_HOME", "") or os.path.expanduser(standard))  # noqa: PTH111  # it never raises
    return path if path.is_absolute() else None


def _temporary_folder() -> Path | None:
    """One that stays, so that processes share it; whoever else makes it first cannot make it usable."""
    try:
        place = Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None
    return None if _is_last_resort(place) else place / f"morphlm-kernels-{_user()}"


def _is_last_resort(place: Path) -> bool:
    """Whether a folder is for temporary files only because it is the current one and no other will do."""
    try:
        is_current = place == Path.cwd()
    except FileNotFoundError:  # somebody has removed it
        is_current = False
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    return is_current and str(place) not in named and not place.stat().st_mode & stat.S_ISVTX


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _made(folder: Path, mode: int) -> Path | None:
    """The folder without links, made if it is missing; None if it cannot be written to."""
    try:
        real = Path(os.path.realpath(folder))
        for part in [*reversed(real.parents), real]:
            if not part.is_dir():
                part.mkdir(mode=mode, exist_ok=True)
    except OSError:
        return None
    return real if os.access(real, os.R_OK | os.W_OK | os.X_OK) else None


def find_unsafe(folder: Path, owners: frozenset[int] = frozenset()) -> str | None:
    """Who could put a file into a folder, or another folder in its place, besides the user, root and `owners`."""
    if os.name != "posix":
        return None
    trusted = owners | {0, _user()}
    for part in [folder, *folder.parents]:
        status = part.stat()
        if status.st_uid not in trusted and not (part != folder and _is_outside(status.st_uid)):
            return f"{part} belongs to another user"
        # In a folder with this bit (/tmp) others can add entries, but not replace ours.
        if part != folder and status.st_mode & stat.S_ISVTX:
            continue
        if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not _is_own_group(part, status.st_gid)):
            return f"others can write to {part}"
    return None


def _is_own_group(path: Path, group: int) -> bool:
    """Whether the group has the user as its only member: many systems make one for each user, and let it write."""
    import grp  # noqa: PLC0415  # not on every system
    import pwd  # noqa: PLC0415

    try:
        user, members = pwd.getpwuid(_user()), grp.getgrgid(group)
    except KeyError:
        return False
    is_own = group == user.pw_gid and members.gr_name == user.pw_name and set(members.gr_mem) <= {user.pw_name}
    return is_own and not _has_access_list(path)


def _has_access_list(path: Path) -> bool:
    """Whether the group's permission may stand for those of a list of users."""
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except (OSError, AttributeError):
        return False


def _is_outside(owner: int) -> bool:
    """Whether an owner is nobody of this container: there, what root of the machine owns has this number."""
    try:
        is_container = Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]
        return is_container and owner == int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return False


# ---------------------------------------------------------------- files


def read_code(path: Path) -> bytes | None:
    """What `write_code` wrote; None if there is nothing, if it is damaged, or if somebody else may have written it."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            folder = path.parent.stat()
            is_ours = os.name != "posix" or (
                status.st_uid in (0, _user(), folder.st_uid) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            )
            if not (stat.S_ISREG(status.st_mode) and is_ours):
                return None
            digest, content = file.read(32), file.read()
    except OSError:
        return None
    return content if hashlib.sha256(content).digest() == digest else None


def write_code(path: Path, content: bytes) -> None:
    """Keep compiled code; where that fails, as on a full disk, it is only compiled again.

    A process that compiles beside another is ended by a signal: not while it writes, or half a file would stay.
    """
    with suppress(OSError), signals_blocked(signal.SIGTERM):
        _replace(path, hashlib.sha256(content).digest() + content)


def _replace(path: Path, content: bytes) -> None:
    """In one step, as several processes may do it at once."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
