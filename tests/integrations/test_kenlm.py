"""The drop-in for KenLM's Python module, and that it agrees with KenLM on the ARPA files that we write."""

from __future__ import annotations

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import pytest

import morphlm
from morphlm.errors import ConfigError, InputError, StateError
from morphlm.integrations import kenlm
from morphlm.scoring.mixing import mix
from morphlm.scoring.spelled import with_spelling
from tests.integrations.models import HELD_OUT, KINDS, KNOWN, UNSEEN, arpa_file, composing, directory, model_of, ngrams

TEXTS = [
    *HELD_OUT,
    "",
    "škola neviděno domu",
    "neviděno",
    "<unk> domu </s> domu",
    "  domu\tškola\nřeku  ",
    "domu\u00a0škola",  # KenLM splits at the white space of ASCII only
]
SWITCHES = [{"bos": bos, "eos": eos} for bos in (True, False) for eos in (True, False)]
WORDS = ["škola", "domu", "neviděno", "", "<s>", "</s>", "<unk>", "škol"]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """KenLM's own reading of the file that we export."""
    package = pytest.importorskip("kenlm")
    return package.Model(arpa_file(tmp_path_factory.mktemp("kenlm")))


@pytest.fixture(scope="module", params=["directory", "arpa", "object"])
def ours(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> kenlm.Model:
    folder = tmp_path_factory.mktemp("ours")
    if request.param == "object":
        return kenlm.Model(ngrams())
    if request.param == "arpa":
        return kenlm.Model(arpa_file(folder))
    return kenlm.Model(str(directory(folder)))


# ---------------------------------------------------------------- equal to KenLM


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_sentences_score_as_in_kenlm(ours: kenlm.Model, real: Any, switches: dict[str, bool]) -> None:
    for text in TEXTS:
        assert ours.score(text, **switches) == pytest.approx(real.score(text, **switches), abs=1e-4), text
        assert ours.score(text.encode(), **switches) == ours.score(text, **switches)


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_full_scores_have_kenlms_lengths_and_unknown_words(
    ours: kenlm.Model, real: Any, switches: dict[str, bool]
) -> None:
    lengths = set()
    for text in TEXTS:
        expected = list(real.full_scores(text, **switches))
        found = list(ours.full_scores(text, **switches))
        assert [row[1:] for row in found] == [row[1:] for row in expected], text
        assert [row[0] for row in found] == pytest.approx([row[0] for row in expected], abs=1e-4), text
        lengths |= {(length, oov) for _, length, oov in found}
    assert {length for length, _ in lengths} == {1, 2, 3, 4}
    assert {oov for _, oov in lengths} == {True, False}


def test_states_score_as_in_kenlm(ours: kenlm.Model, real: Any) -> None:
    package = pytest.importorskip("kenlm")
    for text in TEXTS:
        for write in ("BeginSentenceWrite", "NullContextWrite"):
            theirs, state = package.State(), kenlm.State()
            getattr(real, write)(theirs)
            getattr(ours, write)(state)
            for word in [*text.split(), "</s>"]:
                after, other = package.State(), kenlm.State()
                expected = real.BaseFullScore(theirs, word, after)
                found = ours.BaseFullScore(state, word, other)
                assert found.log_prob == pytest.approx(expected.log_prob, abs=1e-4)
                assert (found.ngram_length, found.oov) == (expected.ngram_length, expected.oov)
                assert ours.BaseScore(state, word, state) == found.log_prob  # the same object may hold both
                assert state == other
                theirs = after


def test_equal_states_of_kenlm_are_equal_here(ours: kenlm.Model, real: Any) -> None:
    package = pytest.importorskip("kenlm")
    pairs: dict[Any, kenlm.State] = {}
    for text in TEXTS:
        theirs, state = package.State(), kenlm.State()
        real.BeginSentenceWrite(theirs)
        ours.BeginSentenceWrite(state)
        for word in text.split():
            following, after = package.State(), kenlm.State()
            real.BaseScore(theirs, word, following)
            ours.BaseScore(state, word, after)
            theirs, state = following, after
            assert pairs.setdefault(theirs, state) == state
    assert len(pairs) == len(set(pairs.values()))


def test_the_rest_is_as_in_kenlm(ours: kenlm.Model, real: Any) -> None:
    for text in TEXTS:
        assert ours.perplexity(text) == pytest.approx(real.perplexity(text), rel=1e-4)
    assert [word in ours for word in WORDS] == [word in real for word in WORDS]
    assert [word.encode() in ours for word in WORDS] == [word in real for word in WORDS]
    assert ours.order == real.order == 4
    public = {name for name in dir(real) if not name.startswith("_")}
    assert public <= set(dir(ours))


def test_the_module_has_the_names_of_kenlm() -> None:
    package = pytest.importorskip("kenlm")
    names = {name for name, value in vars(package).items() if isinstance(value, type)}
    assert {"Model", "State", "Config"} <= names <= set(kenlm.__all__)
    for name in ("LoadMethod", "ARPALoadComplain"):
        values = {key: value for key, value in vars(getattr(package, name)).items() if key.isupper()}
        assert values == {key: int(value) for key, value in getattr(kenlm, name).__members__.items()}
    given, expected = kenlm.Config(), package.Config()
    for field in ("load_method", "show_progress", "arpa_complain"):
        assert getattr(given, field) == getattr(expected, field)


# ---------------------------------------------------------------- every kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_its_own_probabilities(kind: str) -> None:
    model = model_of(kind)
    dropped_in = kenlm.Model(model)
    for text in HELD_OUT[:10]:
        expected = sum(_by_states(model, text.split())) / math.log(10)
        assert dropped_in.score(text) == pytest.approx(expected, abs=1e-6)
        rows = list(dropped_in.full_scores(text + " neviděno"))
        assert [oov for *_, oov in rows][-2:] == [True, False]
        assert all(1 <= length <= model.order for _, length, _ in rows)


def _by_states(model: morphlm.LanguageModel, words: list[str]) -> list[float]:
    state, scores = model.begin(), []
    for word in words:
        logprob, state = model.score(state, word)
        scores.append(logprob)
    return [*scores, model.score_id(state, 2)[0]]


def test_ngram_lengths_of_other_kinds() -> None:
    plain, mixture = kenlm.Model(model_of("clbl++")), kenlm.Model(model_of("mixture"))
    assert {length for _, length, _ in plain.full_scores("domu škola řeku")} == {plain.order}
    ngrams_of_it = kenlm.Model(model_of("mkn"))
    for text in HELD_OUT:
        expected = [length for _, length, _ in ngrams_of_it.full_scores(text)]
        assert [length for _, length, _ in mixture.full_scores(text)] == expected


def test_ngram_lengths_where_the_ids_of_a_component_differ() -> None:
    first = morphlm.train_ngram([["a", "b", "b"], ["b"]], 2, kappa=0)
    other = morphlm.train_ngram([["b", "a", "a"], ["a"]], 2, kappa=0)
    assert first.vocabulary.words != other.vocabulary.words
    swapped = mix([model_like(first), other], weights=[0.5, 0.5])
    assert [length for _, length, _ in kenlm.Model(swapped).full_scores("a a")] == [
        length for _, length, _ in kenlm.Model(other).full_scores("a a")
    ]


def model_like(model: morphlm.NgramModel) -> Any:
    """A log-bilinear model over the vocabulary of another."""
    return morphlm.train(
        "clbl", [["a", "b"]] * 3, [["a"]], vocabulary=model.vocabulary, width=2, epochs=1, order=2, classes=2
    )


# ---------------------------------------------------------------- what else programs do


def test_states_are_compared_hashed_copied_and_pickled() -> None:
    model, state, null = kenlm.Model(ngrams()), kenlm.State(), kenlm.State()
    model.BeginSentenceWrite(state)
    model.NullContextWrite(null)
    assert state != null
    assert (state < null) != (null < state)
    for other in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        assert other == state
        assert hash(other) == hash(state)
        model.BaseScore(state, "domu", other)
        assert other != state
    assert state != 5


def test_a_model_is_pickled_and_has_its_path(tmp_path: Path) -> None:
    model = kenlm.Model(arpa_file(tmp_path))
    again = pickle.loads(pickle.dumps(model))
    assert again.path == model.path == str(tmp_path / "model.arpa").encode()
    assert again.score("domu škola") == model.score("domu škola")
    assert repr(model) == "<Model from model.arpa>"
    assert kenlm.Model(ngrams(), kenlm.Config()).path == b""


def test_impossible_words_have_a_finite_score(tmp_path: Path) -> None:
    path = tmp_path / "without-unk.arpa"
    path.write_text("\\data\\\nngram 1=3\n\n\\1-grams:\n-99\t<s>\n-0.30103\t</s>\n-0.30103\ta\n\n\\end\\\n")
    model = kenlm.Model(path)
    assert model.score("b") == pytest.approx(-100 - math.log10(2))
    assert ("b" in model, "a" in model) == (False, True)


def test_what_is_no_model_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        kenlm.Model(str(tmp_path / "missing"))
    (tmp_path / "text").write_text("no model\n")
    with pytest.raises(OSError, match="this is no model"):
        kenlm.Model(str(tmp_path / "text"))


def test_wrong_arguments_are_refused() -> None:
    model, state = kenlm.Model(ngrams()), kenlm.State()
    with pytest.raises(StateError, match="the state is empty; fill it with BeginSentenceWrite"):
        model.BaseScore(state, "domu", state)
    model.BeginSentenceWrite(state)
    for wrong in (None, 5, b"domu"):
        with pytest.raises(InputError, match="is no word"):
            model.BaseScore(state, wrong, state)  # type: ignore[arg-type]
    for no_text in (None, 5, ["domu"]):
        with pytest.raises(InputError, match="is no sentence"):
            model.score(no_text)  # type: ignore[arg-type]
    with pytest.raises(StateError):
        model.BaseScore(5, "domu", state)  # type: ignore[arg-type]
    other = kenlm.State()
    kenlm.Model(model_of("clbl++")).BeginSentenceWrite(other)
    with pytest.raises(StateError):
        model.BaseScore(other, "domu", state)


# ---------------------------------------------------------------- more than KenLM has


def test_unknown_words_are_unk_unless_more_is_asked_for() -> None:
    model = composing("clbl++")
    plain, composed = kenlm.Model(model), kenlm.Model(model, unknown_contexts="composed")
    spelled = kenlm.Model(model, open_vocabulary=True)
    state = model.begin()
    first, state = model.score(state, UNSEEN)
    second, _ = model.score(state, KNOWN)
    assert plain.score(f"{UNSEEN} {KNOWN}", eos=False) == pytest.approx((first + second) / math.log(10), abs=1e-9)
    assert UNSEEN not in composed and UNSEEN not in spelled and KNOWN in spelled
    share = with_spelling(model).log_share(UNSEEN) / math.log(10)
    assert share < 0
    assert spelled.score(UNSEEN, eos=False) == pytest.approx(plain.score(UNSEEN, eos=False) + share, abs=1e-9)


@pytest.mark.parametrize("kind", ["clbl++", "wide", "by context"])
def test_unknown_words_are_composed_in_contexts_as_states_have_it(kind: str) -> None:
    model = composing(kind)
    assert UNSEEN not in model.vocabulary
    for options in ({}, {"open_vocabulary": True}):
        ours = kenlm.Model(model, unknown_contexts="composed", **options)  # type: ignore[arg-type]
        asked = with_spelling(model) if options else model
        state, expected = asked.begin(unknown_contexts="composed"), []
        for word in (KNOWN, UNSEEN, KNOWN, KNOWN):
            logprob, state = asked.score(state, word)
            expected.append(logprob / math.log(10))
        text = f"{KNOWN} {UNSEEN} {KNOWN} {KNOWN}"
        assert [score for score, _, _ in ours.full_scores(text, eos=False)] == pytest.approx(expected, abs=1e-9)
        assert [oov for _, _, oov in ours.full_scores(text, eos=False)] == [False, True, False, False]
        assert base_scores(ours, text.split()) == pytest.approx(expected, abs=1e-9)
        again = pickle.loads(pickle.dumps(ours))
        assert base_scores(again, text.split()) == pytest.approx(expected, abs=1e-9)
    assert base_scores(kenlm.Model(model), text.split())[2] != expected[2]


def base_scores(model: kenlm.Model, words: list[str]) -> list[float]:
    state, scores = kenlm.State(), []
    model.BeginSentenceWrite(state)
    for word in words:
        scores.append(model.BaseScore(state, word, state))
    return scores


def test_what_cannot_be_composed_or_spelled_is_unk() -> None:
    model = composing("clbl++")
    ours = kenlm.Model(model, unknown_contexts="composed", open_vocabulary=True)
    assert ours.score(b"\xff", eos=False) == pytest.approx(kenlm.Model(model).score(b"\xff", eos=False), abs=1e-9)
    with pytest.raises(ConfigError, match="unknown contexts are `unk` or `composed`"):
        kenlm.Model(model, unknown_contexts="spelled")  # type: ignore[arg-type]
