"""The paper's data: Europarl v7, News Commentary v8 and the news tests of WMT13, as published on statmt.org.

Training text is the target side of the pair with English (for English: of the pair with Czech), Europarl before News
Commentary, without pairs that have an empty side; DATA-1m are its first lines up to a million words between spaces
(the paper counts tokens after tokenising, so its million ends a little earlier), DATA-Main is all of it. newstest2011
is dev and newstest2012 test; newstest2013, for translation, is `test2013`. Russian has no Europarl and no
newstest2011: its dev are the last 3,000 training pairs. The Yandex corpus that the paper adds for Russian is given out
only against a form; fetch it by hand and add it with `--add`.
"""

from __future__ import annotations

import html
import math
import os
import re
import shutil
import tarfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from morphlm.errors import ConfigError, InputError, MissingFileError
from morphlm.files import DECOMPRESSION_ERRORS, cannot_write, open_binary, partial_folder, sha256_of
from morphlm.progress import notify
from morphlm.text.datasets.download import Patience, fetch_gzip
from morphlm.text.datasets.folder import DatasetOrigin, DatasetRequest, part_writer
from morphlm.wording import option

LANGUAGES = ("cs", "de", "en", "es", "fr", "ru")
BASE_ADDRESS = "https://www.statmt.org/wmt13/"
LICENCE = (
    "no licence stated; Europarl is free of known copyright (European Parliament), "
    "News Commentary and the news tests are for research use"
)
EUROPARL, NEWS, DEV, TEST = (
    "training-parallel-europarl-v7.tgz",
    "training-parallel-nc-v8.tgz",
    "dev.tgz",
    "test.tgz",
)
PARTS = ("data-1m", "data-main")
WORDS_OF_1M = 1_000_000
RUSSIAN_DEV_PAIRS = 3000

_SEGMENT = re.compile(r"<seg\b[^>]*>(.*)</seg>", re.I)  # one a line in all news tests

Pair = tuple[str, ...]  # the text in each language that was asked for


@dataclass(frozen=True)
class Wmt13Options:
    """What may be chosen; the last three do not change the data."""

    part: str = "data-1m"  # or "data-main"
    add: Path | None = None  # more training text, put after News Commentary
    add_parallel: Path | None = None  # its parallel side
    cache: Path | None = None  # where the archives are kept
    base: str = BASE_ADDRESS
    patience: Patience = Patience()  # noqa: RUF009 - frozen


def wmt13_identity(request: DatasetRequest) -> dict[str, Any]:
    """The options that decide the content, for dataset.json."""
    options = _options(request)
    added = {"text": options.add, "parallel": options.add_parallel}
    hashes = {f"{side}: {path.name}": _sha256_of_added(path) for side, path in added.items() if path is not None}
    return {"part": options.part, "added": hashes}


def _sha256_of_added(path: Path) -> str:
    if not path.is_file():
        raise MissingFileError("there is no such file; check the name", source=str(path))
    return sha256_of(path)


def _options(request: DatasetRequest) -> Wmt13Options:
    options = Wmt13Options(**request.options)
    if options.part not in PARTS:
        raise ConfigError(f"{option('--part', options.part)}: there is no such part; choose {' or '.join(PARTS)}")
    if (options.add is not None) != (options.add_parallel is not None) and request.parallel is not None:
        raise ConfigError(
            f"{option('--add')} and {option('--add-parallel')} go together when {option('--parallel')} is given; name "
            "both files"
        )
    if options.add_parallel is not None and request.parallel is None:
        raise ConfigError(f"{option('--add-parallel')} needs {option('--parallel')}; leave it out or name the language")
    return options


def default_cache() -> Path:
    """Where archives are kept: in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "morphlm" / "wmt13"


def make_wmt13(directory: Path, request: DatasetRequest) -> DatasetOrigin:
    """Fetch the archives, take out what is needed, write the parts."""
    options = _options(request)
    cache = options.cache or default_cache()
    if request.language == "ru" and options.add is None:
        notify(
            f"the paper's Russian also has the Yandex corpus, which needs a form to get; add it with {option('--add')}"
        )
    archives = (NEWS, DEV, TEST) if _foreign(request) == "ru" else (EUROPARL, NEWS, DEV, TEST)
    received = {name: fetch_gzip(options.base + name, cache / name, options.patience) for name in archives}
    with partial_folder(cache / "unpacked") as folder:
        for name in archives:
            _unpack(cache / name, _wanted(request), folder)
        _write(directory, request, options, folder)
    return DatasetOrigin(LICENCE, {"files": {name: asdict(facts) for name, facts in received.items()}})


def _foreign(request: DatasetRequest) -> str:
    """The side of the pair that is not English: for English itself, Czech, as in the paper."""
    return request.language if request.language != "en" else "cs"


def _training_names(request: DatasetRequest, language: str) -> list[str]:
    foreign = _foreign(request)
    corpora = ("news-commentary-v8",) if foreign == "ru" else ("europarl-v7", "news-commentary-v8")
    return [f"{corpus}.{foreign}-en.{language}" for corpus in corpora]


def _test_names(year: int, language: str) -> list[str]:
    """The names under which a news test may be found, the best first."""
    name = f"newstest{year}"
    return [f"{name}.{language}", f"{name}-src.{language}.sgm", f"{name}-ref.{language}.sgm"]


def _wanted(request: DatasetRequest) -> frozenset[str]:
    both = (_foreign(request), "en")
    training = [name for language in both for name in _training_names(request, language)]
    tests = [name for year in (2011, 2012, 2013) for language in both for name in _test_names(year, language)]
    return frozenset((*training, *tests))


def _unpack(archive: Path, wanted: frozenset[str], folder: Path) -> None:
    """Copy the wanted members, whatever folder of the archive they are in."""
    try:
        with tarfile.open(archive, mode="r|gz") as members:
            for member in members:
                name = Path(member.name).name
                if name in wanted and member.isfile() and (file := members.extractfile(member)) is not None:
                    with (folder / name).open("wb") as copy:
                        shutil.copyfileobj(file, copy)
    except (tarfile.TarError, *DECOMPRESSION_ERRORS) as error:
        message = f"this is not a whole tar archive; remove it and {archive.name}.json, and run the command again"
        raise InputError(message, source=str(archive)) from error
    except OSError as error:
        raise cannot_write(archive.parent, error) from error


def _write(directory: Path, request: DatasetRequest, options: Wmt13Options, folder: Path) -> None:
    held_out: deque[Pair] = deque(maxlen=RUSSIAN_DEV_PAIRS if _foreign(request) == "ru" else 0)
    pairs = chain(hold_back(_published_pairs(request, folder), held_out), _added_pairs(options))
    with part_writer(directory, request.languages, ("train", "dev", "test", "test2013")) as writer:
        for pair in first_words(pairs, WORDS_OF_1M if options.part == "data-1m" else math.inf):
            writer.write("train", pair)
        if held_out.maxlen:
            deque(pairs, maxlen=0)  # to the end, where the pairs are that are held out
        dev = held_out if held_out.maxlen else _news_test(folder, 2011, request.languages)
        tests = {year: _news_test(folder, year, request.languages) for year in (2012, 2013)}
        for part, rows in (("dev", dev), ("test", tests[2012]), ("test2013", tests[2013])):
            for row in rows:
                writer.write(part, row)


def first_words(pairs: Iterable[Pair], limit: float) -> Iterator[Pair]:
    """The first pairs, until their texts in the first language have `limit` words."""
    words = 0
    for pair in pairs:
        yield pair
        words += len(pair[0].split())
        if words >= limit:
            return


def hold_back(pairs: Iterable[Pair], held: deque[Pair]) -> Iterator[Pair]:
    """All pairs but the last ones, as many as `held` has room for: those are in it when the others are used up."""
    if not held.maxlen:
        yield from pairs
        return
    for pair in pairs:
        if len(held) == held.maxlen:
            yield held.popleft()
        held.append(pair)


def _published_pairs(request: DatasetRequest, folder: Path) -> Iterator[Pair]:
    """The training pairs in which no side is empty, cut down to the languages that were asked for."""
    languages = (_foreign(request), "en")
    columns = [languages.index(language) for language in request.languages]
    for names in zip(*(_training_names(request, language) for language in languages), strict=True):
        for texts in _line_by_line([_present(folder, [name]) for name in names]):
            if all(texts):
                yield tuple(texts[column] for column in columns)


def _added_pairs(options: Wmt13Options) -> Iterator[Pair]:
    paths = [path for path in (options.add, options.add_parallel) if path is not None]
    return (texts for texts in _line_by_line(paths) if all(texts))


def _news_test(folder: Path, year: int, languages: Sequence[str]) -> Iterator[Pair]:
    return _line_by_line([_present(folder, _test_names(year, language)) for language in languages])


def _present(folder: Path, names: Sequence[str]) -> Path:
    """The first of the names that was in an archive."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise InputError(f"the archives of WMT13 have no {names[0]}; remove them from the cache and run the command again")


def _line_by_line(paths: Sequence[Path]) -> Iterator[Pair]:
    """The texts of line-parallel files, line by line."""
    for number, texts in enumerate(zip_longest(*map(_lines, paths)), 1):
        if None in texts:
            short = paths[texts.index(None)]
            raise InputError("the file ends before its parallel side; get both again", source=short.name, line=number)
        yield texts


def _lines(path: Path) -> Iterator[str]:
    """The lines of a plain file or the segments of an SGML file, with single spaces."""
    with open_binary(path) as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                message = "this line is not UTF-8; convert the file with iconv"
                raise InputError(message, source=path.name, line=number) from error
            if path.suffix != ".sgm":
                yield " ".join(text.split())
            elif segment := _SEGMENT.search(text):
                yield " ".join(html.unescape(segment[1]).split())
