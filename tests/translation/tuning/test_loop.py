"""The outer loop of tuning finds good weights, and ends the same however often it is interrupted."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, FormatError
from morphlm.translation.tuning import loop
from morphlm.translation.tuning.bleu import bleu, statistics_of
from morphlm.translation.tuning.lists import Hypothesis, TranslationList, has_key, read_lists, write_lists
from morphlm.translation.tuning.loop import (
    FIRST,
    STATE,
    TuningConfig,
    TuningProblem,
    TuningRun,
    probes_around,
    tune,
)
from morphlm.translation.tuning.mert import MertConfig, optimise

NAMES = ("wrong", "good", "still", "noise")
START = {"wrong": 1.0, "good": 0.0, "still": 0.5}
CONFIG = TuningConfig(kbest=4, iterations=6, probes=0, mert=MertConfig(restarts=3, directions=4))
SENTENCES, EACH = 8, 60


def all_hypotheses() -> list[list[Hypothesis]]:
    """The more words are right, the higher is `good` and the lower `wrong`, both with much noise."""
    rng = np.random.default_rng(4)
    lists = []
    for _ in range(SENTENCES):
        rows: list[Hypothesis] = []
        for wrong in rng.integers(0, 10, EACH):
            tokens = tuple(f"w{k}" if k >= wrong else f"x{rng.integers(99)}" for k in range(10))
            features = [wrong + rng.normal(0, 3), -wrong + rng.normal(0, 3), 3.0, rng.normal()]
            rows.append((tokens, np.array(features, np.float32)))
        lists.append(rows)
    return lists


class Decoder:
    """Gives the k best of fixed hypotheses, and may be interrupted in the middle of a list."""

    def __init__(self, interrupted_at: int | None = None, key: str = "a") -> None:
        self.hypotheses, self.calls, self.sentences = all_hypotheses(), [], 0  # type: ignore[var-annotated]
        self.interrupted_at = interrupted_at
        references = [[[f"w{k}" for k in range(10)]]] * SENTENCES
        self.problem = TuningProblem(NAMES, references, self.decode, key)

    def decode(self, weights: Mapping[str, float]) -> Iterator[TranslationList]:
        self.calls.append(weights)
        vector = np.array([weights[name] for name in NAMES])
        for rows in self.hypotheses:
            if self.sentences == self.interrupted_at:
                raise KeyboardInterrupt
            self.sentences += 1
            ranked = sorted(rows, key=lambda row: -float(row[1].astype(np.float64) @ vector))
            yield TranslationList.of(ranked[: CONFIG.kbest])


def run(decoder: Decoder, folder: Path, start: Mapping[str, float] = START, **settings: Any) -> tuple[TuningRun, ...]:
    return tune(decoder.problem, start, folder, **{"config": CONFIG, "seeds": (1, 2), **settings})


def test_weights_are_found_that_choose_what_is_right(tmp_path: Path) -> None:
    decoder = Decoder()
    runs = run(decoder, tmp_path)
    for one in runs:
        assert one.iterations[0].weights == (1.0, 0.0, 0.5, 0.0)
        assert one.iterations[0].bleu < 20  # the start prefers what is wrong
        assert one.bleu == max(iteration.bleu for iteration in one.iterations) > 80
        assert len(one.iterations) > 2
        assert one.weights["good"] > 0 or one.weights["wrong"] < 0
        assert one.iterations[0].candidates == one.iterations[0].new == SENTENCES * CONFIG.kbest
        totals = [iteration.candidates for iteration in one.iterations]
        assert np.diff(totals).tolist() == [iteration.new for iteration in one.iterations[1:]]
        assert one.iterations[-1].length_ratio == 1.0
    assert [one.seed for one in runs] == [1, 2]
    # The first iteration is the same for both runs, so it is decoded once.
    assert len(decoder.calls) == sum(len(one.iterations) for one in runs) - 1
    assert not list(tmp_path.rglob("*.gz")), "lists are removed when all runs have ended"


def test_feature_names_keep_their_order(tmp_path: Path) -> None:
    one = run(Decoder(), tmp_path)[0]
    again = TuningRun.from_json(json.loads(json.dumps(one.to_json(), sort_keys=True)))
    assert again == one
    assert list(again.weights) == list(NAMES)


def test_resuming_equals_never_having_stopped(tmp_path: Path) -> None:
    whole = Decoder()
    expected = run(whole, tmp_path / "whole")
    for at in range(0, whole.sentences, 5):
        folder = tmp_path / str(at)
        with pytest.raises(KeyboardInterrupt):
            run(Decoder(at), folder)
        after = Decoder()
        assert run(after, folder) == expected
        # What was complete is not decoded again.
        assert len(after.calls) == len(whole.calls) - at // SENTENCES


def test_interrupted_again_and_again(tmp_path: Path) -> None:
    expected = run(Decoder(), tmp_path / "whole")
    for _ in range(50):
        try:
            found = run(Decoder(SENTENCES + 1), tmp_path / "parts")  # one iteration at a time
            break
        except KeyboardInterrupt:
            pass
    assert found == expected


def test_a_run_that_has_ended_is_found(tmp_path: Path) -> None:
    expected = run(Decoder(), tmp_path)
    again = Decoder()
    assert run(again, tmp_path) == expected
    assert again.calls == []
    more = Decoder()
    assert run(more, tmp_path, seeds=(2, 1, 3))[:2] == (expected[1], expected[0])
    assert len(more.calls) > 0


@pytest.mark.parametrize("change", ["key", "config", "start"])
def test_other_problems_begin_again(change: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(Decoder(), tmp_path)
    other = Decoder(key="b" if change == "key" else "a")
    config = TuningConfig(kbest=3, iterations=2, probes=0) if change == "config" else CONFIG
    start = {"noise": 1.0} if change == "start" else START
    found = tune(other.problem, start, tmp_path, config)
    assert "begins again" in capsys.readouterr().err
    assert found == tune(Decoder(key="b" if change == "key" else "a").problem, start, tmp_path / "fresh", config)
    assert other.calls


@pytest.mark.parametrize(
    "damage", ["state cut", "state of another shape", "lists cut", "lists gone", "a list short", "a byte"]
)
def test_damage_begins_again(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = run(Decoder(), tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(Decoder(2 * SENTENCES + 3), tmp_path / "part")
    state, lists = tmp_path / "part" / "run-1" / STATE, tmp_path / "part" / "run-1" / "lists-2.gz"
    assert state.exists() and lists.exists() and (tmp_path / "part" / FIRST.format(0)).exists()
    if damage == "state cut":
        state.write_bytes(state.read_bytes()[:-40])
    elif damage == "state of another shape":
        state.write_text("[1]")
    elif damage == "lists cut":
        lists.write_bytes(lists.read_bytes()[:-40])
    elif damage == "a byte":
        content = bytearray(lists.read_bytes())
        content[len(content) // 2] ^= 1
        lists.write_bytes(content)
    elif damage == "lists gone":
        lists.unlink()
    else:
        write_lists(lists, "any key", list(read_lists(lists, SENTENCES, len(NAMES)))[:-1])
    assert run(Decoder(), tmp_path / "part") == expected
    assert "begins again" in capsys.readouterr().err


def changed(content: Any, path: str, value: Any) -> Any:
    """The same JSON with another value at a path such as run.iterations.0.bleu."""
    key: Any
    key, _, rest = path.partition(".")
    key = int(key) if isinstance(content, list) else key
    content[key] = changed(content[key], rest, value) if rest else value
    return content


@pytest.mark.parametrize("value", ["1", None, True, [], {}, 10**400])
@pytest.mark.parametrize(
    "path",
    [
        *("run", "run.seed", "run.features", "run.features.0", "run.iterations", "run.iterations.0", "next", "next.0"),
        *(f"run.iterations.0.{name}" for name in ("weights", "weights.0", "bleu", "length_ratio", "new")),
    ],
)
def test_a_state_with_something_else_in_a_field_begins_again(
    path: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if (path, value) in [("next", None), ("run.seed", 10**400)]:
        pytest.skip("means something")
    with pytest.raises(KeyboardInterrupt):
        run(Decoder(2 * SENTENCES + 3), tmp_path)
    state = tmp_path / "run-1" / STATE
    state.write_text(json.dumps(changed(json.loads(state.read_bytes()), path, value)))
    with pytest.raises(KeyboardInterrupt):
        run(Decoder(2), tmp_path)
    assert "begins again" in capsys.readouterr().err


def test_it_ends_when_nothing_new_comes_up(tmp_path: Path) -> None:
    decoder = Decoder()
    everything = TuningConfig(kbest=EACH, iterations=6, probes=0, mert=MertConfig(restarts=1))
    decoder.hypotheses = [rows[:3] for rows in decoder.hypotheses]
    (one,) = tune(decoder.problem, START, tmp_path, everything)
    assert [iteration.new for iteration in one.iterations] == [3 * SENTENCES, 0]


def test_it_ends_when_little_is_gained(tmp_path: Path) -> None:
    config = TuningConfig(kbest=2, iterations=6, probes=0, least_gain=1000.0, mert=CONFIG.mert)
    (one,) = tune(Decoder().problem, START, tmp_path, config)
    assert len(one.iterations) == 1
    assert one.weights == {"wrong": 1.0, "good": 0.0, "still": 0.5, "noise": 0.0}


def test_first_the_weights_around_are_tried_once_for_all_runs(tmp_path: Path) -> None:
    config, start = replace(CONFIG, probes=3), {"wrong": -0.1, "still": 0.5, "noise": 1.0}
    decoder = Decoder()
    runs = run(decoder, tmp_path / "whole", start, config=config)
    assert len(decoder.calls) == 3 + sum(len(one.iterations) for one in runs) - 1
    starts = [tuple(weights.values()) for weights in decoder.calls[:4]]
    assert starts == [(-0.1, 0.0, 0.5, 1.0), *probes_around(starts[0], 3)]
    assert len(set(starts)) == 4
    assert all(probe[0] < 0 < probe[2] and 0 < abs(probe[1]) < 0.1 for probe in starts[1:])
    founded = [(wrong, good, 0.5, noise) for wrong, good, _, noise in starts]  # of `still` nothing was learned
    for one in runs:
        assert one.iterations[0].weights in founded
        assert SENTENCES * CONFIG.kbest < one.iterations[0].new == one.iterations[0].candidates
    assert runs[0].iterations[0] == runs[1].iterations[0]
    first = [bleu_of(decoder, weights) for weights in decoder.calls[:4]]
    assert runs[0].iterations[0].bleu == max(first) > first[0]
    for at in range(0, decoder.sentences - 4 * SENTENCES, 7):  # and it goes on from everywhere
        with pytest.raises(KeyboardInterrupt):
            run(Decoder(at), tmp_path / str(at), start, config=config)
        assert run(Decoder(), tmp_path / str(at), start, config=config) == runs


def bleu_of(decoder: Decoder, weights: Mapping[str, float]) -> float:
    best = [lists.tokens(0) for lists in decoder.decode(weights)]
    return bleu(statistics_of(best, [[f"w{k}" for k in range(10)]] * SENTENCES).sum(0))


def test_a_feature_that_no_translation_has_keeps_its_weight(tmp_path: Path) -> None:
    """A probe gives it some weight by chance; if the probe is the best, that must not stay."""
    config, start = replace(CONFIG, probes=3, iterations=1), {"wrong": -0.1, "noise": 1.0}
    decoder = Decoder()
    (one,) = tune(decoder.problem, start, tmp_path, config)
    assert all(probe["still"] != 0 for probe in decoder.calls[1:])
    assert one.bleu > bleu_of(decoder, decoder.calls[0])  # a probe was the best
    assert one.weights["still"] == 0.0


def test_a_search_begins_from_the_weights_of_every_iteration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[tuple[float, ...]]] = []

    def recorded(candidates: Any, starts: Any, *given: Any, **options: Any) -> Any:
        asked.append([tuple(start.tolist()) for start in starts])
        return optimise(candidates, starts, *given, **options)

    monkeypatch.setattr(loop, "optimise", recorded)
    (one,) = tune(Decoder().problem, START, tmp_path, CONFIG)
    weights = [iteration.weights for iteration in one.iterations]
    assert len(weights) > 2
    for number, starts in enumerate(asked, 1):
        assert starts == weights[:number][::-1]


def test_nothing_is_said_about_features_that_never_differ(tmp_path: Path) -> None:
    """Random restarts would give `still` any weight; it stays as it was, but for the scale."""
    for seed in range(5):
        (one,) = tune(Decoder().problem, START, tmp_path / str(seed), CONFIG, seeds=[seed])
        assert all(iteration.weights[2] > 0 for iteration in one.iterations)


@pytest.mark.parametrize(
    "settings", [{"kbest": 0}, {"iterations": 0}, {"probes": -1}, {"least_gain": -1.0}, {"least_gain": np.nan}]
)
def test_settings_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="at least"):
        TuningConfig(**settings)


@pytest.mark.parametrize("seeds", [(), (1, 1), (-1,)])
def test_seeds_that_cannot_be(seeds: tuple[int, ...], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="another seed"):
        run(Decoder(), tmp_path, seeds=seeds)


def test_lists_on_disk_are_what_they_were(tmp_path: Path) -> None:
    hypotheses = [(("a", "|||\n"), np.array([0.1, -1e29], np.float32)), ((), np.array([1e-30, 3], np.float32))]
    lists = [TranslationList.of(hypotheses), TranslationList.of(hypotheses[1:])]
    write_lists(tmp_path / "new" / "lists.gz", "key", lists)
    for one, other in zip(lists, read_lists(tmp_path / "new" / "lists.gz", 2, 2), strict=True):
        assert [one.tokens(k) for k in range(len(one))] == [other.tokens(k) for k in range(len(other))]
        assert one.features.tobytes() == other.features.tobytes()
    assert [lists[0].tokens(k) for k in range(2)] == [("a", "|||\n"), ()]
    assert lists[0].first(1).features.tolist() == lists[0].features[:1].tolist()
    assert lists[0].first(1).words.tolist() == [0, 1]


def test_lists_with_something_else_in_them_are_refused(tmp_path: Path) -> None:
    """Their words and starts reach kernels, which do not look where they read."""
    words, starts, features = np.array([0, 1, 1], "<i4"), np.array([0, 1, 3], "<i8"), np.zeros((2, 1), "<f4")
    good = [["a", "b"], [[3], [3], [2, 1]]]
    path = tmp_path / "lists.gz"

    def write(head: object, *arrays: np.ndarray[Any, Any]) -> None:
        content = b"".join(array.tobytes() for array in arrays or (words, starts, features))
        path.write_bytes(gzip.compress(b'"key"\n' + json.dumps(head).encode() + b"\n" + content))

    write(good)
    assert next(read_lists(path, 1, 1)).tokens(1) == ("b", "b")
    for head in (3, [], [["a", "b"]], [["a"], good[1]], [["a", 1], good[1]], ["ab", good[1]], [good[0], 3]):
        write(head)
        with pytest.raises(FormatError, match=r"lists\.gz: not the head of a k-best list .*; remove the file"):
            list(read_lists(path, 1, 1))
    for shapes in (
        [[3], [3]],
        [[-1], [3], [2, 1]],
        [[10**12], [3], [2, 1]],
        [[3.0], [3], [2, 1]],
        [[3], [3, 1], [2, 1]],
    ):
        write([good[0], shapes])
        with pytest.raises(FormatError, match="remove"):
            list(read_lists(path, 1, 1))
    for wrong in ([0, 1, 4], [1, 1, 3], [0, 4, 3], [0, -1, 3], [0, 1, 2**40]):
        write(good, words, np.array(wrong, "<i8"), features)
        with pytest.raises(FormatError, match="starts"):
            list(read_lists(path, 1, 1))
    for wrong in ([0, 1, 2], [0, -1, 0]):
        write(good, np.array(wrong, "<i4"), starts, features)
        with pytest.raises(FormatError, match="words"):
            list(read_lists(path, 1, 1))
    write(good, words, starts, features + np.float32(np.nan))
    with pytest.raises(FormatError, match="features"):
        list(read_lists(path, 1, 1))
    path.write_bytes(gzip.compress(b'"key"\n' + b"[" * 100_000 + b"\n"))
    with pytest.raises(FormatError, match="remove"):
        list(read_lists(path, 1, 1))
    assert not has_key(tmp_path / "none", "key")
    path.write_bytes(gzip.compress(b"[" * 100_000 + b"\n"))
    assert not has_key(path, "key")
