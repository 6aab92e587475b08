"""Text for a model: raw text is prepared as the model's training text was, and text that does not fit is told.

A number for a text that was prepared in another way looks like any other number, and means nothing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from morphlm.arrays import Int32Array
from morphlm.errors import ConfigError
from morphlm.files import source_name
from morphlm.progress import notify
from morphlm.tables import percent
from morphlm.text.encodings import check_encoding
from morphlm.text.languages import language_name
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_line
from morphlm.text.raw import RawText, looks_wrapped
from morphlm.text.reading import END, UNKNOWN, split_tokens
from morphlm.text.recognition import recognise_language
from morphlm.vocabulary.corpus import Source, as_paths, as_text
from morphlm.vocabulary.vocabulary import UNK_ID
from morphlm.wording import either, option

if TYPE_CHECKING:
    from morphlm.language_model.base import LanguageModel

LinePreparer = Callable[[str], list[str]]

FEWEST_TOKENS = 50  # fewer say nothing about whether a text fits
MORE_UNKNOWN, TIMES_UNKNOWN = 0.15, 3.0  # so much more than in the development text, and so many times as much
USUAL_UNKNOWN = 0.15  # of models that have no record of it
SAMPLE = 5_000  # words that are looked at to say why a text does not fit


def fit_text(
    model: LanguageModel | Sequence[LanguageModel],
    source: Source,
    *,
    prepared: bool | None = None,
    encoding: str | None = None,
    quiet: bool = False,
) -> Source:
    """The text as models can read it: raw text is prepared while it is read, and that is said in one line.

    `prepared` says that it is done already (True) or not (False). By default, text is prepared if that changes nothing
    in prepared text; a model of Moses tokens, where it would, takes text as it stands. Lists of tokens stay as they
    are, and strings in a list are raw lines. Several models must agree in how their texts were prepared. The `encoding`
    of files is recognised unless it is named; text that is taken as it stands is UTF-8 then.
    """
    if prepared:
        return _encoded(as_text(source, None), encoding)
    models = list(model) if isinstance(model, Sequence) else [model]
    options = shared_preparation(models)
    what = "the model's" if len(models) == 1 else "the models'"
    return fit_to(options, source, what=what, is_raw=prepared is False, encoding=encoding, quiet=quiet)


def shared_preparation(models: Sequence[LanguageModel]) -> PrepareOptions | None:
    """How the training texts of models were prepared, if it is on record and the same for all."""
    options = [model.preparation for model in models]
    return options[0] if all(other == options[0] for other in options) else None


def fit_to(
    options: PrepareOptions | None,
    source: Source,
    *,
    what: str,
    is_raw: bool = False,
    encoding: str | None = None,
    quiet: bool = False,
) -> Source:
    """As `fit_text`, for text that is to be like one that was prepared so; `what` that is, in messages."""
    source = as_text(source, options)
    paths = as_paths(source)
    if isinstance(source, RawText) or paths is None:
        return source
    if options is None:
        if is_raw:
            raise _no_record(what)
        return _encoded(source, encoding)
    if not (options.is_idempotent or is_raw):
        return _encoded(source, encoding)
    text = RawText(paths, options, None if encoding is None else check_encoding(encoding))
    if not quiet:
        _tell_of_raw(list(filter(_is_there, text.raw_paths)), options, what)
    return text


def _encoded(source: Source, encoding: str | None) -> Source:
    """Files that are taken as they stand, in the encoding that is named."""
    paths = as_paths(source)
    if encoding is None or paths is None:
        return source
    return RawText(paths, None, check_encoding(encoding))


def _is_there(path: Path) -> bool:
    """Whether a file, pipe or device can be read; if not, that is said soon."""
    with suppress(OSError):
        return str(path) == "-" or (path.exists() and not path.is_dir())
    return False


def _tell_of_raw(paths: Sequence[Path], options: PrepareOptions, what: str) -> None:
    """Say that texts are prepared, and warn where their lines are no sentences."""
    if paths:
        names = ", ".join(map(source_name, paths[:3])) + (", ..." if len(paths) > 3 else "")
        notify(f"{names}: prepared as {what} text was ({options.describe()}); {_as_it_stands()}")
    for path in filter(looks_wrapped, paths):
        notify(
            f"WARNING: {path}: it looks hard-wrapped, and each of its lines is taken for a sentence; "
            f"{either('`morphlm prepare --split`', '`prepare_files(..., split=True)`')} finds the sentences"
        )


def _as_it_stands() -> str:
    return f"{option('--prepared', True)} takes it as it stands"


def line_preparer(model: LanguageModel, *, prepared: bool | None = None, allow_unknown: bool = False) -> LinePreparer:
    """What makes the tokens of a line; `prepared` as of `fit_text`."""
    options = model.preparation
    if prepared is False and options is None:
        raise _no_record("the model's")
    if prepared or options is None or not (options.is_idempotent or prepared is False):
        return split_tokens
    return lambda line: prepare_line(line, options, allow_unknown=allow_unknown)


def _no_record(what: str) -> ConfigError:
    problem = f"nothing is on record of how {what} text was prepared, so raw text cannot be prepared like it"
    return ConfigError(f"{problem}; prepare it yourself")


# ---------------------------------------------------------------- text that does not fit


def unknown_share(ids: Int32Array) -> float:
    """The share of the tokens of an encoded text that is unknown."""
    return float(np.count_nonzero(ids == UNK_ID)) / max(1, len(ids))


def tolerated_unknown(expected: float) -> float:
    """The share of unknown words from which on a text does not fit a model that expects `expected` of them.

    A model of little text expects many, and three times as many may be more than there are words: then a text does
    not fit if the model knows half as many of its words as it should.
    """
    return max(expected + MORE_UNKNOWN, min(TIMES_UNKNOWN * expected, (1 + expected) / 2))


def warn_if_foreign(model: LanguageModel, ids: Int32Array, forms: Callable[[], Iterable[bytes]], name: str) -> None:
    """Warn of a text with far more unknown words than the development text had, and say what may be the cause."""
    share, usual = unknown_share(ids), model.training.get("development_unknown")
    expected = USUAL_UNKNOWN if usual is None else float(usual)
    if len(ids) < FEWEST_TOKENS or share < tolerated_unknown(expected):
        return
    compared = "" if usual is None else f" (of the development text: {percent(expected, 0)})"
    words = [form.decode() for form in islice(forms(), SAMPLE)]
    cause = _cause(model, [word for word in words if word not in (END, UNKNOWN)])
    notify(f"WARNING: {name}: {percent(share, 0)} of the words are unknown to the model{compared}; {cause}")


def _cause(model: LanguageModel, words: Sequence[str]) -> str:
    theirs, ours = _script(words), _script(model.vocabulary.words[:SAMPLE])
    if theirs and ours and theirs != ours:
        return f"the text is in {theirs} letters, the model's in {ours}"
    options = model.preparation
    if options is not None and options.language and words:
        found = recognise_language([" ".join(words)])
        if found.is_sure and found.code not in (None, options.language):
            return f"it looks like {language_name(found.code)}, the model is of {language_name(options.language)}"
    if options is None:
        return "was it prepared as the model's text was? The model has no record of it"
    if not options.is_idempotent:
        return f"the model's text has {options.describe()}; say {either('--raw', 'prepared=False')} if this is raw text"
    return "it may be of another language or subject, or was prepared in another way"


def _script(words: Iterable[str]) -> str | None:
    """The script of most of the letters: `LATIN`, `CYRILLIC`, ..."""
    names = Counter(
        unicodedata.name(letter, "").partition(" ")[0] for word in words for letter in word if letter.isalpha()
    )
    return names.most_common(1)[0][0].capitalize() if names else None
