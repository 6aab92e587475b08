"""Train, dev and test text of a language for an experiment: from a folder of raw data, or from a data set by name.

The folder has the layout that `corpora` describes; a data set is fetched once, prepared as the paper does and cut to
the number of tokens that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from morphlm.errors import ConfigError, InputError, MissingFileError
from morphlm.experiments.corpora import (
    PARTS,
    RECIPES,
    LanguageTexts,
    PartText,
    SentencePreparer,
    TextRecipe,
    max_tokens,
    named_files,
    prepare_language,
    read_sentences,
    side_of,
    source_files,
    take,
    write_texts,
)
from morphlm.experiments.pairs import NewsText, Pair
from morphlm.experiments.paper import paper
from morphlm.text.datasets import DataFolder, get_dataset
from morphlm.text.datasets.registry import DATASETS
from morphlm.text.datasets.wmt13 import WORDS_OF_1M
from morphlm.text.preparation import paper_options
from morphlm.threads import available_cores
from morphlm.wording import either, option

# About how many tokens a data set has to learn from.
TOKENS_OF_DATASETS = {"libreoffice-help": 400_000, "wmt13": 16_800_000, "generated": 197_000}
# Tokens in a byte of the folder's compressed files, measured on six languages.
TOKENS_A_BYTE, TOKENS_A_BYTE_OF_NOVELS, ENGLISH_SHARE = 0.38, 0.52, 0.5


@dataclass(frozen=True)
class TextSource:
    """Where texts come from: a folder or a data set; of a folder all text, or that of one pair of languages."""

    folder: Path | None = None
    dataset: str | None = None
    pair: Pair | None = None

    def __post_init__(self) -> None:
        if self.dataset is not None and self.dataset not in DATASETS:
            raise ConfigError(f"{self.dataset!r} is no data set; choose one of {', '.join(DATASETS)}")
        if self.folder is not None and not self.folder.is_dir():
            raise MissingFileError(
                f"there is no such folder of data; check {option('--data')}", source=str(self.folder)
            )

    def target_side(self, pair: Pair) -> TextSource:
        """The parallel text of a pair as text of the language that is translated into."""
        self.parallel(pair)  # refuses a data set, and a folder that lacks it
        return replace(self, pair=pair)

    def name_of(self, language: str, tokens: int | None) -> str:
        """The language and, where its text would otherwise be another, the pair."""
        if self.pair is None or self.folder is None:
            return language
        own, usual = (
            named_files(self.folder, language, recipe, tokens) for recipe in (self._recipe(language), RECIPES[language])
        )
        return language if own == usual else f"{language} of {self.pair}"

    def _recipe(self, language: str) -> TextRecipe:
        if self.pair is None:
            return RECIPES[language]
        assert language == self.pair.target
        return side_of(self.pair.parallel, language)

    def settings(self) -> dict[str, str]:
        """What decides the texts, besides the content of files."""
        return {} if self.dataset is None else {"dataset": self.dataset}

    def files(self, language: str, tokens: int | None) -> dict[str, Path]:
        """The files that a language is made from, by role; an InputError names one that is missing."""
        if self.folder is None:
            self._check_has(language)
            return {}
        if language not in RECIPES:
            raise ConfigError(f"there is no recipe for the texts of {language!r}; choose from {', '.join(RECIPES)}")
        return source_files(self.folder, language, self._recipe(language), tokens)

    def _check_has(self, language: str) -> None:
        """Refuse a language that the data set lacks before anything is fetched."""
        languages = () if self.dataset is None else DATASETS[self.dataset].languages
        if languages and language not in languages:
            raise ConfigError(f"{self.dataset} is not to be had in {language!r}; choose from {', '.join(languages)}")

    def beside(self, kind: str, pattern: str) -> list[Path]:
        """Other files of the folder that match a pattern, such as ratings of word pairs."""
        return [] if self.folder is None else sorted((self.folder / kind).glob(pattern))

    def parallel(self, pair: Pair) -> Path:
        return self._in_folder("parallel", f"{pair.parallel}.tsv.xz")

    def news(self, pair: Pair, year: int) -> NewsText:
        names = (f"newstest{year}.{language}.txt.xz" for language in (pair.source, pair.target))
        return NewsText(pair, *(self._in_folder("newstest", name) for name in names))

    def _in_folder(self, kind: str, name: str) -> Path:
        if self.folder is None:
            raise InputError(
                f"translation needs parallel text; give {either('--data DIR', 'data=')}, a folder of raw text"
            )
        path = self.folder / kind / name
        if not path.is_file():
            raise InputError("the folder of data lacks this file; put it there", source=str(path))
        return path

    def prepare(self, language: str, tokens: int | None, out: Path, raw: Path) -> LanguageTexts:
        """Write the texts to `out`; `raw` is where a data set is kept."""
        if self.folder is not None:
            recipe = self._recipe(language)
            return prepare_language(
                self.folder, language, out, recipe=recipe, tokens=tokens, processes=available_cores()
            )
        assert self.dataset is not None
        is_large = self.dataset == "wmt13" and (tokens is None or tokens >= WORDS_OF_1M)
        # Both parts may be needed in one store, and a folder holds one.
        size, folder = ("data-main", raw.with_name(f"{raw.name}.data-main")) if is_large else (None, raw)
        data = get_dataset(self.dataset, folder, language=language, part=size)
        texts = {part: _prepare(data, part, language, tokens if part == "train" else None) for part in PARTS}
        return write_texts(out, language, texts)


def _prepare(data: DataFolder, part: str, language: str, tokens: int | None) -> PartText:
    is_generated = data.name == "generated"  # it is tokenised, in a language that no tokeniser knows
    options = paper_options(
        "en" if is_generated else language,
        tokeniser="none" if is_generated else "moses",
        max_tokens=max_tokens(part),
        long_sentences="drop",
    )
    source = data.path(part, language)
    preparer = SentencePreparer(options, str(source))
    return take(read_sentences(source), preparer, tokens=tokens, processes=available_cores())


def expected_tokens(source: TextSource, language: str, tokens: int | None) -> int:
    """About how many tokens a training text will have: no more than there are."""
    files = source.files(language, tokens)
    available = _tokens_in_files(files, language) if files else _tokens_in_dataset(source.dataset, language)
    return available if tokens is None else min(tokens, available)


def _tokens_in_dataset(name: str | None, language: str) -> int:
    """For wmt13 what the paper has of each language."""
    if name == "wmt13":
        thousands, _ = paper()["table1"]["main"].get(language, (TOKENS_OF_DATASETS["wmt13"] // 1000, 0))
        return 1000 * int(thousands)
    return TOKENS_OF_DATASETS.get(name or "", TOKENS_OF_DATASETS["libreoffice-help"])


def _tokens_in_files(files: Mapping[str, Path], language: str) -> int:
    share = ENGLISH_SHARE if language == "en" and len(files) > 3 else 1.0
    parallel = sum(path.stat().st_size for role, path in files.items() if role.startswith("parallel"))
    novels = files["novels"].stat().st_size if "novels" in files else 0
    return int(TOKENS_A_BYTE * share * parallel + TOKENS_A_BYTE_OF_NOVELS * novels)
