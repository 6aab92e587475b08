"""A training that continues a model: what is kept, what new words begin with, and that it is a training like others."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm import ConfigError, MorphlmError, add_cache, load, mix, train, train_ngram
from morphlm.classes.frequency import frequency_bins
from morphlm.logbilinear import continuing
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.continuing import add_words, choose_classes
from morphlm.logbilinear.engine import Learner
from morphlm.logbilinear.extending import class_shares_by_ending
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import Parameters
from morphlm.modelfile import MANIFEST, read_model
from morphlm.text.reading import END, RESERVED
from morphlm.training.batches import Replay
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.config import LogBilinearOptions
from morphlm.training.continuing import ContinueOptions, continued_inputs, find_old_model
from morphlm.training.inputs import InputOptions, TrainingInputs
from morphlm.training.logbilinear import training_task
from morphlm.vocabulary.corpus import encode_text, read_corpus
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

from .small import contents, sentences
from .test_resume import CrashError, Interruption, control_c, crash

OLD, OLD_DEV = sentences(60, 1, rare=True), sentences(12, 2)
RENAMED = {"škol": "hrad", "dom": "les", "řek": "cest"}  # stems of the new text that the old one does not have
SETTINGS: dict[str, Any] = {"order": 3, "width": 8, "classes": 5, "factors": "ngrams:2-3", "kappa": 0.5, "seed": 3}
QUICK: dict[str, Any] = {"epochs": 2, "batch": 100, "threads": 1}


def renamed(text: list[list[str]]) -> list[list[str]]:
    def new(word: str) -> str:
        stem = next((stem for stem in RENAMED if word.startswith(stem)), None)
        return word if stem is None else RENAMED[stem] + word[len(stem) :]

    return [list(map(new, line)) for line in text]


NEW, NEW_DEV = renamed(sentences(50, 3)), renamed(sentences(10, 4))
NEW_WORDS = sorted({word for line in NEW for word in line if word.startswith(tuple(RENAMED.values()))})


def settings_of(kind: str) -> dict[str, Any]:
    left_out = {"classes"} if kind.startswith("lbl") else set()
    left_out |= {"factors"} if "+" not in kind else set()
    return {name: value for name, value in SETTINGS.items() if name not in left_out}


@pytest.fixture(scope="module")
def olds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trained model of each kind, and one with a wide context."""
    folder = tmp_path_factory.mktemp("old")
    for kind in VARIANTS:
        train(kind, OLD, OLD_DEV, folder / kind, **settings_of(kind), **QUICK)
    train("clbl++", OLD, OLD_DEV, folder / "wide", wide_context=True, **settings_of("clbl++"), **QUICK)
    return folder


def inputs_of(
    old: Path, kind: str = "clbl++", *, text: list[list[str]] = NEW, kappa: float = 0.0, **continuing: Any
) -> TrainingInputs:
    options = ContinueOptions(old, **continuing)
    return continued_inputs(find_old_model(kind, old), text, NEW_DEV, InputOptions(kappa=kappa), options)


def at_the_start(old: Path, kind: str = "clbl++") -> tuple[LogBilinearModel, LogBilinearModel]:
    """The old model, and the one that the training begins with."""
    model = load(old)
    assert isinstance(model, LogBilinearModel)
    corpus = inputs_of(old, kind).train
    return model, LogBilinearModel(model.config, *add_words(model, corpus), model.training)


# ---------------------------------------------------------------- what the training begins with


@pytest.mark.parametrize("kind", VARIANTS)
def test_old_words_keep_ids_factors_classes_and_vectors(olds: Path, kind: str) -> None:
    old, new = at_the_start(olds / kind, kind)
    known = len(old.vocabulary)
    assert new.vocabulary.words[:known] == old.vocabulary.words
    assert set(new.vocabulary.words[known:]) == {word for line in NEW for word in line} - set(old.vocabulary.words)
    assert set(new.vocabulary.words[known:]) >= set(NEW_WORDS)
    for word in range(known):
        assert np.array_equal(new.vectors[old.vocabulary.words[word]], old.vectors[old.vocabulary.words[word]])
        if old.structure.factors is not None and new.structure.factors is not None:
            assert new.structure.factors.names_of(word) == old.structure.factors.names_of(word)
    assert np.array_equal(new.parameters.b[:known], old.parameters.b)
    assert np.array_equal(new.structure.class_of[:known], old.structure.class_of)
    for name in ("C", "S", "t"):
        assert np.array_equal(getattr(new.parameters, name), getattr(old.parameters, name))


def test_new_words_are_the_sums_of_their_known_factors(olds: Path) -> None:
    old, new = at_the_start(olds / "clbl++")
    for word in NEW_WORDS:
        assert word not in old.vocabulary
        expected, actual = old.vectors[word], new.vectors[word]  # the old model composes it
        assert np.allclose(actual, expected, atol=1e-6)
    assert new.structure.factors is not None
    number = new.vocabulary.ids["hrady"]
    first = int(new.structure.factors[number][0])
    assert (new.structure.factors.names[first], new.structure.factors.kind_of(first)) == ("hrady", "surface")
    assert not new.parameters.Q[first].any()
    assert not new.parameters.R[first].any()


def test_without_factors_a_new_word_is_unk_in_contexts_and_has_no_output_vector(olds: Path) -> None:
    _, new = at_the_start(olds / "clbl", "clbl")
    number = new.vocabulary.ids["hrady"]
    assert np.array_equal(new.parameters.Q[number], new.parameters.Q[UNK_ID])
    assert not new.parameters.R[number].any()


@pytest.mark.parametrize("kind", ["clbl++", "clbl", "clbl+c"])
def test_at_the_start_classes_keep_their_probabilities_and_the_words_of_each_their_ratios(
    olds: Path, kind: str
) -> None:
    """New words take their probability from the old words of their class, from each the same share."""
    old, new = at_the_start(olds / kind, kind)
    known, class_of = len(old.vocabulary), new.structure.class_of
    for context in (["školou"], ["domem", "řeky"]):
        before, after = (model.distribution(_state(model, context)) for model in (old, new))
        of_classes = [np.bincount(class_of[: len(p)], p, new.structure.classes) for p in (before, after)]
        assert of_classes[1] == pytest.approx(of_classes[0], rel=1e-5)
        for number in range(new.structure.classes):
            members = np.flatnonzero((class_of[:known] == number) & (before > 0))
            ratios = after[members] / before[members]
            assert np.ptp(ratios) < 1e-5
            has_new = bool((class_of[known:] == number).any())
            assert (ratios[0] < 0.999) == has_new


def _state(model: LogBilinearModel, context: list[str]) -> Any:
    state = model.begin()
    for word in context:
        state = model.score(state, word)[1]
    return state


def test_at_the_start_all_old_words_of_a_model_without_classes_lose_the_same_share(olds: Path) -> None:
    old, new = at_the_start(olds / "lbl++", "lbl++")
    before, after = (model.distribution(_state(model, ["školou"])) for model in (old, new))
    ratios = np.delete(after[: len(before)] / np.maximum(before, 1e-30), 1)
    assert np.ptp(ratios) < 1e-5
    assert 0.3 < ratios[0] < 1.0


def test_biases_follow_the_counts_as_those_of_old_words_of_the_class(olds: Path) -> None:
    """Where biases of old words are a line in ln of their counts, those of new words lie on it."""
    model = load(olds / "clbl")
    assert isinstance(model, LogBilinearModel)
    corpus = inputs_of(olds / "clbl", "clbl").train
    levels = np.linspace(-1.0, 1.0, model.structure.classes)
    counts = np.maximum(model.vocabulary.counts, 1)
    line = levels[model.structure.class_of] + 0.7 * np.log(counts)
    model.parameters = model.parameters._replace(b=line.astype(np.float32))
    structure, parameters = add_words(model, corpus)
    known, old_tokens = len(model.vocabulary), np.delete(model.vocabulary.counts, 1).sum()
    share = corpus.vocabulary.counts[known:] / np.delete(corpus.vocabulary.counts, 1).sum()
    expected = levels[structure.class_of[known:]] + 0.7 * np.log(share * old_tokens)
    assert np.allclose(parameters.b[known:], expected, atol=1e-4)


def test_the_vocabulary_counts_both_texts(olds: Path) -> None:
    old, counts = load(olds / "clbl++").vocabulary, Counter(word for line in NEW for word in line)
    grown = inputs_of(olds / "clbl++").vocabulary
    for word in grown.words[len(RESERVED) :]:
        before = int(old.counts[old.ids[word]]) if word in old else 0
        assert grown.counts[grown.ids[word]] == before + counts[word]
    assert (grown.counts[1:3] == old.counts[1:3] + len(NEW)).all()
    assert grown.counts[UNK_ID] == old.counts[UNK_ID]


def test_kappa_prunes_new_words_that_occur_once_and_no_old_ones(olds: Path) -> None:
    once = [word for word, count in Counter(word for line in NEW for word in line).items() if count == 1]
    text, old = [*NEW, ["jednou", "vzácný"]], load(olds / "clbl++").vocabulary
    grown = inputs_of(olds / "clbl++", text=text, kappa=1.0).vocabulary
    assert grown.words[: len(old)] == old.words
    assert not [word for word in ("jednou", "vzácný", *once) if word in grown and word not in old]
    assert grown.counts[UNK_ID] == old.counts[UNK_ID] + 2 + sum(word not in old for word in once)


# ---------------------------------------------------------------- classes


def test_classes_are_the_likeliest_by_endings_and_neighbours() -> None:
    """As a plain computation has it: ln P(c | ending) + sum of ln P(b | c) over the classes b beside each token."""
    old = read_corpus(OLD).words.vocabulary(0.0, 1)
    partition = frequency_bins(old, 5)
    vocabulary = old.with_words(NEW_WORDS)
    corpus = encode_text(NEW, vocabulary)
    shares, ending_of = class_shares_by_ending(vocabulary, partition, len(old))
    prior, class_of = continuing.NEIGHBOUR_PRIOR, partition.class_of
    pairs = [(a, b) for line in NEW for a, b in zip([END, *line], [*line, END], strict=True)]
    sides = [[(b, a) for a, b in pairs], pairs]  # the word, and what is before or after it
    expected = []
    for number, word in enumerate(NEW_WORDS):
        scores = []
        for c in range(partition.classes):
            share = shares[ending_of[number], c]
            score = math.log(share) if share else -math.inf
            for side in sides:
                known = [(w, class_of[vocabulary.ids[n]]) for w, n in side if vocabulary.ids[n] < len(old)]
                beside = Counter(b for _, b in known)
                joint = Counter((class_of[vocabulary.ids[w]], b) for w, b in known if vocabulary.ids[w] < len(old))
                margin = sum(count for (own, _), count in joint.items() if own == c)
                for b in (b for w, b in known if w == word):
                    of_b = (beside[b] + 1) / (len(known) + partition.classes)
                    score += math.log((joint[c, b] + prior * of_b) / (margin + prior))
            scores.append(score)
        expected.append(int(np.argmax(scores)))
    chosen = choose_classes(corpus, partition)
    assert chosen.tolist() == expected
    assert len(set(expected)) > 1


def test_no_word_joins_the_class_of_the_end(olds: Path) -> None:
    _, new = at_the_start(olds / "clbl++")
    partition = new.partition
    assert partition is not None
    known = len(load(olds / "clbl++").vocabulary)
    assert partition.class_of[END_ID] not in partition.class_of[known:]


# ---------------------------------------------------------------- training


@pytest.mark.parametrize("kind", [*VARIANTS, "wide"])
def test_every_kind_learns_the_new_text_and_is_a_model_like_others(olds: Path, tmp_path: Path, kind: str) -> None:
    name = "clbl++" if kind == "wide" else kind
    out, old = tmp_path / "new", load(olds / kind)
    model = train(name, NEW, NEW_DEV, out, continue_from=olds / kind, kappa=0.0, **QUICK)
    again = load(out)
    assert (again.kind, again.order, again.reach) == (old.kind, old.order, old.reach)
    assert again.sentence(NEW_DEV[0]) == model.sentence(NEW_DEV[0])
    for context in ([], ["hrady"], ["školou", "lesem"]):
        assert model.distribution(_state(model, context)).sum() == pytest.approx(1.0, abs=1e-6)  # type: ignore[arg-type]
    perplexity = model.perplexity(NEW_DEV).including_unknown
    assert model.training["development_perplexity"] == pytest.approx(perplexity, rel=1e-4)
    start = at_the_start(olds / kind, name)[1].perplexity(NEW_DEV).including_unknown
    assert perplexity < start
    assert model.extended(["hradové"]).vocabulary.words[-1] == "hradové" if kind.endswith(("++", "+o")) else True


def test_the_record_names_the_model_that_was_continued(olds: Path, tmp_path: Path) -> None:
    train("clbl++", NEW, NEW_DEV, tmp_path / "one", continue_from=olds / "clbl++", **QUICK)
    train("clbl++", OLD, OLD_DEV, tmp_path / "two", continue_from=load(tmp_path / "one"), **QUICK)
    record = read_model(tmp_path / "two").training["continued_from"]
    places = [olds / "clbl++", tmp_path / "one"]
    assert [entry["manifest_sha256"] for entry in record] == [
        hashlib.sha256((place / MANIFEST).read_bytes()).hexdigest() for place in places
    ]
    assert [entry["words"] for entry in record] == [len(load(place).vocabulary) for place in places]
    assert [entry["tokens"] for entry in record] == [sum(len(line) + 1 for line in text) for text in (OLD, NEW)]


@pytest.mark.parametrize("kind", ["clbl++", "lbl++"])
def test_threads_and_ways_to_name_the_model_do_not_change_bytes(olds: Path, tmp_path: Path, kind: str) -> None:
    old = olds / kind
    for name, threads, given in (("one", 1, old), ("two", 3, str(old)), ("three", 2, load(old))):
        train(kind, NEW, NEW_DEV, tmp_path / name, continue_from=given, **QUICK | {"threads": threads})
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")


@pytest.mark.parametrize("ways", [{}, {"stay": False}, {"old_text": OLD, "old_share": 0.4, "stay": True}])
@pytest.mark.parametrize("action", [crash, control_c])
def test_resuming_gives_the_bytes_of_a_training_that_never_stopped(
    olds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: Any, ways: dict[str, Any]
) -> None:
    wanted = {"continue_from": olds / "clbl++", "checkpoint_minutes": 0.0, **ways, **QUICK}
    train("clbl++", NEW, NEW_DEV, tmp_path / "whole", **wanted)
    for k in (0, 1, 3):
        out = tmp_path / f"stopped-{k}"
        with monkeypatch.context() as patched, pytest.raises((CrashError, KeyboardInterrupt)):
            Interruption(patched, Learner, "step", k, action)
            train("clbl++", NEW, NEW_DEV, out, **wanted)
        assert checkpoint_path(out).exists()
        train("clbl++", NEW, NEW_DEV, out, resume=True, **wanted)
        assert contents(out) == contents(tmp_path / "whole")


def test_a_training_does_not_go_on_from_another_model_or_in_another_way(
    olds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, old = tmp_path / "out", tmp_path / "old"
    shutil.copytree(olds / "clbl++", old)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        Interruption(patched, Learner, "step", 1, control_c)
        train("clbl++", NEW, NEW_DEV, out, continue_from=old, **QUICK)
    with pytest.raises(ConfigError, match="checkpoint is of other data or other settings"):
        train("clbl++", NEW, NEW_DEV, out, continue_from=old, stay=False, resume=True, **QUICK)
    shutil.rmtree(old)
    train("clbl++", OLD, OLD_DEV, old, **settings_of("clbl++"), **QUICK | {"epochs": 1})
    with pytest.raises(ConfigError, match="checkpoint is of other data or other settings"):
        train("clbl++", NEW, NEW_DEV, out, continue_from=old, resume=True, **QUICK)


# ---------------------------------------------------------------- staying near the old weights


def test_weights_decay_towards_the_old_ones_and_biases_do_not(olds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """W = V + (W - V) exp(-xi lambda tokens/N)."""
    seen: list[tuple[Parameters, Parameters, Parameters, float]] = []
    original = Learner.decay

    def decay(learner: Learner, tokens: int) -> None:
        before = Parameters(*(array.copy() for array in learner.parameters))
        original(learner, tokens)
        after = Parameters(*(array.copy() for array in learner.parameters))
        assert learner.old is not None
        factor = math.exp(-learner.step_size * learner.learning.decay * tokens / learner.tokens)
        seen.append((learner.old, before, after, factor))

    monkeypatch.setattr(Learner, "decay", decay)
    train("clbl++", NEW, NEW_DEV, continue_from=olds / "clbl++", **QUICK)
    assert len(seen) == 2
    for old, before, after, factor in seen:
        for name in ("Q", "C", "R", "S"):
            v, w = getattr(old, name), getattr(before, name)
            assert np.allclose(getattr(after, name), v + (w - v) * factor, atol=1e-6)
            assert not np.array_equal(getattr(after, name), w)
        for name in ("b", "t"):
            assert np.array_equal(getattr(after, name), getattr(before, name))


def test_without_old_text_weights_decay_towards_the_old_ones_unless_it_is_said(olds: Path) -> None:
    choices = {
        (text is None, stay): ContinueOptions("m", text, stay=stay).stays
        for text in (None, OLD)
        for stay in (None, True, False)
    }
    assert choices == {
        (True, None): True,
        (True, True): True,
        (True, False): False,
        (False, None): False,
        (False, True): True,
        (False, False): False,
    }
    start = inputs_of(olds / "clbl++", old_text=OLD).start
    assert start is not None
    assert not start.stays


def test_the_old_text_is_remembered_better_with_decay_towards_the_old_weights(olds: Path) -> None:
    """Of the words that only the old text has: they are what decay towards 0 forgets."""
    longer = QUICK | {"epochs": 6, "patience": 6}
    models = [
        train("clbl++", NEW, NEW_DEV, continue_from=olds / "clbl++", stay=stay, decay=10.0, **longer)
        for stay in (True, False)
    ]
    stayed, moved = (model.perplexity(OLD_DEV).including_unknown for model in models)
    assert stayed < moved


# ---------------------------------------------------------------- old text among the new


def test_old_text_adds_no_words_and_is_not_counted_again(olds: Path) -> None:
    without = inputs_of(olds / "clbl++")
    inputs = inputs_of(olds / "clbl++", old_text=OLD, old_share=0.3)
    assert inputs.vocabulary.words == without.vocabulary.words
    assert np.array_equal(inputs.vocabulary.counts, without.vocabulary.counts)
    assert inputs.replay == Replay(len(without.train.tokens), 0.3)
    assert inputs.train.tokens.tolist() == [
        *without.train.tokens.tolist(),
        *encode_text(OLD, inputs.vocabulary).tokens.tolist(),
    ]


@pytest.mark.parametrize("stay", [True, False])
def test_with_old_text_it_is_remembered_and_the_record_says_so(olds: Path, tmp_path: Path, stay: bool) -> None:
    """By models whose weights decay alike."""
    longer = QUICK | {"epochs": 6, "patience": 6, "stay": stay}
    old = olds / "clbl++"
    forgets = train("clbl++", NEW, NEW_DEV, continue_from=old, **longer)
    remembers = train("clbl++", NEW, NEW_DEV, tmp_path / "m", continue_from=old, old_text=OLD, **longer)
    perplexities = [model.perplexity(OLD_DEV).including_unknown for model in (remembers, forgets)]
    assert perplexities[0] < 0.9 * perplexities[1]
    tokens = sum(len(line) + 1 for line in NEW)
    record = load(tmp_path / "m").training
    assert (record["old_share"], record["tokens"]) == (0.2, tokens + round(tokens / 4))
    assert (forgets.training["old_share"], forgets.training["tokens"]) == (None, tokens)


# ---------------------------------------------------------------- what is refused


def refused(kind: str, old: Any, **settings: Any) -> str:
    with pytest.raises(MorphlmError) as caught:
        train(kind, NEW, NEW_DEV, continue_from=old, **settings)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_kinds_that_cannot_are_refused_with_what_to_give_instead(olds: Path, tmp_path: Path) -> None:
    ngrams = train_ngram(OLD, 3, vocabulary=load(olds / "clbl++").vocabulary, out=tmp_path / "mkn")
    mixture = mix([ngrams, load(olds / "clbl++")], OLD_DEV)
    mixture.save(tmp_path / "mixture")
    add_cache(load(olds / "clbl++"), OLD_DEV).save(tmp_path / "cached")
    begin = "the training of a model of the kind"
    assert refused("clbl++", tmp_path / "mkn") == f"{tmp_path}/mkn: {begin} mkn cannot be continued; give a clbl++"
    message = refused("clbl++", tmp_path / "mixture")
    assert message.startswith(f"{tmp_path}/mixture: {begin} mixture cannot be continued; give the clbl++ in it, ")
    inner = Path(message.rpartition(" ")[2])
    assert load(inner).sentence(OLD_DEV[0]) == load(olds / "clbl++").sentence(OLD_DEV[0])
    assert "cannot be continued; give the clbl++ in it" in refused("clbl++", tmp_path / "cached")
    assert "a training of mkn cannot continue a model; that is for lbl, " in refused("mkn", tmp_path / "mkn")


def test_another_kind_than_the_models_is_refused(olds: Path) -> None:
    place = olds / "clbl++"
    assert refused("clbl", place) == f"{place}: this is a clbl++, which cannot go on as a clbl; train a clbl++"


def test_an_extended_model_is_refused(olds: Path, tmp_path: Path) -> None:
    load(olds / "clbl++").extended(["hrady"]).save(tmp_path / "extended")
    assert "was extended by words without training; continue the model" in refused("clbl++", tmp_path / "extended")


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"width": 9}, "width is 8 in this model, not 9; leave it out, or train anew"),
        ({"order": 4}, "order is 3 in this model, not 4; leave it out, or train anew"),
        ({"diagonal": False}, "diagonal is True in this model, not False; leave it out, or train anew"),
        ({"wide_context": True}, "wide_context is False in this model, not True; leave it out, or train anew"),
        ({"classes": 5}, "a model that is continued keeps what it has; leave out classes="),
        ({"factors": "ngrams:2-3"}, "a model that is continued keeps what it has; leave out factors="),
        ({"vocabulary": "words.tsv"}, "a model that is continued keeps what it has; leave out vocabulary="),
        ({"class_method": "frequency"}, "a model that is continued keeps what it has; leave out class_method="),
        ({"init_std": 0.2}, "a model that is continued keeps what it has; leave out init_std="),
    ],
)
def test_settings_that_contradict_the_model_are_refused(olds: Path, settings: dict[str, Any], what: str) -> None:
    assert refused("clbl++", olds / "clbl++", **settings) == f"{olds / 'clbl++'}: {what}"


def test_settings_that_say_what_the_model_is_are_taken(olds: Path) -> None:
    model = train("clbl++", NEW, NEW_DEV, continue_from=olds / "clbl++", width=8, order=3, diagonal=True, **QUICK)
    assert model.order == 3


def test_other_calls_that_make_no_sense_are_refused(olds: Path, tmp_path: Path) -> None:
    place = olds / "clbl++"
    assert "which stays as it is; write to another directory" in refused("clbl++", place, out=place)
    assert "there is no such model; check the name" in refused("clbl++", tmp_path / "none")
    assert "l2_in_gradient=True decays weights towards 0" in refused("clbl++", place, l2_in_gradient=True)
    for settings in ({"stay": False}, {"stay": True}, {"old_text": OLD}, {"old_share": 0.1, "old_text": OLD}):
        assert " is for a training that continues a model; give continue_from= too" in refused(
            "clbl++", None, **settings
        )
    assert refused("clbl++", place, old_share=0.1).endswith("and there is none; give old_text=")
    assert "old_share is 1.0; it must be" in refused("clbl++", place, old_text=OLD, old_share=1.0)
    in_memory = train("clbl++", OLD, OLD_DEV, **settings_of("clbl++"), **QUICK)
    assert "is not on disk as it is now; save it" in refused("clbl++", in_memory)
    train("clbl++", NEW, NEW_DEV, continue_from=place, stay=False, l2_in_gradient=True, **QUICK)


def test_a_task_that_continues_another_model_is_another_task(olds: Path) -> None:
    task = training_task("clbl++", inputs_of(olds / "clbl++", old_text=OLD), LogBilinearOptions())
    assert task.start is not None
    assert task.replay is not None
    starts = [None, replace(task.start, digest="0" * 64), replace(task.start, stays=True)]
    others = [replace(task, start=start) for start in starts]
    others += [replace(task, replay=replay) for replay in (None, replace(task.replay, share=0.3))]
    assert len({other.identity for other in (task, *others)}) == 6
