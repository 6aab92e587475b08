"""Compiled files in Python: they score as their models, survive what models survive, and damage is refused."""

from __future__ import annotations

import copy
import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import morphlm
from morphlm.compiled.exporting import export_compiled
from morphlm.compiled.logbilinear import CompiledLogBilinear
from morphlm.compiled.words import FREE, hash_table, hash_words, pack_words, unpack_words
from morphlm.errors import ConfigError, FormatError, StateError, WordIdError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.batch_scorer import NewWordIds, batch_scorer
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.states import ComposedState
from morphlm.scoring.spelled import with_spelling
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig
from tests.logbilinear.test_unknown_contexts import TEXT, make

from .forging import forgeries, signed
from .models import MODELS, logbilinear, mixture, ngrams, text, wide
from .try_forgeries import try_all


def exported(model: LanguageModel, folder: Path, **more: Any) -> LanguageModel:
    export_compiled(model, folder / "model.mlm", **more)
    return morphlm.load(folder / "model.mlm")


@pytest.mark.parametrize("name", MODELS)
def test_a_file_scores_as_its_model_to_the_last_bit(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    compiled = exported(model, tmp_path)
    assert compiled.score_tokens(text()).tobytes() == model.score_tokens(text()).tobytes()
    assert (compiled.kind, compiled.order, compiled.vocabulary.words) == (
        model.kind,
        model.order,
        model.vocabulary.words,
    )
    assert str(compiled.signature) == str(model.signature)
    states, expected = [compiled.begin(), compiled.begin(sentence=False)], [model.begin(), model.begin(sentence=False)]
    for word in ("w3", "w0", "unseen", "</s>", "w7"):
        logprobs, states = compiled.score_many(states, [word] * 2)
        wanted, expected = model.score_many(expected, [word] * 2)
        assert logprobs.tobytes() == wanted.tobytes()
        assert compiled.score(states[0], word)[0] == model.score(expected[0], word)[0]
        np.testing.assert_array_equal(
            compiled.score_grid(states, ["w1", "w2"]), model.score_grid(expected, ["w1", "w2"])
        )
        np.testing.assert_array_equal(compiled.distribution(states[0]), model.distribution(expected[0]))
        assert all(map(compiled.is_state, states))


def test_nothing_is_composed_at_load_and_arrays_are_maps(tmp_path: Path) -> None:
    compiled = exported(logbilinear(), tmp_path)
    assert isinstance(compiled, CompiledLogBilinear)
    for array in (compiled.tables.context, compiled.tables.output, compiled.tables.class_vectors):
        assert not array.flags.writeable
        assert not array.flags.owndata
    assert "queries" not in vars(compiled)


@pytest.mark.parametrize("name", ["clbl++ diagonal", "n-grams of order 3", "mixture by n-grams"])
def test_models_of_files_can_be_copied_and_sent_to_other_processes(name: str, tmp_path: Path) -> None:
    compiled = exported(MODELS[name](), tmp_path)
    expected = compiled.score_tokens(text()).tobytes()
    assert len(pickle.dumps(compiled)) < 2000  # by the name of the file
    for other in (pickle.loads(pickle.dumps(compiled)), copy.copy(compiled), copy.deepcopy(compiled)):
        assert other.score_tokens(text()).tobytes() == expected
    (tmp_path / "model.mlm").unlink()
    assert pickle.loads(pickle.dumps(compiled)).score_tokens(text()).tobytes() == expected


def test_a_file_that_took_the_place_of_another_is_not_taken_for_it(tmp_path: Path) -> None:
    pickled = pickle.dumps(exported(logbilinear(), tmp_path))
    exported(logbilinear("clbl"), tmp_path)
    with pytest.raises(FormatError, match="another model is here now"):
        pickle.loads(pickled)


# ---------------------------------------------------------------- half precision


@pytest.mark.parametrize("name", ["clbl++ diagonal", "lbl full", "mixture by n-grams"])
def test_half_precision_has_a_measured_loss(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    result = export_compiled(model, tmp_path / "half", float16=True)
    whole = export_compiled(model, tmp_path / "whole")
    assert whole.largest_difference == 0
    assert 0 < result.mean_difference < 0.01
    assert result.mean_difference < result.largest_difference < 0.1
    assert result.size < whole.size
    differences = np.abs(morphlm.load(tmp_path / "half").score_tokens(text()) - model.score_tokens(text()))
    assert differences.mean() == pytest.approx(result.mean_difference, rel=1)


def test_vectors_that_half_precision_cannot_hold_are_refused(tmp_path: Path) -> None:
    model = logbilinear("clbl")
    large = model.parameters._replace(Q=model.parameters.Q * np.float32(1e6))
    with pytest.raises(ConfigError, match="too large for half precision"):
        export_compiled(LogBilinearModel(model.config, model.structure, large, {}), tmp_path / "half", float16=True)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- words beyond the vocabulary


@pytest.mark.parametrize("kind", ["clbl++", "lbl+c"])
def test_listed_words_are_composed_in_contexts(kind: str, tmp_path: Path) -> None:
    model = make(kind)
    result = export_compiled(model, tmp_path / "model", extra_words=["domouška", "poleň", "xyz", "domu", "poleň"])
    compiled = morphlm.load(tmp_path / "model")
    assert (result.composed, result.left_out) == (2, ("xyz",))
    assert compiled.composes_contexts
    expected = model.score_text(TEXT, allow_unknown=True, unknown_contexts="composed").logprobs
    actual = compiled.score_text(TEXT, allow_unknown=True, unknown_contexts="composed").logprobs
    assert actual.tobytes() == expected.tobytes()
    assert compiled.score_text(TEXT, allow_unknown=True).logprobs.tobytes() != expected.tobytes()
    state, other = compiled.begin(unknown_contexts="composed"), model.begin(unknown_contexts="composed")
    for word in ("domu", "domouška", "xyz", "školou"):
        (logprob, state), (wanted, other) = compiled.score(state, word), model.score(other, word)
        assert logprob == wanted
    assert isinstance(state, ComposedState)
    assert compiled.distribution(state).sum() == pytest.approx(1)
    assert compiled.is_state(state)
    assert not compiled.is_state(state._replace(before=(3,)))


def test_decoders_compose_listed_words(tmp_path: Path) -> None:
    model = make("clbl++")
    compiled = exported(model, tmp_path, extra_words=["domouška"])
    scored = []
    for asked in (model, compiled):
        new = NewWordIds(asked.vocabulary)
        scorer, ids = batch_scorer(asked, new), new.encode(["domouška", "domu", "xyz", "školou"])
        contexts = np.array([ids[[0, 1]], ids[[1, 0]], ids[[2, 1]]], np.int32)
        scored.append(scorer.log_probabilities(contexts, ids[[3, 0, 1]], scorer.new_cache(1)))
    assert scored[0].tolist() == scored[1].tolist()


def test_words_are_listed_for_models_that_compose(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not compose words in contexts"):
        export_compiled(ngrams(), tmp_path / "model", extra_words=["domouška"])


# ---------------------------------------------------------------- what is refused


def test_what_cannot_be_exported_is_refused_by_name(tmp_path: Path) -> None:
    compiled = exported(logbilinear(), tmp_path)
    with pytest.raises(ConfigError, match="compiled already"):
        export_compiled(compiled, tmp_path / "again")
    with pytest.raises(ConfigError, match="SpelledModel"):
        export_compiled(with_spelling(ngrams()), tmp_path / "again")
    for name in ("-", "model.gz"):
        with pytest.raises(ConfigError, match="not compressed"):
            export_compiled(ngrams(), name)


def test_what_a_compiled_model_has_not_is_refused_by_name(tmp_path: Path) -> None:
    compiled = exported(logbilinear(), tmp_path)
    with pytest.raises(ConfigError, match="no vectors"):
        _ = compiled.vectors
    with pytest.raises(ConfigError, match="no parameters"):
        compiled.save(tmp_path / "directory")
    for state in ((1, 2), (1, 2, 99), "x", None, (1, 2, 3, 4), (-1, 2, 3)):
        with pytest.raises(StateError):
            compiled.score(state, "w1")
    for word in (-1, 40, 2.5, True):
        with pytest.raises((WordIdError, ConfigError)):
            compiled.score_id(compiled.begin(), word)  # type: ignore[arg-type]


def test_what_readers_would_refuse_is_not_written(tmp_path: Path) -> None:
    model = logbilinear("clbl")
    large = model.parameters._replace(R=model.parameters.R * np.float32(1e8))
    with pytest.raises(ConfigError, match="the tensor output has values from"):
        export_compiled(LogBilinearModel(model.config, model.structure, large, {}), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_translation_system_takes_no_compiled_file(tmp_path: Path) -> None:
    export_compiled(ngrams(2), tmp_path / "lm")
    for name in ("source", "target"):
        (tmp_path / name).write_text("w1 w2\n")
    sources = Sources(tmp_path / "source", tmp_path / "target", models=[NamedModel("lm", tmp_path / "lm")])
    with pytest.raises(ConfigError, match="a system holds model directories"):
        build_system(tmp_path / "system", sources, SystemConfig(tokenise=False))
    assert not (tmp_path / "system").exists()


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    export_compiled(ngrams(2), tmp_path / "model")
    raw = (tmp_path / "model").read_bytes()
    for at in [*range(200), *range(200, len(raw), 97)]:
        changed = bytearray(raw)
        changed[at] ^= 0x10
        (tmp_path / "changed").write_bytes(changed)
        with pytest.raises(morphlm.MorphlmError):
            morphlm.load(tmp_path / "changed")
    for length in (0, 7, 8, 127, 128, len(raw) // 2, len(raw) - 1):
        (tmp_path / "changed").write_bytes(raw[:length])
        with pytest.raises(morphlm.MorphlmError):
            morphlm.load(tmp_path / "changed")


def test_another_version_is_refused_by_its_number(tmp_path: Path) -> None:
    export_compiled(ngrams(2), tmp_path / "model")
    raw = bytearray((tmp_path / "model").read_bytes())
    struct.pack_into("<I", raw, 8, 2)
    (tmp_path / "model").write_bytes(signed(raw))
    with pytest.raises(FormatError, match="version 2 of the format, this morphlm reads 1"):
        morphlm.load(tmp_path / "model")


def test_files_of_strangers_are_refused_or_harmless(tmp_path: Path) -> None:
    """A sample; tests/full has the rest, with bounds checked."""
    export_compiled(mixture(logbilinear("clbl+c", order=3), ngrams(2)), tmp_path / "model")
    refused, used = try_all(tmp_path / "model", tmp_path, step=23)
    assert refused > 50
    assert used > 5


def test_no_forgery_is_the_file_itself(tmp_path: Path) -> None:
    export_compiled(ngrams(1), tmp_path / "model")
    raw = (tmp_path / "model").read_bytes()
    assert signed(raw) == raw
    assert sum(forged == raw for _, forged in forgeries(raw)) < 100  # a value may be what it is


# ---------------------------------------------------------------- words


def test_words_come_back_and_each_is_found_within_bounds() -> None:
    words = ["<unk>", "<s>", "</s>", "a", "domů", "\N{SNOWMAN}", "x" * 300, *(f"w{k}" for k in range(5000))]
    pool, starts = pack_words(words)
    assert unpack_words(pool, starts) == tuple(words)
    table, hashes = hash_table(pool, starts), hash_words(pool, starts)
    assert len(set(hashes.tolist())) == len(words)
    assert sorted(table[table[:, 1] != FREE, 1].tolist()) == list(range(len(words)))
    slots = {word: slot for slot, word in enumerate(table[:, 1].tolist()) if word != FREE}
    distances = [(slots[k] - int(code)) % len(table) for k, code in enumerate(hashes.tolist())]
    assert max(distances) < 64
    assert len(table) >= 2 * len(words)


def test_hashes_are_those_of_the_format() -> None:
    """FNV-1a of "a" is 0xaf63dc4c8601ec8c."""
    pool, starts = pack_words(["a"])
    code = 0xAF63DC4C8601EC8C
    code ^= code >> 32
    code = code * 0x9E3779B97F4A7C15 % 2**64
    assert hash_words(pool, starts).tolist() == [code ^ code >> 29]


def test_a_word_with_nul_is_refused() -> None:
    with pytest.raises(ConfigError, match="has a NUL"):
        pack_words(["a\0b"])


# ---------------------------------------------------------------- the command


def test_the_command_writes_a_file_that_commands_take(morphlm_command: Callable[..., Any], tmp_path: Path) -> None:
    model = wide()
    model.save(tmp_path / "model")
    lines = [["w8", "w9"], ["w10", "w3", "w31"], ["w20"]]
    (tmp_path / "before.txt").write_text("".join(" ".join(line) + "\n" for line in lines))
    (tmp_path / "text.txt").write_text("w1 w2 w3\n")
    command = ["export", tmp_path / "model", tmp_path / "c.mlm", "--format", "compiled"]
    done = morphlm_command(*command, "--after", tmp_path / "before.txt", "--float16", "--json")
    assert done.status == 0, done.stderr
    written = json.loads(done.stdout)
    assert (written["kind"], written["words"], written["float16"]) == ("clbl++", 40, True)
    assert written["size"] == (tmp_path / "c.mlm").stat().st_size
    scored = morphlm_command("score", tmp_path / "c.mlm", tmp_path / "text.txt")
    assert scored.status == 0, scored.stderr
    expected = sum(model.after_text(lines).sentence(["w1", "w2", "w3"]))
    assert float(scored.stdout.split()[0]) == pytest.approx(expected, abs=0.05)
    done = morphlm_command(*command)
    assert "wide contexts and caches stay empty" in done.stderr
    assert "40 words" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "compiled", "--centre"], "leave the options of vectors out"),
        (["--after", "text.txt"], "take --format compiled"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: list[str], message: str, morphlm_command: Callable[..., Any], tmp_path: Path
) -> None:
    logbilinear().save(tmp_path / "model")
    done = morphlm_command("export", tmp_path / "model", tmp_path / "out", *arguments)
    assert done.status == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_headers_are_where_the_package_says() -> None:
    folder = Path(morphlm.get_include())
    assert "namespace morphlm" in (folder / "morphlm.hpp").read_text()
