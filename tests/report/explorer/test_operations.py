"""What can be asked, without HTTP: the numbers are those of the models themselves."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.analysis.morpheme_map import map_morphemes
from morphlm.errors import ConfigError, InputError, MorphlmError
from morphlm.ngram.model import ngram_from_arpa
from morphlm.ngram.training import train_ngram
from morphlm.report.explorer.examples import invented_words
from morphlm.report.explorer.limits import Deadline, TooSlowError
from morphlm.report.explorer.models import explored_models, find_model
from morphlm.report.explorer.operations import MAX_MODELS, Explorer
from morphlm.scoring.prediction import next_words
from morphlm.scoring.streaming import normaliser_of
from morphlm.text.preparation import paper_options
from morphlm.text.prepare import prepare_line
from tests.scoring.models import wide_model
from tests.segmentation.small import model_with
from tests.training.small import sentences

from .small import MODELS, PREPARATION, explorer, model, prepared

TEXT = "\n".join(" ".join(sentence) for sentence in sentences(40, 5, rare=True))


# ---------------------------------------------------------------- models


def test_what_models_can_do() -> None:
    cards = {card.name: card for card in explorer().cards()}
    assert list(cards) == list(MODELS)
    assert [(c.number, c.vectors, c.morphemes, c.classes, c.composes) for c in cards.values()] == [
        (0, 0, 0, 0, False),
        (1, 8, 0, 0, False),
        (2, 8, 11, 3, True),
        (3, 8, 11, 3, True),  # of the first component that has morphemes
    ]
    assert cards["mkn"].words == len(model("mkn").vocabulary)
    assert cards["clbl++"].signature == str(model("clbl++").signature)
    assert (cards["lbl"].tokeniser, cards["lbl"].normalisation) == ("moses.cs", "lc+digits")


def test_models_are_found_by_name_then_by_number() -> None:
    models = explored_models([("a/1", model("mkn")), ("a/lbl", model("lbl")), ("a/clbl++", model("clbl++"))])
    found = {key: find_model(models, key).name for key in ("1", "0", "2", "lbl", "clbl++")}
    assert found == {"1": "1", "0": "1", "2": "clbl++", "lbl": "lbl", "clbl++": "clbl++"}
    for key in ("3", "-1", "", "٠", "a/lbl", "/etc/passwd", "9" * 5000):
        with pytest.raises(InputError, match="no such model"):
            find_model(models, key)


@pytest.mark.parametrize("count", [0, MAX_MODELS + 1])
def test_how_many_models(count: int) -> None:
    with pytest.raises(ConfigError, match="models; name 1 to 8"):
        Explorer([("m", model("mkn"))] * count)


def test_warming_up_works_with_every_model() -> None:
    explorer().warm()


# ---------------------------------------------------------------- examples


def test_examples_are_drawn_from_the_model() -> None:
    view = explorer().examples("clbl++")
    own = model("clbl++")
    assert view.words
    assert all(word in own.vocabulary for word in view.words)
    assert view.new_words == ["domou"], "the only form that is missing"
    assert view.morphemes[:2] == ["em/SUF", "ou/SUF"]
    assert 0 < len(view.sentences) <= 5
    for sentence in view.sentences:
        assert all(token in own.vocabulary for token in sentence.split(" "))
    assert explorer().examples("clbl++") == view, "the same for equal models"


def test_new_words_are_known_by_their_parts_alone() -> None:
    vectors = model("clbl++").vectors
    for word in invented_words(vectors):
        composition = vectors.composition(word)
        assert (composition.origin, composition.unknown) == ("composed", ())
    assert invented_words(model("lbl").vectors) == []
    for source in ("ngrams", "pieces", "baseline"):
        others = model_with(source, "clbl++").vectors
        assert all(others.composition(word).origin == "composed" for word in invented_words(others))


def test_models_without_parts_have_words_and_sentences_only() -> None:
    view = explorer().examples("mkn")
    assert view.words
    assert view.sentences
    assert (view.new_words, view.morphemes) == ([], [])


def test_a_model_that_knows_no_words_has_no_sentences() -> None:
    nothing = train_ngram([["<unk>", "<unk>"]] * 2, 2, kappa=0.0, allow_unknown=True)
    view = Explorer([("m", nothing)]).examples("m")
    assert (view.words, view.new_words, view.sentences, view.morphemes) == ([], [], [], [])


# ---------------------------------------------------------------- words


def test_a_known_word() -> None:
    view = explorer().word("clbl++", " Školu ", 4)
    own = model("clbl++")
    vocabulary, vectors = own.vocabulary, own.vectors
    assert (view.query, view.form, view.understood, view.notes) == (" Školu ", "školu", "known", [])
    number = vocabulary.ids["školu"]
    assert (view.count, view.rank) == (int(vocabulary.counts[number]), number - 2)
    assert [(near.name, near.similarity) for near in view.neighbours] == [
        (near.name, pytest.approx(near.similarity, abs=1e-5)) for near in vectors.neighbours("školu", 4)
    ]
    assert [(part.name, part.form, part.label, part.known) for part in view.parts] == [
        ("škol/STM", "škol", "STM", True),
        ("u/SUF", "u", "SUF", True),
    ]
    stem = view.parts[0]
    assert (stem.words, stem.examples) == (5, ["škola", "školu", "školou", "školy", "školem"])
    assert [near.name for near in stem.neighbours] == [
        near.name for near in vectors.nearest_morphemes("škol/STM", 4, morpheme=True)
    ]


def test_the_class_of_a_word() -> None:
    view = explorer().word("clbl++", "školu")
    partition = model("clbl++").structure.partition  # type: ignore[attr-defined]
    assert view.word_class is not None
    own = int(partition.class_of[model("clbl++").vocabulary.ids["školu"]])
    words = [word for word in partition.examples(100)[own] if word not in ("školu", "<unk>", "</s>")]
    assert (view.word_class.number, view.word_class.size) == (own, int(partition.sizes[own]))
    assert view.word_class.examples == words[:8]
    assert explorer().word("lbl", "školu").word_class is None
    assert explorer().word("mixture", "školu").word_class == view.word_class


def test_a_word_never_seen_is_composed() -> None:
    view = explorer().word("clbl++", "domou", 3)
    assert (view.understood, view.count, view.rank, view.word_class) == ("composed", None, None, None)
    assert [part.name for part in view.parts] == ["dom/STM", "ou/SUF"]
    assert [near.name for near in view.neighbours] == [
        near.name for near in model("clbl++").vectors.neighbours("domou", 3)
    ]


def test_parts_without_a_vector_are_shown_as_such() -> None:
    view = explorer().word("clbl++", "xxxem")
    assert [(part.name, part.known, part.neighbours == []) for part in view.parts] == [
        ("xxx/STM", False, True),
        ("em/SUF", True, False),
    ]
    assert (view.understood, view.stem_known, len(view.neighbours)) == ("affixes", False, 10)
    assert view.notes == [
        "only its affixes are known: -em; its neighbours are words of the same form, not of the same meaning"
    ]
    assert explorer().word("clbl++", "domou").stem_known is True


@pytest.mark.parametrize(
    ("name", "word", "understood", "note"),
    [
        ("mkn", "školu", "known", "a model of the kind mkn has no word vectors; choose another to see neighbours"),
        ("mkn", "brouk", "unknown", "a model of the kind mkn has no word vectors; choose another to see neighbours"),
        ("lbl", "brouk", "unknown", "the model has not seen this word, and has no morphemes to compose it of"),
        ("clbl++", "brouk", "unknown", "the model has not seen this word, nor any of its morphemes"),
        ("clbl++", "<unk>", "unknown", "the model's training text had <unk> in place of such words"),
    ],
)
def test_what_is_missing_is_said(name: str, word: str, understood: str, note: str) -> None:
    view = explorer().word(name, word)
    assert (view.understood, view.notes, view.neighbours) == (understood, [note], [])


def test_without_a_record_words_are_lowercased_if_the_models_are() -> None:
    plain = Explorer([("m", prepared(model_with(kind="clbl++"), None)), ("n", prepared(model("mkn"), None))])
    assert plain.word("m", "ŠKOLU").form == "školu"
    assert plain.word("n", "ŠKOLU").form == "ŠKOLU"


def test_a_morpheme() -> None:
    view = explorer().morpheme("clbl++", "ou/SUF", 3)
    assert (view.part.words, view.part.examples) == (5, ["školou", "řekou", "ulicou", "polou", "městou"])
    vectors = model("clbl++").vectors
    assert [near.name for near in view.nearest_words] == [
        n.name for n in vectors.neighbours("ou/SUF", 3, morpheme=True)
    ]


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize("kind", MODELS)
def test_each_token_has_the_model_s_probability_rank_and_expected_words(kind: str) -> None:
    tokens, own = ["školu", "brouk", "domem"], model(kind)
    (view,) = explorer().sentence("ŠKOLU brouk domem", [kind], "tokenised", 4).models
    logprobs = own.sentence(tokens)
    assert [token.token for token in view.tokens] == [*tokens, "</s>"]
    assert [token.unknown for token in view.tokens] == [False, True, False, False]
    np.testing.assert_allclose([token.probability for token in view.tokens], np.exp(logprobs), rtol=1e-6)
    np.testing.assert_allclose([token.bits or 0 for token in view.tokens], np.divide(logprobs, -math.log(2)))
    assert view.perplexity == pytest.approx(math.exp(-sum(logprobs) / 4))
    assert (view.prepared, view.unknown) == ("školu brouk domem", 1)
    for place, token in enumerate(view.tokens):
        expected = next_words(own, tokens[:place], 4)
        assert [(e.word, e.probability) for e in token.expected] == [
            (e.word, pytest.approx(e.probability)) for e in expected
        ]
    state = own.begin()
    _, state = own.score(state, "školu")
    everything = own.distribution(state)
    assert view.tokens[1].rank == 1 + int((everything > everything[0]).sum())


def test_all_models_at_once_and_again_from_memory() -> None:
    page = explorer()
    first = page.sentence("Školu domem.")
    assert [under.model for under in first.models] == list(MODELS)
    assert {under.prepared for under in first.models} == {"školu domem ."}
    assert page.sentence("Školu domem.") == first


def test_a_model_that_looks_back_further_than_its_order() -> None:
    page = Explorer([("wide", wide_model())])
    (view,) = page.sentence("školu domem školu domem školu", None, "prepared", 2).models
    np.testing.assert_allclose(
        [token.probability for token in view.tokens],
        np.exp(wide_model().sentence(["školu", "domem", "školu", "domem", "školu"])),
        rtol=1e-5,
    )
    assert [e.word for e in view.tokens[4].expected] == [
        e.word for e in next_words(wide_model(), ["školu", "domem", "školu", "domem"], 2)
    ]


WRITTEN = st.text(st.sampled_from("Aš1 .,-'\"„?\t()é&<e\u0301"), max_size=30)


@given(WRITTEN)
@settings(max_examples=100)
def test_raw_text_is_prepared_as_training_text_was(text: str) -> None:
    """`morphlm prepare` with the options on record does the same in one go."""
    page = explorer("mkn")
    assert page.models[0].prepare(text, "raw") == prepare_line(text, paper_options("cs"))


@given(WRITTEN)
def test_tokenised_text_is_normalised_as_score_does(text: str) -> None:
    page = explorer("mkn")
    assert page.models[0].prepare(text, "tokenised") == normaliser_of(model("mkn"))(
        [token for token in text.replace("\t", " ").split(" ") if token]
    )
    assert page.models[0].prepare(text, "prepared") == [t for t in text.replace("\t", " ").split(" ") if t]


def test_a_tokeniser_that_is_not_on_record_is_not_used() -> None:
    other = prepared(model("mkn"), PREPARATION | {"tokeniser": "none"})
    assert Explorer([("m", other)]).models[0].prepare("Školu, domem.", "raw") == ["školu,", "domem."]


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<S>", "<UNK>"])
def test_our_own_marks_are_refused(mark: str) -> None:
    for ask in (
        lambda: explorer().sentence(f"školu {mark}", None, "tokenised"),
        lambda: explorer().compare("mkn", "lbl", f"školu {mark}", "prepared"),
        lambda: explorer().word("clbl++", mark),
    ):
        with pytest.raises(InputError, match="marks that the models set themselves"):
            ask()


def test_a_word_without_any_probability(tmp_path: Path) -> None:
    """An ARPA model need not have UNK."""
    (tmp_path / "m.arpa").write_text(
        "\\data\\\nngram 1=4\n\n\\1-grams:\n-99 <s>\n-0.5 </s>\n-0.3 a\n-0.6 b\n\n\\end\\\n"
    )
    page = Explorer([("m", ngram_from_arpa(tmp_path / "m.arpa")), ("n", train_ngram([["a", "b"]], 1))])
    (view, _) = page.sentence("a zzz", None, "prepared").models
    assert (view.tokens[1].bits, view.tokens[1].probability, view.bits, view.perplexity) == (None, 0.0, None, None)
    found = page.compare("m", "n", "a zzz\nb", "prepared")
    assert found.whole.baseline is None
    assert found.whole.change.text == "-"
    shown = [token for side in (found.other_better, found.baseline_better) for token in side.tokens]
    assert "zzz" not in [token.token for token in shown]


# ---------------------------------------------------------------- completion


def test_the_next_words() -> None:
    view = explorer().complete("mkn", "Školu ", k=3)
    assert (view.prepared, view.prefix, view.unknown) == ("školu", "", 0)
    assert [(e.word, e.probability) for e in view.words] == [
        (e.word, e.probability) for e in next_words(model("mkn"), ["školu"], 3)
    ]


def test_the_completions_of_a_word_that_has_been_begun() -> None:
    view = explorer().complete("mkn", "Brouk, ŠK", k=3)
    assert (view.prepared, view.prefix, view.unknown) == ("brouk ,", "šk", 2)
    assert [e.word for e in view.words] == [e.word for e in next_words(model("mkn"), ["brouk", ","], 3, "šk")]
    assert all(e.word.startswith("šk") for e in view.words)


# ---------------------------------------------------------------- comparison


def test_the_totals_of_a_comparison() -> None:
    view = explorer().compare("mkn", "clbl++", TEXT, "prepared", 3)
    lines = [line.split() for line in TEXT.split("\n")]
    one, two = (np.concatenate([model(kind).sentence(line) for line in lines]) for kind in ("mkn", "clbl++"))
    assert (view.sentences, view.tokens) == (40, len(one))
    assert view.whole.baseline == pytest.approx(math.exp(-one.mean()))
    assert view.whole.other == pytest.approx(math.exp(-two.mean()))
    change = view.whole.change
    assert change.value == pytest.approx(math.exp(-two.mean() + one.mean()) - 1)
    assert change.low is not None
    assert change.high is not None
    assert change.low < (change.value or 0) < change.high
    assert sum(group.tokens for group in view.groups) == view.tokens
    rare = sum(word.startswith("vzácn") for line in lines for word in line)
    groups = {group.name: group.tokens for group in view.groups}
    assert groups["ends of sentences"] == 40
    assert groups["words unknown to one or both"] == rare + sum(line.count("domou") for line in lines)
    assert view.unknown == [rare, groups["words unknown to one or both"]]


def test_where_models_differ_most() -> None:
    view = explorer().compare("mkn", "clbl++", TEXT, "prepared", 3)
    lines = [[*line.split(), "</s>"] for line in TEXT.split("\n")]
    gains = [
        (np.array(model("clbl++").sentence(line[:-1])) - model("mkn").sentence(line[:-1])) / math.log(2)
        for line in lines
    ]
    places = sorted((-g, n, p) for n, line in enumerate(gains, 1) for p, g in enumerate(line.tolist()))
    best, worst = view.other_better.tokens, view.baseline_better.tokens
    assert [(t.line, t.token) for t in best] == [(n, lines[n - 1][p]) for _, n, p in places[:3]]
    assert [t.gain for t in worst] == [pytest.approx(-g) for g, _, _ in places[:-4:-1]]
    assert best[0].gain == pytest.approx((best[0].baseline or 0) - (best[0].other or 0))
    sums = sorted((-float(line.sum()), n) for n, line in enumerate(gains, 1))
    assert [(s.line, s.gain) for s in view.other_better.sentences] == [
        (n, pytest.approx(-g)) for g, n in sums[:3] if g < 0
    ]
    shown = view.baseline_better.sentences[0]
    assert [token.token for token in shown.tokens] == lines[shown.line - 1]
    np.testing.assert_allclose([token.gain or 0 for token in shown.tokens], gains[shown.line - 1], atol=1e-5)
    words: dict[str, float] = {}
    for line, values in zip(lines, gains, strict=True):
        for word, gain in zip(line, values.tolist(), strict=True):
            words[word] = words.get(word, 0.0) + gain
    assert [w.word for w in view.baseline_better.words] == sorted(words, key=words.__getitem__)[:3]
    assert view.baseline_better.words[0].gain == pytest.approx(min(words.values()), abs=1e-4)


def test_the_pieces_of_a_long_text_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for a model that looks back across sentences."""
    page = Explorer([("mkn", model("mkn")), ("wide", wide_model())])
    whole = page.compare("mkn", "wide", TEXT, "prepared")
    monkeypatch.setattr("morphlm.report.explorer.comparison.PIECE_TOKENS", 7)
    pieces = page.compare("mkn", "wide", TEXT, "prepared")
    assert pieces.whole.other == pytest.approx(whole.whole.other or 0)
    expected = wide_model().perplexity([line.split() for line in TEXT.split("\n")])
    assert whole.whole.other == pytest.approx(expected.including_unknown)


def test_empty_lines_and_line_ends_of_windows_are_left_out_of_a_comparison() -> None:
    view = explorer().compare("mkn", "lbl", "\r\nŠkolu domem.\r\n\r\ndomy\r\n", k=5)
    assert (view.sentences, view.tokens) == (2, 6)
    assert {s.line for side in (view.other_better, view.baseline_better) for s in side.sentences} <= {2, 4}


def test_one_sentence_is_enough_and_a_long_one_is_not_shown_whole() -> None:
    view = explorer().compare("mkn", "lbl", "domy " * 100, k=1)
    (shown,) = view.other_better.sentences + view.baseline_better.sentences
    assert (len(shown.tokens), shown.more) == (60, 41)
    change = view.whole.change
    assert change.value is not None
    assert (change.low, change.high, change.text) == (None, None, f"{100 * change.value:.1f} %".replace("-", "−"))


def test_models_whose_texts_were_prepared_in_different_ways() -> None:
    other = prepared(model_with(kind="lbl"), {"tokeniser": "none", "normalisation": "none"})
    page = Explorer([("a", model("mkn")), ("b", other)])
    assert page.sentence("Školu").models[1].tokens[0].unknown
    view = page.compare("a", "b", "Školu\ndomy", "raw")
    assert view.unknown == [0, 1]
    assert "each model saw the text prepared as its own was; that differs in 1 line (1)" in view.notes
    with pytest.raises(InputError, match="line 2 has 2 tokens for a and 1 for b"):
        page.compare("a", "b", "domy\nŠkolu.", "raw")


# ---------------------------------------------------------------- maps


def test_the_map_is_made_in_the_background() -> None:
    page = explorer("clbl++")
    assert page.map("0").state == "computing"
    assert page.place("0", "domou").place is None
    page.map_keeper("0").wait(60)
    view = page.map("0")
    made = map_morphemes(model("clbl++").vectors)
    assert (view.state, view.note) == ("ready", "")
    assert view.points == list(made.points)
    vectors = model("clbl++").vectors
    place = page.place("0", "Domou").place
    assert place is not None
    assert [place.x, place.y] == made.place(vectors, vectors.rows(["domou"]))[0].tolist()
    assert page.place("0", "brouk").place is None


@pytest.mark.parametrize("kind", ["mkn", "lbl"])
def test_a_model_without_morphemes_has_no_map(kind: str) -> None:
    page = explorer(kind)
    page.map_keeper("0").wait(60)
    view = page.map("0")
    assert (view.state, view.points) == ("none", [])
    assert view.note == "this model has no morphemes, and so no map of them; choose another"
    assert page.place("0", "školu").place is None


def test_a_map_that_fails_is_told_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[object] = []
    monkeypatch.setattr("morphlm.report.explorer.maps.map_morphemes", lambda vectors: 1 // 0)
    monkeypatch.setattr(threading, "excepthook", raised.append)
    page = explorer("clbl++")
    page.map_keeper("0").wait(60)
    assert (page.map("0").state, page.map("0").note[:29]) == ("none", "the map could not be computed")
    assert len(raised) == 1


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda page: page.word("lbl", ""), "nothing is typed"),
        (lambda page: page.word("lbl", " \n"), "nothing is typed"),
        (lambda page: page.word("lbl", "a b"), "several words; give one at a time"),
        (lambda page: page.word("lbl", "a" * 101), "a word of 101 characters; give at most 100"),
        (lambda page: page.word("lbl", "\ufeff"), "nothing is left of it"),
        (lambda page: page.word("lbl", "a\0"), "NUL"),
        (lambda page: page.word("lbl", "\ud800"), "half of a pair"),
        (lambda page: page.word("lbl", "a", 51), "51 answers are asked for; ask for 0 to 50"),
        (lambda page: page.word("lbl", "a", -1), "-1 answers"),
        (lambda page: page.word("none", "a"), "no such model; there are mkn, lbl, clbl"),
        (lambda page: page.morpheme("lbl", "ou/SUF"), "lbl has no morphemes"),
        (lambda page: page.morpheme("mkn", "ou/SUF"), "mkn has no morphemes"),
        (lambda page: page.morpheme("clbl++", "domy"), "'domy' is no morpheme of clbl"),
        (lambda page: page.sentence("  "), "there are no words"),
        (lambda page: page.sentence("a" * 4001), "a sentence of 4,001 characters"),
        (lambda page: page.sentence("a " * 121), "a sentence of 121 tokens; give at most 120"),
        (lambda page: page.sentence("a", []), "models are missing or named twice"),
        (lambda page: page.sentence("a", ["0", "mkn"]), "models are missing or named twice"),
        (lambda page: page.complete("lbl", "a " * 121), "a sentence of 121 tokens"),
        (lambda page: page.compare("0", "mkn", "a"), "compared with itself"),
        (lambda page: page.compare("0", "1", " \n\n"), "there are no sentences"),
        (lambda page: page.compare("0", "1", ("a " * 100 + "\n") * 2001, "prepared"), "more than 200,000 tokens"),
        (lambda page: page.compare("0", "1", "a\n" * 20_001, "prepared"), "more than 20,000 sentences"),
        (lambda page: page.compare("0", "1", "a\n" + "a" * 20_001), "line 2 has 20,001 characters; put each sentence"),
        (lambda page: page.compare("0", "1", "\udfff"), "half of a pair"),
    ],
)
def test_what_cannot_be_answered(ask: Callable[[Explorer], object], what: str) -> None:
    with pytest.raises(MorphlmError, match=what):
        ask(explorer())


@pytest.mark.parametrize(
    "ask",
    [
        lambda page, end: page.sentence("školu", deadline=end),
        lambda page, end: page.compare("0", "1", "školu", deadline=end),
        lambda page, end: page.compare("0", "1", "\n" * 300, deadline=end),
    ],
)
def test_long_operations_look_at_the_time(ask: Callable[[Explorer, Deadline], object]) -> None:
    with pytest.raises(TooSlowError, match="more than 0 seconds; ask for less"):
        ask(explorer(), Deadline.after(0))
    ended = Deadline.after(math.inf)
    ended.check()
    ended.stopped.set()
    with pytest.raises(TooSlowError):
        ask(explorer(), ended)


def test_many_threads_get_the_same_answers() -> None:
    page = explorer()
    texts = [" ".join(sentence) for sentence in sentences(12, 9)]
    fresh = explorer()
    expected = [(page.complete("lbl", f"{text} "), page.sentence(text)) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: (fresh.complete("lbl", f"{text} "), fresh.sentence(text)), texts))
    assert found == expected
