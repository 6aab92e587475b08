"""The eight models as language models: scoring by states, sentences and texts; saving, loading, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from morphlm.errors import FormatError, MorphlmError
from morphlm.logbilinear import model as model_module
from morphlm.logbilinear.config import VARIANTS, variant
from morphlm.logbilinear.model import LogBilinearModel, logbilinear_from_files
from morphlm.logbilinear.parameters import Parameters, initial_parameters
from morphlm.modelfile import ModelFiles, write_model
from morphlm.scoring.loading import load
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID
from tests.training.small import contents, sentences, task

KINDS = [(kind, diagonal) for kind in VARIANTS for diagonal in (True, False)]
TEXT = [*sentences(10, 5, rare=True), [], ["nikdy", "neviděno"]]


def make(kind: str, diagonal: bool = True, order: int = 3) -> LogBilinearModel:
    """With parameters so large that probabilities differ much; what training makes of them does not matter here."""
    wanted = task(kind, diagonal=diagonal, order=order)
    parameters = initial_parameters(wanted.config, wanted.structure, 7, 0.7)
    return LogBilinearModel(wanted.config, wanted.structure, parameters, {"seed": 7, "kappa": 0.5, "recipe": "paper"})


@pytest.fixture(params=KINDS, ids=[f"{kind}-{'diagonal' if diagonal else 'full'}" for kind, diagonal in KINDS])
def model(request: pytest.FixtureRequest) -> LogBilinearModel:
    return make(*request.param)


def by_states(model: LogBilinearModel, tokens: list[str]) -> list[float]:
    state, logprobs = model.begin(), []
    for token in tokens:
        logprob, state = model.score(state, token)
        logprobs.append(logprob)
    return [*logprobs, model.score_id(state, END_ID)[0]]


def states_of(model: LogBilinearModel) -> list[Any]:
    """The beginning, inside of a sentence, and after words that are not known."""
    state = model.begin()
    states = [state]
    for word in ("domu", "školou", "nikdy", "neviděno", "pole"):
        _, state = model.score(state, word)
        states.append(state)
    return states


# ---------------------------------------------------------------- scoring


def test_scoring_by_states_by_sentences_and_by_texts_agree(model: LogBilinearModel) -> None:
    encoded = [np.append(model.vocabulary.encode(tokens), np.int32(END_ID)) for tokens in TEXT]
    whole = model.score_tokens(np.concatenate(encoded))
    one_by_one = np.concatenate([model.sentence(tokens) for tokens in TEXT])
    states = np.concatenate([by_states(model, tokens) for tokens in TEXT])
    np.testing.assert_allclose(one_by_one, whole, atol=1e-5)
    np.testing.assert_allclose(states, whole, atol=1e-5)
    assert whole.std() > 0.5  # so that agreement means something


def test_large_texts_are_scored_by_several_threads_alike(
    model: LogBilinearModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = np.concatenate([np.append(model.vocabulary.encode(sentence), np.int32(END_ID)) for sentence in TEXT])
    alone = model.score_tokens(tokens)
    monkeypatch.setattr(model_module, "SMALL_TEXT", 1)
    monkeypatch.setattr(model_module, "available_cores", lambda: 3)
    np.testing.assert_array_equal(model.score_tokens(tokens), alone)


def test_a_distribution_sums_to_one_and_is_that_of_the_scores(model: LogBilinearModel) -> None:
    for state in states_of(model):
        distribution = model.distribution(state)
        assert distribution.shape == (len(model.vocabulary),)
        assert distribution.sum() == pytest.approx(1.0, abs=1e-6)
        assert distribution[BEGIN_ID] == 0.0
        words = np.delete(np.arange(len(model.vocabulary)), BEGIN_ID)
        assert (distribution[words] > 0).all()
        scores = [model.score_id(state, int(word))[0] for word in words]
        np.testing.assert_allclose(np.log(distribution[words]), scores, atol=1e-5)


def test_the_begin_of_a_sentence_has_no_probability(model: LogBilinearModel) -> None:
    for state in states_of(model):
        assert model.score_id(state, BEGIN_ID)[0] == -np.inf


def test_distributions_depend_on_every_word_of_the_context_and_on_its_place(model: LogBilinearModel) -> None:
    first, second = model.vocabulary.id_of("domu"), model.vocabulary.id_of("školou")
    states = [(first, first), (first, second), (second, first), (second, second)]
    distributions = [model.distribution(state) for state in states]
    for i, one in enumerate(distributions):
        for other in distributions[:i]:
            assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize("order", [2, 3, 5])
def test_states_with_the_same_future_are_equal_and_hash_alike(order: int) -> None:
    model = make("clbl++", order=order)
    recent = ["domu", "školou", "poli", "měst"][: order - 1]
    one, other = model.begin(), model.begin()
    for word in ["řeky", *recent]:
        _, one = model.score(one, word)
    for word in ["ulicem", "domem", "domem", *recent]:
        _, other = model.score(other, word)
    assert one == other
    assert len({one, other}) == 1
    np.testing.assert_array_equal(model.distribution(one), model.distribution(other))
    assert model.score(model.begin(), "nikdy")[1] == model.score(model.begin(), "neviděno")[1]  # both are UNK
    assert model.score(model.begin(), "domu")[1] != model.score(model.begin(), "školou")[1]


def test_words_that_are_not_known_are_scored_as_unk(model: LogBilinearModel) -> None:
    unknown, known = model.score(model.begin(), "nikdy"), model.score_id(model.begin(), 0)
    assert unknown == known
    assert model.sentence(["nikdy"]) == model.sentence(["neviděno"])


def test_the_signature_tells_order_width_vocabulary_and_recipe(model: LogBilinearModel) -> None:
    signature = str(model.signature)
    size = len(model.vocabulary)
    assert signature.startswith(f"ppl|model:{model.kind}|n:3|d:8|recipe:paper|V:{size}|kappa:0.5|unk:scored|eos:yes|")
    assert "|seed:7|" in signature


def test_the_perplexity_is_that_of_the_scores(model: LogBilinearModel) -> None:
    result = model.perplexity(TEXT)
    logprobs = np.concatenate([model.sentence(tokens) for tokens in TEXT])
    assert result.including_unknown == pytest.approx(np.exp(-logprobs.mean()), rel=1e-6)
    assert result.tokens == len(logprobs)


# ---------------------------------------------------------------- saving and loading


def test_what_is_loaded_is_what_was_saved(model: LogBilinearModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model", notes={"log.jsonl": "{}\n"})
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, LogBilinearModel)
    assert (loaded.kind, loaded.order, loaded.config) == (model.kind, model.order, model.config)
    assert loaded.vocabulary.words == model.vocabulary.words
    assert (loaded.training, str(loaded.signature)) == (model.training, str(model.signature))
    for tokens in TEXT:
        assert loaded.sentence(tokens) == model.sentence(tokens)
    for state in states_of(model):
        np.testing.assert_array_equal(loaded.distribution(state), model.distribution(state))
    loaded.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "model")


def test_the_directory_holds_what_people_and_programs_read(model: LogBilinearModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    expected = {"manifest.json", "tensors.safetensors", "vocabulary.tsv"}
    expected |= {"classes.tsv"} if model.config.classes else set()
    has_factors = model.config.context_factors or model.config.output_factors
    expected |= {"factors.tsv", "morphemes.tsv"} if has_factors else set()
    assert {path.name for path in (tmp_path / "model").iterdir()} == expected


def test_the_library_reads_the_same_tensors(model: LogBilinearModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    tensors = load_file(tmp_path / "model" / "tensors.safetensors")
    assert set(tensors) == {*Parameters._fields, *(["class_of"] if model.config.classes else [])}
    for name, array in model.parameters.named():
        np.testing.assert_array_equal(tensors[name], array)
        assert tensors[name].dtype == np.float32
    if model.config.classes:
        np.testing.assert_array_equal(tensors["class_of"], model.structure.class_of)


def test_the_classes_for_people_are_those_of_the_model(tmp_path: Path) -> None:
    model = make("clbl")
    model.save(tmp_path / "model")
    for line in (tmp_path / "model" / "classes.tsv").read_text().splitlines():
        number, word, count = line.split("\t")
        identity = model.vocabulary.words.index(word)
        assert int(number) == model.structure.class_of[identity]
        assert int(count) == model.vocabulary.counts[identity]


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize("kind", ["lbl", "clbl++"])
def test_damage_of_any_file_is_refused_naming_it(tmp_path: Path, kind: str) -> None:
    make(kind).save(tmp_path / "model", notes={"log.jsonl": "{}\n"})
    names = {path.name for path in (tmp_path / "model").iterdir()} - {"log.jsonl"}
    assert len(names) == (3 if kind == "lbl" else 6)
    for name in sorted(names):
        path = tmp_path / "model" / name
        original = path.read_bytes()
        positions = {*range(0, len(original), max(1, len(original) // 40)), len(original) - 1}
        for position in sorted(positions):
            flipped = bytearray(original)
            flipped[position] ^= 1 << position % 8
            for damaged in (bytes(flipped), original[:position]):
                path.write_bytes(damaged)
                with pytest.raises(FormatError, match=name):
                    load(tmp_path / "model")
        path.write_bytes(original + b"\n")
        with pytest.raises(FormatError, match=name):
            load(tmp_path / "model")
        path.unlink()
        with pytest.raises(FormatError, match=name):
            load(tmp_path / "model")
        path.write_bytes(original)
    (tmp_path / "model" / "log.jsonl").write_bytes(b"whatever")
    load(tmp_path / "model")


def altered(tmp_path: Path, kind: str, change: Callable[[ModelFiles], ModelFiles]) -> Path:
    """A directory whose hashes are right and whose content is not."""
    files = make(kind).to_files({})
    write_model(tmp_path / "model", change(files))
    return tmp_path / "model"


def with_tensor(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[ModelFiles], ModelFiles]:
    return lambda files: replace(files, tensors={**files.tensors, name: change(files.tensors[name])})


SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a row less": lambda array: array[:-1],
    "a row more": lambda array: np.concatenate([array, array[:1]]),
    "flat": lambda array: array.reshape(-1, 1),
    "other numbers": lambda array: array.astype(np.float64),
}


@pytest.mark.parametrize("change", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", [*Parameters._fields, "class_of"])
def test_tensors_of_a_wrong_shape_are_refused(
    tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    with pytest.raises(FormatError, match=r"model/tensors.safetensors: the tensor \w+ has .*make the model again"):
        load(altered(tmp_path, "clbl++", with_tensor(name, change)))


@pytest.mark.parametrize("name", [*Parameters._fields, "class_of"])
def test_a_missing_tensor_is_named(tmp_path: Path, name: str) -> None:
    def without(files: ModelFiles) -> ModelFiles:
        return replace(files, tensors={key: array for key, array in files.tensors.items() if key != name})

    with pytest.raises(FormatError, match=f"the tensor {name} is missing"):
        load(altered(tmp_path, "clbl++", without))


@pytest.mark.parametrize("name", ["vocabulary.tsv", "factors.tsv", "morphemes.tsv"])
@pytest.mark.parametrize("change", ["missing", "cut", "nonsense"])
def test_texts_that_do_not_fit_are_refused(tmp_path: Path, name: str, change: str) -> None:
    def without(files: ModelFiles) -> ModelFiles:
        texts = dict(files.texts)
        text = texts.pop(name)
        lines = text.splitlines(keepends=True)
        changed = {"missing": {}, "cut": {name: "".join(lines[:-1])}, "nonsense": {name: "\t\t\n" + text}}[change]
        return replace(files, texts=texts | changed)

    with pytest.raises(MorphlmError, match="make"):
        load(altered(tmp_path, "clbl++", without))


CONFIGURATIONS: list[dict[str, Any]] = [
    {"width": 9},
    {"order": 4},
    {"order": 1},
    {"order": "3"},
    {"diagonal": False},
    {"classes": False},
    {"context_factors": False},
    {"output_factors": False},
    {"depth": 3},
]


@pytest.mark.parametrize("change", CONFIGURATIONS, ids=str)
def test_a_configuration_that_does_not_fit_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    def change_configuration(files: ModelFiles) -> ModelFiles:
        return replace(files, configuration=files.configuration | change)

    with pytest.raises(FormatError, match=r"model/.*make the model again"):
        load(altered(tmp_path, "clbl++", change_configuration))


def test_a_kind_that_is_not_that_of_the_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"it says 'lbl' but is 'clbl\+\+'"):
        load(altered(tmp_path, "clbl++", lambda files: replace(files, kind="lbl")))


@pytest.mark.parametrize("name", Parameters._fields)
def test_other_numbers_fail_the_self_test(tmp_path: Path, name: str) -> None:
    """All files are whole and fit, but the model is not the one that was saved."""
    path = altered(tmp_path, "clbl++", with_tensor(name, lambda array: array[::-1]))
    with pytest.raises(FormatError, match="the self-test failed on"):
        load(path)


def test_files_in_memory_are_enough(tmp_path: Path) -> None:
    model = make("clbl+o")
    again = logbilinear_from_files("memory", model.to_files({}))
    assert again.sentence(["domu"]) == model.sentence(["domu"])


def test_loading_needs_no_file_any_more(tmp_path: Path) -> None:
    """The tensors are maps of a file that lives as long as they do."""
    model = make("clbl++")
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    shutil.rmtree(tmp_path / "model")
    assert loaded.sentence(["domu", "pole"]) == model.sentence(["domu", "pole"])


def test_the_manifest_s_self_test_holds_scores_of_the_model(tmp_path: Path) -> None:
    model = make("lbl+c")
    model.save(tmp_path / "model")
    cases = json.loads((tmp_path / "model" / "manifest.json").read_bytes())["self_test"]
    assert [] in [case["tokens"] for case in cases]
    assert any("\N{SNOWMAN}\N{SNOWMAN}" in case["tokens"] for case in cases)
    for case in cases:
        np.testing.assert_allclose(case["logprobs"], by_states(model, case["tokens"]), atol=2e-5)


def test_variants_have_their_names() -> None:
    assert [variant(kind).kind for kind in VARIANTS] == list(VARIANTS)
