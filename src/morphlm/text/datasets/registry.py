"""The data sets that have a name, and the one call that makes any of them a folder of text.

What is not a name is taken for a file or folder of the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.progress import ProgressOption, reports_progress
from morphlm.text.datasets import help_languages, libreoffice_help, own_files, wmt13
from morphlm.text.datasets.folder import DataFolder, DatasetOrigin, DatasetRequest, make_folder
from morphlm.wording import either, option

DEFAULT_SEED = 1
DEFAULT_SENTENCES = 20_000


@dataclass(frozen=True)
class DataSet:
    """What is known about a data set before it is fetched, and how it is made."""

    name: str
    languages: tuple[str, ...]
    partners: Mapping[str, tuple[str, ...]]  # language -> the languages that its parallel side may have
    size: str
    licence: str
    summary: str
    make: Callable[[Path, DatasetRequest], DatasetOrigin] = field(repr=False)
    identity: Callable[[DatasetRequest], dict[str, Any]] = field(repr=False)  # decides the content, with the languages
    options: tuple[str, ...] = ()  # what it takes besides language, parallel side and seed
    is_always_parallel: bool = False  # both sides come, whether they are asked for or not
    find_language: Callable[[str], str] = field(default=str, repr=False)  # the code as it is written here
    names: Mapping[str, str] = field(default_factory=dict)  # of languages, where they are many

    __repr__ = dataclass_repr

    def description(self) -> dict[str, Any]:
        """The entry in `morphlm data list`."""
        return {
            "name": self.name,
            "languages": list(self.languages),
            "size": self.size,
            "licence": self.licence,
            "summary": self.summary,
        }


def _with_english(languages: tuple[str, ...], of_english: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {language: of_english if language == "en" else ("en",) for language in languages}


def _make_generated(directory: Path, request: DatasetRequest) -> DatasetOrigin:
    from morphlm_generated import write_generated  # noqa: PLC0415 - needs numpy, which a download does not

    sentences = _sentences(request)
    write_generated(directory, sentences=sentences, seed=request.seed)
    return DatasetOrigin("CC0-1.0 (made by a program)", {"generator": "morphlm", "sentences": sentences})


def _sentences(request: DatasetRequest) -> int:
    return int(request.options.get("sentences", DEFAULT_SENTENCES))


DATASETS: dict[str, DataSet] = {
    entry.name: entry
    for entry in (
        DataSet(
            name="libreoffice-help",
            languages=help_languages.LANGUAGES,
            partners=_with_english(
                tuple(code for code in help_languages.LANGUAGES if code != "en-gb"),
                tuple(code for code in help_languages.LANGUAGES if code not in help_languages.ENGLISH),
            ),
            size="5k-44k lines, 0.03m-0.5m words",
            licence="MPL-2.0",
            summary="help pages of LibreOffice, from Debian packages; parallel with English",
            make=libreoffice_help.make_libreoffice_help,
            identity=lambda request: {"seed": request.seed},
            find_language=help_languages.find_language,
            names=help_languages.NAMES,
        ),
        DataSet(
            name="wmt13",
            languages=wmt13.LANGUAGES,
            partners=_with_english(wmt13.LANGUAGES, ("cs",)),
            size="1m or 15m-50m words; download of 0.8 GB",
            licence="none stated; research use",
            summary="the paper's data: Europarl v7, News Commentary v8 and news tests, from statmt.org",
            make=wmt13.make_wmt13,
            identity=wmt13.wmt13_identity,
            options=("part", "add", "add_parallel", "cache", "base", "patience"),
        ),
        DataSet(
            name="generated",
            languages=("gen",),
            partners={"gen": ("en",)},
            size="any (--sentences)",
            licence="CC0-1.0",
            summary="a small language made by a program, with gold segmentation and similarity; needs no network",
            make=_make_generated,
            identity=lambda request: {"seed": request.seed, "sentences": _sentences(request)},
            options=("sentences",),
            is_always_parallel=True,
        ),
    )
}


def list_datasets() -> list[DataSet]:
    """The data sets that have a name, the default first."""
    return list(DATASETS.values())


@reports_progress
def get_dataset(
    name: str | Path,
    directory: str | Path,
    *,
    language: str | None = None,
    parallel: str | None = None,
    seed: int = DEFAULT_SEED,
    progress: ProgressOption = None,
    **options: Any,
) -> DataFolder:
    """Make a data set, or text of one's own if `name` is a path, a folder of train, dev and test files.

    The text is in `language`, and if `parallel` is given, also in that one. A folder that holds the same data set
    already is used as it is (`.reused`). `seed` is that of the split. The options are those of the data set:
    `sentences` for generated; `part`, `add`, `add_parallel`, `cache` for wmt13; `parallel_path` for one's own files.
    """
    entry = DATASETS.get(str(name))
    chosen = {key: value for key, value in options.items() if value is not None}
    if entry is None:
        entry, chosen = _own_files(Path(name)), {"path": Path(name), **chosen}
    request = _checked(entry, language, parallel, seed, chosen)
    return make_folder(Path(directory), request, entry.identity(request), entry.make)


def _own_files(path: Path) -> DataSet:
    if not path.exists():
        names = ", ".join(DATASETS)
        raise ConfigError(
            f"{path}: neither a data set ({names}) nor a file or folder; see "
            f"{either('`morphlm data list`', 'list_datasets()')}"
        )
    return DataSet(
        name=own_files.NAME,
        languages=(),
        partners={},
        size="",
        licence=own_files.LICENCE,
        summary="",
        make=own_files.make_own_files,
        identity=own_files.own_files_identity,
        options=("path", "parallel_path"),
    )


def _checked(
    entry: DataSet, language: str | None, parallel: str | None, seed: int, options: dict[str, Any]
) -> DatasetRequest:
    """The request, if the data set can fulfil it. Any language is possible for one's own files."""
    for name in options:
        if name not in entry.options:
            given = option(f"--{name.replace('_', '-')}")
            raise ConfigError(f"{given} is no option of {entry.name}; leave it out")
    if language is None and len(entry.languages) == 1:
        language = entry.languages[0]
    if language is None:
        choice = f"one of {', '.join(entry.languages)}" if entry.languages else "such as cs"
        raise ConfigError(
            f"the language of the text is missing; give {either('--language CODE', 'language=')}, {choice}"
        )
    language = entry.find_language(language)
    if entry.languages and language not in entry.languages:
        raise ConfigError(f"{entry.name} has no text in {language!r}; choose one of {', '.join(entry.languages)}")
    partners = entry.partners.get(language, ())
    if entry.is_always_parallel:
        parallel = parallel or partners[0]
    if parallel is not None and entry.languages:
        parallel = entry.find_language(parallel)
        if parallel not in partners:
            flag = option("--parallel")
            choice = f"{flag} can be {' or '.join(partners)}" if partners else f"leave out {flag}"
            raise ConfigError(f"{entry.name} has no {language}-{parallel}; {choice}")
    _check_code(language)
    if parallel is not None:
        _check_code(parallel)
        if parallel == language:
            raise ConfigError(f"{option('--parallel', parallel)} is the language of the text itself; name another")
    return DatasetRequest(entry.name, language, parallel, seed, options)


def _check_code(language: str) -> None:
    """A language is part of file names."""
    if not language.replace("-", "").replace("_", "").isalnum():
        raise ConfigError(
            f"{either(f'--language {language!r}', option('--language', language))} is not a language code; "
            "use one such as cs or pt-br"
        )
