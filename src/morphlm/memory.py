"""Memory: how much there is, how much this process takes, and how much somebody allows it to take."""

from __future__ import annotations

import os
import re
from pathlib import Path

from morphlm.arguments import shown
from morphlm.costs import format_size
from morphlm.errors import ConfigError
from morphlm.wording import option

LEAST_MEMORY = 512 << 20  # Python, the compiler and the words of a small text take a good part of it
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)
_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_NO_LIMIT = 1 << 60  # cgroups of the first version write a number about as large as this one


def parse_memory(value: int | str) -> int:
    """A number of bytes, also as `512M` or `4G` in powers of 1024, as lmplz reads them; too few are refused."""
    found = _SIZE.fullmatch(str(value)) if isinstance(value, int | str) and not isinstance(value, bool) else None
    if found is None:
        raise ConfigError(f"memory is {shown(value)}; give a size such as 512M or 4G")
    size = int(float(found[1]) * UNITS[found[2].lower()])
    if size < LEAST_MEMORY:
        raise ConfigError(
            f"{option('--memory')} {value} is too little, the program itself takes a good part of it; "
            f"give at least {LEAST_MEMORY >> 20}M"
        )
    return size


def resident_memory() -> int:
    """The bytes of memory that this process takes now."""
    try:
        pages = int((_PROC / "self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return _largest_resident_memory()


def _largest_resident_memory() -> int:
    """Where the system does not tell how much it is now: the most that it was."""
    try:
        import resource  # noqa: PLC0415  # not on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if os.uname().sysname == "Darwin" else peak << 10


def available_memory() -> int | None:
    """The bytes that this process can still get, by the machine and by the limits of its control group."""
    room = [bound for bound in (_available_on_machine(), *_rooms_in_groups()) if bound is not None]
    return min(room) if room else None


def _available_on_machine() -> int | None:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", (_PROC / "meminfo").read_text(), re.MULTILINE)
        return None if found is None else int(found[1]) << 10
    except OSError:
        return None


def _rooms_in_groups() -> list[int | None]:
    """What the control group of this process and those above it leave, of either version of cgroups."""
    try:
        lines = (_PROC / "self/cgroup").read_text().splitlines()
    except OSError:
        return []
    rooms: list[int | None] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            files, root = ("memory.max", "memory.current", "inactive_file"), _CGROUPS
        elif "memory" in controllers.split(","):
            files, root = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"), _CGROUPS / "memory"
        else:
            continue
        inside = Path(path.lstrip("/"))
        rooms += [_room(root / group, *files) for group in (inside, *inside.parents)]
    return rooms


def _room(group: Path, limit_file: str, usage_file: str, cache: str) -> int | None:
    """What a group leaves below its limit; what it keeps of files that were read can be dropped."""
    try:
        limit = (group / limit_file).read_text().strip()
        if limit == "max" or int(limit) > _NO_LIMIT:
            return None
        used = int((group / usage_file).read_text())
        found = re.search(rf"^{cache} (\d+)$", (group / "memory.stat").read_text(), re.MULTILINE)
        return max(0, int(limit) - used + (0 if found is None else int(found[1])))
    except (OSError, ValueError):
        return None


def memory_used_up(limit: int, needed: int) -> ConfigError:
    """The error where the program and the words of a text leave too little of what is allowed."""
    return ConfigError(
        f"the words of the text and the program itself take {format_size(needed)} of the {format_size(limit)} that are "
        f"allowed; give more {option('--memory')}, or a vocabulary of fewer words by {option('--vocab')}"
    )
