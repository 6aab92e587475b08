from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm import ConfigError, InputError, load_vocabulary, modelfile, train
from morphlm.classes.formats import read_classes
from morphlm.classes.frequency import frequency_bins
from morphlm.classes.partition import Partition, average_mutual_information
from morphlm.segmentation.factors import Factors, build_factors
from morphlm.segmentation.segmenter import MorphemeSegmenter, train_segmenter
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.training.inputs import InputOptions, TrainingInputs, prepare_inputs
from morphlm.vocabulary.corpus import read_corpus
from tests.conftest import GOLDEN

TRAIN, DEV = GOLDEN / "kneser-ney" / "test.txt", GOLDEN / "kneser-ney" / "small.txt"


def names(folder: Path) -> list[str]:
    """What is in a folder, without the hashes; hidden leftovers would show."""
    return sorted(path.name.partition("-")[0] for path in folder.iterdir())


def assert_equal(one: TrainingInputs, other: TrainingInputs) -> None:
    assert one.vocabulary.words == other.vocabulary.words
    assert np.array_equal(one.train.tokens, other.train.tokens)
    assert np.array_equal(one.dev.corpus.tokens, other.dev.corpus.tokens)
    assert one.record == other.record
    assert one.factors is not None
    assert other.factors is not None
    assert one.factors.names == other.factors.names
    assert np.array_equal(one.factors.indices, other.factors.indices)
    assert one.factors.to_json() == other.factors.to_json()
    assert one.partition is not None
    assert other.partition is not None
    assert np.array_equal(one.partition.class_of, other.partition.class_of)
    assert one.partition.to_json() == other.partition.to_json()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainingInputs, Path]:
    folder = tmp_path_factory.mktemp("made") / "new" / "stages"
    return prepare_inputs(TRAIN, DEV, InputOptions(), folder), folder


def test_what_is_made_is_kept_in_the_formats_of_the_commands(made: tuple[TrainingInputs, Path]) -> None:
    inputs, folder = made
    assert names(folder) == ["classes", "segmenter", "vocabulary"]
    (vocabulary,) = folder.glob("vocabulary-????????????.tsv")
    assert load_vocabulary(vocabulary).words == inputs.vocabulary.words
    (segmenter,) = folder.glob("segmenter-????????????")
    assert inputs.factors is not None
    factors = build_factors(inputs.vocabulary, MorphemeSegmenter.load(segmenter).segmentation)
    assert np.array_equal(factors.indices, inputs.factors.indices)
    (classes,) = folder.glob("classes-????????????.tsv")
    file = read_classes(classes, "tsv", inputs.vocabulary)
    assert (file.missing, file.ignored) == (0, 0)
    assert inputs.partition is not None
    assert np.array_equal(file.partition.class_of, inputs.partition.class_of)
    assert inputs.partition.method == "exchange"
    expected = average_mutual_information(inputs.train, inputs.partition)
    assert inputs.partition.mutual_information == expected


def test_the_same_is_found_again_and_gives_the_same(
    made: tuple[TrainingInputs, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, folder = made
    for name in ("make_classes", "train_segmenter"):
        monkeypatch.setattr(f"morphlm.training.inputs.{name}", lambda *_, **__: pytest.fail("made again"))
    monkeypatch.setattr("morphlm.vocabulary.vocabulary.Vocabulary.save", lambda *_: pytest.fail("written again"))
    assert_equal(prepare_inputs([TRAIN], DEV, InputOptions(threads=1), folder), inputs)
    said = capsys.readouterr().err
    for name in ("vocabulary", "segmenter", "classes"):
        assert f"{name}: found in {folder / name}-" in said


def test_sentences_give_what_a_file_gives_and_without_a_folder_nothing_is_kept(
    made: tuple[TrainingInputs, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train, dev = ((line.split() for line in path.read_text().splitlines()) for path in (TRAIN, DEV))
    assert_equal(prepare_inputs(train, dev, InputOptions()), made[0])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("choices", "source", "new"),
    [
        (InputOptions(), TRAIN, []),
        (InputOptions(seed=2), TRAIN, ["classes", "segmenter", "vocabulary"]),
        (InputOptions(kappa=0.0), TRAIN, ["classes", "segmenter", "vocabulary"]),
        (InputOptions(corpus_weight=0.9), TRAIN, ["segmenter"]),
        (InputOptions(classes=5), TRAIN, ["classes"]),
        (InputOptions(class_method="frequency"), TRAIN, ["classes"]),
        (InputOptions(), DEV, ["classes", "segmenter", "vocabulary"]),
    ],
)
def test_only_what_depends_on_a_choice_is_made_again(
    choices: InputOptions, source: Path, new: list[str], made: tuple[TrainingInputs, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "stages"
    folder.mkdir()
    for path in made[1].iterdir():
        (folder / path.name).symlink_to(path)
    before = {path.name for path in folder.iterdir()}
    prepare_inputs(source, TRAIN if source == DEV else DEV, choices, folder)
    assert sorted(path.name.partition("-")[0] for path in folder.iterdir() if path.name not in before) == new


def test_classes_of_another_order_of_sentences_are_others(made: tuple[TrainingInputs, Path], tmp_path: Path) -> None:
    """The vocabulary is the same, but the text, on which classes depend, is not; kappa = 0 draws nothing."""
    lines = TRAIN.read_text().splitlines()
    choices = InputOptions(kappa=0.0)
    prepare_inputs([line.split() for line in lines], DEV, choices, tmp_path / "stages")
    prepare_inputs([line.split()[::-1] for line in lines], DEV, choices, tmp_path / "stages")
    assert names(tmp_path / "stages") == ["classes", "classes", "segmenter", "vocabulary", "vocabulary"]


def test_another_seed_makes_anew_what_draws_though_the_words_are_the_same(tmp_path: Path) -> None:
    for seed in (1, 2):
        prepare_inputs(TRAIN, DEV, InputOptions(kappa=0.0, seed=seed), tmp_path / "stages")
    assert names(tmp_path / "stages") == ["classes"] * 2 + ["segmenter"] * 2 + ["vocabulary"] * 2


def test_models_without_factors_or_classes_do_not_wait_for_them(tmp_path: Path) -> None:
    inputs = prepare_inputs(TRAIN, DEV, InputOptions(), tmp_path / "stages", factors=False, classes=False)
    assert (inputs.factors, inputs.partition) == (None, None)
    assert names(tmp_path / "stages") == ["vocabulary"]


@pytest.mark.parametrize(
    ("place", "left"),
    [
        ("morphlm.vocabulary.vocabulary.Vocabulary.to_tsv", []),
        ("morphlm.modelfile._put_in_place", ["vocabulary"]),
        ("morphlm.classes.partition.Partition.to_tsv", ["segmenter", "vocabulary"]),
    ],
)
def test_an_interrupt_leaves_whole_results_or_none(
    place: str, left: list[str], made: tuple[TrainingInputs, Path], tmp_path: Path
) -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, interrupt)
        with pytest.raises(KeyboardInterrupt):
            prepare_inputs(TRAIN, DEV, InputOptions(), tmp_path)
    assert names(tmp_path) == left
    assert_equal(prepare_inputs(TRAIN, DEV, InputOptions(), tmp_path), made[0])
    for path in made[1].iterdir():
        if path.is_file():
            assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("damage", ["cut", "nonsense", "another word"])
def test_damaged_results_are_made_again(
    damage: str, made: tuple[TrainingInputs, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare_inputs(TRAIN, DEV, InputOptions(), tmp_path)
    (classes,) = tmp_path.glob("classes-*")
    (segmenter,) = tmp_path.glob("segmenter-*")
    for path in (classes, segmenter / "segmentation.txt"):
        text = path.read_text()
        changed = {"cut": text[: text.index("\n", len(text) // 2) + 1], "nonsense": "x\n", "another word": text + text}
        path.write_text(changed[damage])
    assert_equal(prepare_inputs(TRAIN, DEV, InputOptions(), tmp_path), made[0])
    assert capsys.readouterr().err.count("is damaged and is made again") == 2
    assert modelfile.read_model(segmenter).kind == "segmenter"
    assert classes.read_bytes() == (made[1] / classes.name).read_bytes()


# ---------------------------------------------------------------- what is given


def test_a_given_vocabulary_is_used_and_kappa_is_not(tmp_path: Path) -> None:
    vocabulary = read_corpus(DEV).words.vocabulary(0.5, 3)
    vocabulary.save(tmp_path / "v.tsv")
    for given in (vocabulary, tmp_path / "v.tsv", str(tmp_path / "v.tsv")):
        choices = InputOptions(vocabulary=given, factors="ngrams:2-3", classes=4, class_method="frequency")
        inputs = prepare_inputs(TRAIN, DEV, choices, tmp_path / "stages")
        assert inputs.vocabulary.words == vocabulary.words
        assert inputs.record["vocabulary"] == "given"
        assert inputs.record["kappa"] is None
    assert names(tmp_path / "stages") == ["classes"]


def test_factors_may_be_given_in_any_form(tmp_path: Path) -> None:
    vocabulary = read_corpus(TRAIN).words.vocabulary(0.2, 1)
    segmenter = train_segmenter(vocabulary, corpus_weight=1.0)
    segmenter.save(tmp_path / "segmenter")
    by_segmenter = build_factors(vocabulary, segmenter.segmentation)
    by_ngrams = build_factors(vocabulary, character_ngrams(2, 3))
    cases: list[tuple[Any, Factors]] = [
        (f"segmenter:{tmp_path / 'segmenter'}", by_segmenter),
        (segmenter, by_segmenter),
        (segmenter.segmentation, by_segmenter),
        (by_segmenter, by_segmenter),
        ("ngrams:2-3", by_ngrams),
        (character_ngrams(2, 3), by_ngrams),
    ]
    for source, expected in cases:
        factors = prepare_inputs(TRAIN, DEV, InputOptions(factors=source), tmp_path / "stages", classes=False).factors
        assert factors is not None
        assert factors.names == expected.names
        assert np.array_equal(factors.indices, expected.indices)
    assert names(tmp_path / "stages") == ["vocabulary"]


def test_classes_may_be_given_in_any_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vocabulary = read_corpus(TRAIN).words.vocabulary(0.2, 1)
    partition = frequency_bins(vocabulary, 7)
    partition.save(tmp_path / "c.tsv")
    lines = [line.split("\t") for line in (tmp_path / "c.tsv").read_text().splitlines()]
    paths = "".join(f"{int(number):03b}\t{word}\t{count}\n" for number, word, count in lines)
    (tmp_path / "paths").write_text(paths)
    for given in (partition, tmp_path / "c.tsv", str(tmp_path / "c.tsv"), f"paths:{tmp_path / 'paths'}"):
        found = prepare_inputs(TRAIN, DEV, InputOptions(classes=given), tmp_path / "stages", factors=False).partition
        assert isinstance(found, Partition)
        assert np.array_equal(found.class_of, partition.class_of)
    assert names(tmp_path / "stages") == ["vocabulary"]
    (tmp_path / "c.tsv").write_text("".join(f"0\t{word}\t1\n" for word in ("</s>", "nosuchword")))
    prepare_inputs(TRAIN, DEV, InputOptions(classes=tmp_path / "c.tsv"), factors=False)
    assert "words of the vocabulary; unknown: 1 of the file" in capsys.readouterr().err


def test_a_number_of_classes_and_a_method(made: tuple[TrainingInputs, Path], tmp_path: Path) -> None:
    for method, root in [("frequency", False), ("root-frequency", True)]:
        for _ in range(2):  # made, then found
            choices = InputOptions(classes=6, class_method=method)
            partition = prepare_inputs(TRAIN, DEV, choices, tmp_path, factors=False).partition
            assert partition is not None
            expected = frequency_bins(made[0].vocabulary, 6, root=root)
            assert np.array_equal(partition.class_of, expected.class_of)
            assert partition.method == method


# ---------------------------------------------------------------- what cannot be


def test_bad_files_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("a\0b\n")
    bad = tmp_path / "bad"
    for arguments in (
        (bad, DEV, InputOptions()),
        (TRAIN, bad, InputOptions()),
        (TRAIN, DEV, InputOptions(factors=f"table:{bad}")),
        (TRAIN, DEV, InputOptions(classes=bad)),
        (TRAIN, DEV, InputOptions(vocabulary=bad)),
    ):
        with pytest.raises(InputError, match="bad:1"):
            prepare_inputs(*arguments, tmp_path / "stages")
    with pytest.raises(InputError, match="bad:1"):
        prepare_inputs(TRAIN, DEV, InputOptions(), tmp_path / "stages", test=bad)
    assert not (tmp_path / "stages").exists()


def test_a_file_is_no_folder_for_results() -> None:
    with pytest.raises(InputError, match="this is a file"):
        prepare_inputs(TRAIN, DEV, InputOptions(), DEV)


@pytest.mark.parametrize(
    ("choices", "what"),
    [
        ({"vocabulary": "v", "kappa": 0.1}, "kappa too"),
        ({"kappa": 1.5}, r"at least 0 and at most 1"),
        ({"seed": -1}, "seed"),
        ({"class_method": "magic"}, "exchange, frequency, root-frequency"),
        ({"corpus_weight": 0.0}, "corpus_weight is 0.0; it must be a finite number above 0"),
    ],
)
def test_choices_that_cannot_be(choices: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        InputOptions(**choices)


@pytest.mark.parametrize(
    ("dev", "choices"),
    [("-", {}), (DEV, {"vocabulary": "-"}), (DEV, {"classes": "paths:-"}), (DEV, {"factors": "table:-"})],
)
def test_standard_input_is_read_once(dev: str | Path, choices: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="named more than once"):
        prepare_inputs("-", dev, InputOptions(**choices))


def test_development_text_that_is_the_training_text_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    prepare_inputs(TRAIN, TRAIN, InputOptions(), factors=False, classes=False)
    assert "warning: the development text is the training text" in capsys.readouterr().err
    prepare_inputs(TRAIN, DEV, InputOptions(), factors=False, classes=False)
    assert "warning" not in capsys.readouterr().err


def test_a_training_without_development_text_is_refused_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no development text.*dev="):
        train("clbl++", [["a", "b"]] * 20, None, tmp_path / "out")  # type: ignore[arg-type]
