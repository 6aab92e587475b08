"""Raw text for models: prepared as their training text was, said in one line, warned of if it does not fit."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from morphlm import load, mix, train, train_ngram
from morphlm.errors import ConfigError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text, line_preparer, shared_preparation, tolerated_unknown
from morphlm.text.preparation import PrepareOptions, model_record, paper_options
from morphlm.text.prepare import prepare_files
from morphlm.text.raw import RawText

LINES = ["Škola je v Praze.", "Pes je ve škole, ne v Praze.", "Máme 12 psů!", "Pro školu i pro psa."] * 5


def model_of(options: PrepareOptions | None) -> LanguageModel:
    model = train_ngram([["škola", "je", "v", "praze", "."], ["00", "psů", "!"]], 2)
    model.training["preparation"] = None if options is None else model_record(options)
    return model


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "raw.txt"
    path.write_text("Škola je v Praze.\n12 psů!\n")
    return path


WORDS, MOSES, NONE = PrepareOptions(language="cs"), paper_options("cs"), PrepareOptions(tokeniser="none")


@pytest.mark.parametrize(
    ("options", "prepared", "is_prepared"),
    [
        *((WORDS, None, True), (WORDS, True, False), (WORDS, False, True)),
        *((MOSES, None, False), (MOSES, True, False), (MOSES, False, True)),
        *((NONE, None, True), (None, None, False), (None, True, False)),
    ],
)
def test_which_files_are_prepared(
    options: PrepareOptions | None, prepared: bool | None, is_prepared: bool, raw: Path
) -> None:
    source = fit_text(model_of(options), raw, prepared=prepared)
    assert isinstance(source, RawText) == is_prepared
    unknown = model_of(options).perplexity(raw, prepared=prepared).unknown
    assert unknown == (0 if is_prepared and options != NONE else 2 if options == NONE else 4)


def test_what_is_done_is_said_in_one_line(raw: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_of(WORDS).perplexity(raw)
    message = (
        "prepared as the model's text was (tokenised for cs, lower case, digits as 0); prepared=True takes it as it"
    )
    assert capsys.readouterr().err == f"{raw}: {message} stands\n"
    prepare_files([raw], raw.with_name("out"), WORDS)
    capsys.readouterr()
    model_of(WORDS).perplexity(raw.with_name("out"))
    assert capsys.readouterr().err == "", "its record fits"


def test_raw_text_cannot_be_prepared_without_a_record(raw: Path) -> None:
    with pytest.raises(ConfigError, match="nothing is on record"):
        model_of(None).perplexity(raw, prepared=False)
    with pytest.raises(ConfigError, match="nothing is on record"):
        line_preparer(model_of(None), prepared=False)


def test_raw_sentences_and_lines_in_python() -> None:
    for options in (WORDS, MOSES):
        model = model_of(options)
        assert model.sentence("Škola je v Praze.") == model.sentence(["škola", "je", "v", "praze", "."])
        assert model.perplexity(["12 psů!"]).logprob == model.perplexity([["00", "psů", "!"]]).logprob
        assert model.tokens("Pes.") == ["pes", "."] and model.join(["pes", "."]) == "pes."
    assert model_of(None).sentence("škola je") == model_of(None).sentence(["škola", "je"])


def test_a_model_of_raw_lines_knows_how_they_were_prepared(tmp_path: Path) -> None:
    model = train_ngram(LINES, 2, language="cs")
    assert model.preparation == PrepareOptions(language="cs", max_tokens=0)
    assert model.perplexity(LINES).unknown == 0
    clbl = train("clbl++", LINES, LINES[:3], tmp_path / "clbl", language="cs", kappa=0, width=4, epochs=1)
    assert clbl.preparation == model.preparation
    assert load(tmp_path / "clbl").training["development_unknown"] == 0
    mkn = train("mkn", LINES, LINES[:3], language="cs", kappa=0)
    mixture = mix([mkn, clbl], LINES[:4])
    assert mixture.preparation == model.preparation and mixture.training["development_unknown"] == 0


def test_models_must_agree(raw: Path) -> None:
    assert shared_preparation([model_of(WORDS), model_of(WORDS)]) == model_of(WORDS).preparation
    assert shared_preparation([model_of(WORDS), model_of(MOSES)]) is None
    assert fit_text([model_of(WORDS), model_of(MOSES)], raw) == raw


def test_text_that_does_not_fit_is_met_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = train_ngram(LINES, 2, language="cs")
    model.training["development_unknown"] = 0.02
    path = tmp_path / "text"
    for text, cause in (
        ("Ничего не известно об этих словах. " * 20, "the text is in Cyrillic letters, the model's in Latin"),
        ("None of these words is known to the model, and they are English. " * 20, "it looks like English, the model "),
        ("pejsek kočička dortík vařili ze všeho nejlepšího možného jídla " * 20, "may be of another language or sub"),
    ):
        path.write_text(text + "\n")
        capsys.readouterr()
        model.perplexity(path)
        message = capsys.readouterr().err
        assert "of the words are unknown to the model (of the development text: 2 %)" in message and cause in message
    path.write_text("Škola je v Praze.\n" * 20)
    capsys.readouterr()
    model.perplexity(path)
    assert "WARNING" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "tolerated"), [(0.0, 0.15), (0.05, 0.2), (0.1, 0.3), (0.22, 0.61), (0.5, 0.75), (0.9, 1.05)]
)
def test_models_of_little_text_warn_too(expected: float, tolerated: float) -> None:
    """Three times as many unknown words as 22 % are more than there are in a text of another language: 63 %."""
    assert tolerated_unknown(expected) == pytest.approx(tolerated)


def test_empty_lines_of_raw_text_are_no_sentences(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("\nTo je věta.\n\n \nTo je věta.\n")
    model = train_ngram(["To je věta."] * 3, 2, language="cs")
    prepare_files([tmp_path / "raw"], tmp_path / "prepared", PrepareOptions("cs"))
    raw, prepared = (model.perplexity(tmp_path / name) for name in ("raw", "prepared"))
    assert raw.sentences == prepared.sentences == 2
    assert raw.including_unknown == prepared.including_unknown


def test_hard_wrapped_text_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = "Byl pozdní večer a nikdo už nečekal, že by se ještě mohl vrátit domů tou dlouhou cestou přes les. "
    (tmp_path / "wrapped").write_text(textwrap.fill(sentence * 20, 60) + "\n")
    (tmp_path / "lines").write_text(f"{sentence}\n" * 20)
    model = train_ngram([sentence] * 3, 2, language="cs")
    for name in ("wrapped", "lines"):
        capsys.readouterr()
        model.perplexity(tmp_path / name)
        fit_text(model, tmp_path / name)
        assert ("it looks hard-wrapped" in capsys.readouterr().err) == (name == "wrapped")


def test_nothing_is_said_of_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = train_ngram(["To je věta."] * 3, 2, language="cs")
    for name in (tmp_path / "none", tmp_path):
        fit_text(model, name)
        assert capsys.readouterr().err == ""
