"""What goes wrong is caught as people catch it, and told in the terms of whoever asked."""

from __future__ import annotations

import errno
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import morphlm
from morphlm.errors import FileAccessError, FilePermissionError, located
from morphlm.extras import import_extra
from morphlm.segmentation import choose_source
from morphlm.text.reading import read_blocks
from morphlm.translation import NamedModel, Sources
from morphlm.wording import command_line, either, option

TEXT = [["na", "dům"], ["na", "hrad"]] * 3


@pytest.mark.parametrize(
    ("error", "usual"),
    [
        (morphlm.InputError, ValueError),
        (morphlm.ArgumentTypeError, TypeError),
        (morphlm.FileAccessError, OSError),
        (morphlm.MissingFileError, FileNotFoundError),
        (FilePermissionError, PermissionError),
        (morphlm.FetchError, OSError),
        (morphlm.FormatError, ValueError),
        (morphlm.MissingModelError, FileNotFoundError),
        (morphlm.ConfigError, ValueError),
        (morphlm.MissingExtraError, ImportError),
        (morphlm.UnknownWordError, KeyError),
        (morphlm.WordIdError, IndexError),
        (morphlm.StateError, IndexError),
        (morphlm.TrainingError, RuntimeError),
    ],
)
def test_errors_are_those_that_people_catch(error: type[morphlm.MorphlmError], usual: type[Exception]) -> None:
    assert issubclass(error, morphlm.MorphlmError)
    assert issubclass(error, usual)
    made = error("what is wrong; how to mend it")
    assert str(made) == "what is wrong; how to mend it"
    assert repr(made) == f"{error.__name__}('what is wrong; how to mend it')"
    again = pickle.loads(pickle.dumps(made))
    assert (type(again), str(again)) == (error, str(made))


def test_an_error_of_the_operating_system_keeps_its_number() -> None:
    kinds = {errno.ENOENT: FileNotFoundError, errno.EACCES: PermissionError, errno.EISDIR: OSError}
    for number, kind in kinds.items():
        error = FileAccessError.of("it cannot be read", "a.txt", OSError(number, "why"))
        assert isinstance(error, kind)
        assert (error.errno, error.filename, str(error)) == (number, "a.txt", "a.txt: it cannot be read")


def test_a_line_is_added_to_an_error_and_its_class_stays() -> None:
    with pytest.raises(TypeError, match=r"^a\.txt:3: no word$"), located("a.txt", 3):
        raise morphlm.ArgumentTypeError("no word")


def test_a_long_message_has_a_short_repr() -> None:
    assert len(repr(morphlm.InputError("x" * 5000))) < 200


def test_an_error_about_another_file_is_not_taken_for_one_of_the_file_that_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(FileNotFoundError, match=r"b\.txt: there is no such file"):
        for _ in read_blocks(tmp_path / "a.txt"):
            list(read_blocks(tmp_path / "b.txt"))


# ---------------------------------------------------------------- words


@pytest.fixture(scope="module")
def model() -> morphlm.LanguageModel:
    return morphlm.train_ngram(TEXT, 2)


@pytest.mark.parametrize("word", [None, 5, 5.0, b"na", ["na"], np.int64(3), object()])
def test_what_is_no_string_is_not_scored(model: morphlm.LanguageModel, word: Any) -> None:
    with pytest.raises(TypeError, match="is no word; give a str"):
        model.score(model.begin(), word)
    with pytest.raises(morphlm.InputError):
        model.vocabulary.id_of(word)


@pytest.mark.parametrize("word", ["na dům", "", " ", "na\n", "a\tb"])
def test_what_is_not_one_word_is_not_scored(model: morphlm.LanguageModel, word: str) -> None:
    with pytest.raises(ValueError, match=r"is no single word; give one token"):
        model.score(model.begin(), word)


def test_words_that_are_not_known_are_unknown(model: morphlm.LanguageModel) -> None:
    unknown = model.score(model.begin(), "<unk>")
    for word in ("neologismus", "a-b", ",", "2.5", "ж", np.str_("x")):
        assert model.score(model.begin(), word) == unknown
    assert model.score(model.begin(), np.str_("na")) == model.score(model.begin(), "na")


def test_a_list_of_words_where_sentences_are_meant_is_warned_of(
    model: morphlm.LanguageModel, capsys: pytest.CaptureFixture[str]
) -> None:
    warning = "warning: 'na', 'dům' are taken as sentences of one word each"
    model.perplexity(["na", "dům"])
    assert capsys.readouterr().err.replace(", ...", "").startswith(warning)
    for text in (["na dům"], ["na dům", "na"], [["na", "dům"]], ["na"], iter(["na", "dům"])):
        model.perplexity(text)
        assert "one word each" not in capsys.readouterr().err


# ---------------------------------------------------------------- in whose terms


def test_options_are_named_as_the_reader_writes_them() -> None:
    assert [option("--dev"), option("--resume", True), option("--language", "cs")] == [
        "dev=",
        "resume=True",
        "language='cs'",
    ]
    assert [option("--allow-unk", True), option("--max-tokens", 0), option("--format", "tsv", name="layout")] == [
        "allow_unknown=True",
        "max_tokens=0",
        "layout='tsv'",
    ]
    with command_line():
        assert [option("--dev"), option("--resume", True), option("--language", "cs"), option("--max-tokens", 0)] == [
            "--dev",
            "--resume",
            "--language cs",
            "--max-tokens 0",
        ]
        assert either("a command", "a call") == "a command"
    assert either("a command", "a call") == "a call"


PROVOKED: dict[str, Callable[[Path], object]] = {
    "mix": lambda folder: morphlm.mix([morphlm.train_ngram(TEXT, 2), morphlm.train_ngram(TEXT, 3)]),
    "mix other words": lambda folder: morphlm.mix([morphlm.train_ngram(TEXT), morphlm.train_ngram(TEXT[:1])], TEXT),
    "train setting": lambda folder: morphlm.train("clbl", TEXT, TEXT, nothing=1),
    "train resume and restart": lambda folder: morphlm.train("clbl", TEXT, TEXT, resume=True, restart=True),
    "train out": lambda folder: morphlm.train("clbl", TEXT, TEXT, folder / "m", artefacts=folder / "m"),
    "train too large a step": lambda folder: morphlm.train(
        "lbl", TEXT, TEXT, step=1e30, decay=1e30, init_std=1e20, width=2
    ),
    "closed": lambda folder: morphlm.train_ngram([["<unk>"]], open_vocabulary=False, allow_unknown=True),
    "unknown in text": lambda folder: morphlm.train_ngram(_written(folder, "a <unk>\n")),
    "carriage return": lambda folder: morphlm.train_ngram(_written(folder, "a\r\nb\r\n")),
    "learn minutes": lambda folder: morphlm.learn([["a"]], folder / "x", field="text"),
    "learn in place": lambda folder: morphlm.learn(_written(folder, "a\n"), folder),
    "learn Chinese": lambda folder: morphlm.learn(_written(folder, "a\n"), folder / "x", language="zh"),
    "data set": lambda folder: morphlm.get_dataset("wmt13", folder / "x"),
    "data set option": lambda folder: morphlm.get_dataset("wmt13", folder / "x", language="cs", sentences=3),
    "data set name": lambda folder: morphlm.get_dataset("nothing", folder / "x"),
    "data set parallel": lambda folder: morphlm.get_dataset("libreoffice-help", "x", language="cs", parallel="cs"),
    "preparation": lambda folder: morphlm.PrepareOptions(tokeniser="moses"),
    "pairs": lambda folder: morphlm.pair_options((None, "cs")),
    "reserved": lambda folder: list(morphlm.prepare_lines(["a <s>"], morphlm.PrepareOptions())),
    "vocabulary": lambda folder: morphlm.load_vocabulary(_written(folder, "a\n")),
    "classes": lambda folder: morphlm.train_classes(TEXT, method="frequency", max_class_size=3),
    "segmenter as model": lambda folder: morphlm.load(_segmenter(folder)),
    "rescoring": lambda folder: morphlm.rescore(
        morphlm.Rescorer([("lm", morphlm.train_ngram(TEXT))], morphlm.RescoringOptions(best=True)), "x"
    ).__next__(),
    "rescoring weights": lambda folder: morphlm.Rescorer(
        [("lm", morphlm.train_ngram(TEXT))], morphlm.RescoringOptions(lm_weights=(1.0, 2.0))
    ),
    "weights": lambda folder: morphlm.scoring.read_weights("=1"),
    "columns": lambda folder: morphlm.scoring.Columns(0),
    "export": lambda folder: morphlm.export_vectors(_vectors(), folder / "x.npy", file_format="word2vec"),
    "factors": lambda folder: choose_source("nothing", morphlm.train_ngram(TEXT).vocabulary),
    "folder of models": lambda folder: morphlm.analysis.select_folders({"cs": (folder, folder / "x")}),
    "scaling": lambda folder: morphlm.analysis.scale_folders(folder / "x"),
    "curves": lambda folder: morphlm.analysis.read_learning_curves({"a": folder}),
    "recipe": lambda folder: morphlm.experiments.preview_recipe("data-1m", store=folder / "s"),
    "recipe data": lambda folder: morphlm.experiments.preview_recipe("data-1m", folder / "x", store=folder / "s"),
    "recipe languages": lambda folder: morphlm.experiments.preview_recipe("data-1m", folder, languages=["xx"]),
    "translation name": lambda folder: NamedModel("1 2", Path("x")),
    "translation models": lambda folder: Sources("a", "b", models=[NamedModel("x", Path("a"))] * 2),
    "translation system": morphlm.translation.TranslationSystem.load,
    "bitext": lambda folder: morphlm.translation.load_bitext(_segmenter(folder)),
    "grammars": lambda folder: morphlm.translation.write_grammars("bitext", "x"),
    "extra": lambda folder: import_extra("no_such_module", "pictures", "this needs"),
}


def _written(folder: Path, text: str) -> Path:
    (folder / "text.txt").write_bytes(text.encode())
    return folder / "text.txt"


def _segmenter(folder: Path) -> Path:
    morphlm.train_segmenter({"dům": 2, "domu": 1}).save(folder / "segmenter")
    return folder / "segmenter"


def _vectors() -> morphlm.WordVectors:
    return morphlm.train("lbl", TEXT, TEXT, epochs=1, width=2).vectors


@pytest.mark.parametrize("name", PROVOKED)
def test_errors_of_calls_name_no_options_of_commands(name: str, tmp_path: Path) -> None:
    with pytest.raises(morphlm.MorphlmError) as caught:
        PROVOKED[name](tmp_path)
    message = str(caught.value)
    assert " --" not in message
    assert "(--" not in message
    assert not message.startswith("--")
    assert "`morphlm " not in message, "a command"


NO_SOURCES: list[Any] = [None, 5, 2.5, object()]


@pytest.mark.parametrize("wrong", NO_SOURCES)
def test_what_is_no_text_vocabulary_or_sentence_is_refused_by_what_it_is(wrong: Any) -> None:
    """Not by an assertion, nor by an attribute that it lacks."""
    text = [["a", "b"], ["b"]]
    model = morphlm.train_ngram(text, order=2)
    for call, message in (
        (lambda: morphlm.train("mkn", wrong, text), "is no text"),
        (lambda: morphlm.train_segmenter(wrong), "has no words with counts"),
        (lambda: morphlm.train_spelling(wrong), "is no vocabulary"),
        (lambda: model.sentence(wrong), "is no sentence"),
    ):
        with pytest.raises(morphlm.InputError, match=message):
            call()


def test_a_single_string_is_no_list_of_words() -> None:
    model = morphlm.train_ngram([["a", "b"], ["b"]], order=2)
    for ask in (model.score_many, model.score_grid):
        with pytest.raises(morphlm.WordIdError, match=r"'ab' .* no list of words; give a list, \[word\]"):
            ask([model.begin()] * 2, "ab")
    with pytest.raises(morphlm.InputError, match="is no sentence; give a list of tokens"):
        model.sentence(token for token in ["a"])  # type: ignore[arg-type]
