"""Files over HTTP into a cache folder: resumed where they broke off, retried with patience, checked, and remembered.

While it arrives a file is called `NAME.part`; `NAME` is complete and sound. Its SHA-256 is kept in `NAME.json` and
checked when it is used again.
"""

from __future__ import annotations

import contextlib
import gzip
import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphlm.errors import FormatError, InputError, MorphlmError
from morphlm.files import DECOMPRESSION_ERRORS, atomic_writer, cannot_write, sha256_of
from morphlm.modelfile import canonical_json
from morphlm.progress import notify, progress_bar
from morphlm.schema import read_document
from morphlm.text.datasets.schema import RECEIVED

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 16
_NETWORK_ERRORS = (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException, ssl.SSLError)
_PASSING_TROUBLE = frozenset((408, 425, 429, 500, 502, 503, 504))


@dataclass(frozen=True)
class Patience:
    """How often and how long to retry."""

    attempts: int = 6  # in a row that bring nothing new
    first_pause: float = 1.0  # seconds; doubled after every attempt that brought nothing
    timeout: float = 30.0  # seconds without a byte


@dataclass(frozen=True)
class Received:
    """Size and hash of a complete file."""

    size: int
    sha256: str


class _BrokenOffError(Exception):
    """This attempt did not complete the file; the next one may."""


def fetch_gzip(address: str, target: Path, patience: Patience) -> Received:
    """Bring a gzip file to `target`, from the cache or from the network."""
    if (cached := _cached(target)) is not None:
        return cached
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _persist(address, part, patience)
        _check_gzip(part, address)
        received = Received(part.stat().st_size, sha256_of(part))
        _check_unchanged(received, target, part, address)
        with atomic_writer(_record_path(target), is_ours=True) as record:
            record.write(canonical_json(asdict(received)))
        part.replace(target)
        _validator_path(part).unlink(missing_ok=True)
    except MorphlmError:
        raise
    except OSError as error:
        raise cannot_write(target.parent, error) from error
    return received


def _record_path(target: Path) -> Path:
    return target.with_name(target.name + ".json")


def _validator_path(part: Path) -> Path:
    return part.with_name(part.name + ".version")


def _recorded(target: Path) -> Received | None:
    """What was received the first time, if it is known."""
    with contextlib.suppress(OSError, FormatError):
        return Received(**read_document(_record_path(target), RECEIVED))
    return None


def _check_unchanged(received: Received, target: Path, part: Path, address: str) -> None:
    """Refuse a file that is another than the first time: what is published under this name does not change."""
    if _recorded(target) not in (None, received):
        part.unlink()
        raise InputError(
            f"this is not the file that was received before (now {received.size:,} bytes, sha256 {received.sha256}); "
            f"if it was replaced for a good reason, remove {_record_path(target)}",
            source=address,
        )


def _cached(target: Path) -> Received | None:
    """What is in the cache already, if it is what was received then."""
    recorded = _recorded(target)
    if recorded is None or not target.is_file():
        return None
    if recorded == Received(target.stat().st_size, sha256_of(target)):
        return recorded
    notify(f"{target}: it was changed after it was received; it is fetched again")
    return None


def _persist(address: str, part: Path, patience: Patience) -> None:
    """Attempt until the file is complete, or until several attempts in a row brought nothing new."""
    fruitless, largest = 0, _size(part)
    while True:
        try:
            return _attempt(address, part, patience.timeout)
        except _BrokenOffError as error:
            reason = str(error)
        fruitless = 0 if _size(part) > largest else fruitless + 1
        largest = max(largest, _size(part))
        if fruitless >= patience.attempts:
            raise InputError(
                f"{reason}, {fruitless} times in a row; try again later, it will go on from there", source=address
            )
        time.sleep(patience.first_pause * 2.0**fruitless)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _attempt(address: str, part: Path, timeout: float) -> None:
    """Ask for what is missing and append it; return only if the file is complete then."""
    try:
        with urllib.request.urlopen(_request(address, part), timeout=timeout) as response:
            _receive(response, part, address)
    except urllib.error.HTTPError as error:
        error.close()
        _explain_status(error, part, address)
    except _NETWORK_ERRORS as error:
        reason = getattr(error, "reason", None) or error
        raise _BrokenOffError(f"the connection failed ({reason})") from error


def _request(address: str, part: Path) -> urllib.request.Request:
    headers = {"Accept-Encoding": "identity", "User-Agent": "morphlm"}
    if have := _size(part):
        headers["Range"] = f"bytes={have}-"
        if _validator_path(part).is_file():
            # Then a file that has changed meanwhile is sent whole.
            headers["If-Range"] = _validator_path(part).read_text(encoding="latin-1")
    return urllib.request.Request(address, headers=headers)


def _explain_status(error: urllib.error.HTTPError, part: Path, address: str) -> None:
    """Decide what an HTTP error means: nothing left to send, try again, or give up."""
    if error.code == 416:
        if re.fullmatch(rf"bytes \*/{_size(part)}", error.headers.get("Content-Range", "")):
            return
        part.unlink(missing_ok=True)
        raise _BrokenOffError("the server has another file now")
    if error.code in _PASSING_TROUBLE:
        raise _BrokenOffError(f"the server answered {error.code} {error.reason}")
    raise InputError(
        f"the server answered {error.code} {error.reason}; the file may have moved, see https://www.statmt.org/wmt13/",
        source=address,
    )


def _receive(response: Any, part: Path, address: str) -> None:
    start = _start(response, part)
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdigit() else None
    if validator := response.headers.get("ETag") or response.headers.get("Last-Modified"):
        _validator_path(part).write_text(validator, encoding="latin-1")
    with (
        part.open("r+b" if start else "wb") as file,
        progress_bar(part.name.removesuffix(".part"), total=total, unit="B") as bar,
    ):
        file.truncate(start)
        file.seek(start)
        bar.update(start)
        for chunk in _chunks(response, address, is_beginning=start == 0):
            file.write(chunk)
            bar.update(len(chunk))
    if total is not None and _size(part) != total:
        raise _BrokenOffError(f"the connection ended after {_size(part):,} of {total:,} bytes")


def _start(response: Any, part: Path) -> int:
    """The position in the file at which the answer begins; a server that ignores the range begins at 0."""
    if response.status != 206:
        return 0
    content_range = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if content_range is None or int(content_range[1]) > _size(part):
        part.unlink(missing_ok=True)
        raise _BrokenOffError("the server sent another piece than it was asked for")
    return int(content_range[1])


def _chunks(response: Any, address: str, *, is_beginning: bool) -> Iterator[bytes]:
    while chunk := response.read(_CHUNK):
        if is_beginning and not chunk.startswith(_GZIP_MAGIC):
            kind = "a web page" if chunk.lstrip()[:1] == b"<" else "something else"
            message = f"this is {kind}, not a gzip file; does a proxy or a login page stand in between?"
            raise InputError(message, source=address)
        is_beginning = False
        yield chunk


def _check_gzip(part: Path, address: str) -> None:
    """Read it to the end, where gzip keeps a checksum; a damaged file is removed, as nothing can be added to it."""
    try:
        with gzip.open(part) as stream:
            while stream.read(1 << 20):
                pass
    except DECOMPRESSION_ERRORS as error:
        part.unlink()
        raise InputError("what was received is damaged, and removed; run the command again", source=address) from error
