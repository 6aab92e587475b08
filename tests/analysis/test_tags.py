from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.analysis.groups import Group, GroupComparison
from morphlm.analysis.tag_alignment import (
    Unit,
    align_with_text,
    prepare_tagged,
    preparer_for,
    read_tagged_for,
    recut,
)
from morphlm.analysis.tag_classes import coarse_class
from morphlm.analysis.tag_reading import TaggedSentence, TaggedToken, hanover_tagger, read_tagged
from morphlm.analysis.tags import tag_comparison
from morphlm.errors import ConfigError, InputError
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.text.preparation import paper_options
from morphlm.text.prepare import prepare_files, prepare_line

GERMAN = {"tokeniser": "moses.de", "normalisation": "lc+digits"}
TRAIN = [
    ["wir", "gehen", "zum", "alten", "haus", ",", "z.b.", "heute", "."],
    ["das", "alte", ",", "schöne", "haus", "kostet", "00", "euro", "."],
    ["schöne", "neue", "häuser"],
]
CONLLU = """\
# text = Das alte, "schöne" U-Bahn-Haus kostet z.B. 12 Euro.
1	Das	der	DET	ART	_	2	det	_	_
2	alte	alt	ADJ	ADJA	_	0	_	_	SpaceAfter=No
3	,	,	PUNCT	$,	_	0	_	_	_
4	"	"	PUNCT	$(	_	0	_	_	SpaceAfter=No
5	schöne	schön	ADJ	ADJA	_	0	_	_	SpaceAfter=No
6	"	"	PUNCT	$(	_	0	_	_	_
7	U	U	X	XY	_	0	_	_	SpaceAfter=No
8	-	-	PUNCT	$(	_	0	_	_	SpaceAfter=No
9	Bahn	Bahn	PROPN	NE	_	0	_	_	SpaceAfter=No
10	-	-	PUNCT	$(	_	0	_	_	SpaceAfter=No
11	Haus	Haus	NOUN	NN	_	0	_	_	Note=x|SpaceAfter=Yes
12	kostet	kosten	VERB	VVFIN	_	0	_	_	_
12.1	kostet	kosten	VERB	VVFIN	_	_	_	_	_
13	z.B.	z.B.	ADV	ADV	_	0	_	_	_
14	12	12	NUM	CARD	_	0	_	_	_
15	Euro	Euro	NOUN	NN	_	0	_	_	SpaceAfter=No
16	.	.	PUNCT	$.	_	0	_	_	_

# a sentence with a token of two words
1	Wir	wir	PRON	PPER	_	2	_	_	_
2	gehen	gehen	VERB	VVFIN	_	0	_	_	_
3-4	zum	_	_	_	_	_	_	_	_
3	zu	zu	ADP	APPR	_	0	_	_	_
4	dem	der	DET	ART	_	0	_	_	_
5	alten	alt	ADJ	ADJA	_	0	_	_	_
6	Haus	Haus	NOUN	NN	_	0	_	_	_
"""


@pytest.fixture
def conllu(tmp_path: Path) -> Path:
    (tmp_path / "tagged.conllu").write_text(CONLLU)
    return tmp_path / "tagged.conllu"


def models(preparation: dict[str, str] | None = GERMAN) -> tuple[NgramModel, NgramModel]:
    pair = train_ngram(TRAIN, 1), train_ngram(TRAIN, 2)
    for model in pair:
        model.training["preparation"] = preparation
    return pair


def units(sentences: list[TaggedSentence], preparation: dict[str, str] | None = GERMAN) -> list[tuple[str, str]]:
    prepared = prepare_tagged(sentences, preparer_for(models(preparation)))
    return [(" ".join(unit.tokens), unit.tag) for sentence in prepared for unit in sentence.units]


def tagged(*sentences: str) -> list[TaggedSentence]:
    """From `token/TAG` lines."""
    return [
        TaggedSentence(
            tuple(TaggedToken(*item.rpartition("/")[::2], number) for item in sentence.split()),
            "tags.txt",
        )
        for number, sentence in enumerate(sentences, 1)
    ]


def group(result: GroupComparison, name: str) -> Group:
    return next(group for group in result.groups if group.name == name)


# ------------------------------------------------------------ reading


def test_conllu_gives_the_tokens_of_the_text(conllu: Path) -> None:
    first, second = read_tagged([conllu])
    assert [token.form for token in first.tokens][10:14] == ["Haus", "kostet", "z.B.", "12"]
    assert second.tokens == (
        TaggedToken("Wir", "PRON", 21),
        TaggedToken("gehen", "VERB", 22),
        TaggedToken("zum", "ADP+DET", 23),
        TaggedToken("alten", "ADJ", 26),
        TaggedToken("Haus", "NOUN", 27),
    )
    assert [token.space for token in first.tokens[:4]] == [True, False, True, False]
    assert first.tokens[10].space
    assert first.source == str(conllu)
    assert [token.tag for token in read_tagged([conllu], column="xpos")[1].tokens][2:4] == ["APPR+ART", "ADJA"]


def test_several_files_are_one_text(conllu: Path) -> None:
    assert len(read_tagged([conllu, conllu])) == 4


def test_slashes_are_split_at_the_last(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("km/h/NN  1/2/CARD\n\n//$(\n")
    first, second = read_tagged([tmp_path / "t"], "slashes")
    assert first.tokens == (TaggedToken("km/h", "NN", 1), TaggedToken("1/2", "CARD", 1))
    assert second.tokens == (TaggedToken("/", "$(", 3),)


@pytest.mark.parametrize(
    ("content", "form", "message"),
    [
        ("a/X b\n", "slashes", r"t:1: b is no token with its tag; write"),
        ("a/X\na/ b/Y\n", "slashes", r"t:2: a/ is no token"),
        ("a/X /Y\n", "slashes", r"t:1: /Y is no token"),
        ("\n\n", "slashes", r"t: there are no sentences; give"),
        ("# only = talk\n\n", "conllu", r"t: there are no sentences"),
        ("# x\n1\ta\tb\tNOUN\n", "conllu", r"t:2: 4 columns; CoNLL-U has ten"),
        ("1\ta\ta\tX\tX\t_\t_\t_\t_\t_\nx\ta\ta\tX\tX\t_\t_\t_\t_\t_\n", "conllu", r"t:2: x is no number of a word"),
        ("1-3\ta\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\ta\tX\tX\t_\t_\t_\t_\t_\n", "conllu", r"t:1: the token 1-3 spans"),
        ("1\ta\ta\t_\tX\t_\t_\t_\t_\t_\n", "conllu", r"t: no word has a tag in the column UPOS; choose"),
        ("", "conllu", r"t: the file is empty"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path: Path, content: str, form: Any, message: str) -> None:
    (tmp_path / "t").write_text(content)
    with pytest.raises(InputError, match=message):
        read_tagged([tmp_path / "t"], form)


def test_a_format_that_nobody_knows(conllu: Path) -> None:
    with pytest.raises(ConfigError, match="conllu, slashes or hanta"):
        read_tagged([conllu], "xml")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="upos or xpos"):
        read_tagged([conllu], column="feats")  # type: ignore[arg-type]


def test_a_word_without_a_tag_is_untagged(tmp_path: Path) -> None:
    line = "{}\t{}\t_\t{}\t_\t_\t_\t_\t_\t_\n"
    (tmp_path / "t").write_text(line.format(1, "a", "X") + line.format(2, "b", "_"))
    (sentence,) = read_tagged([tmp_path / "t"])
    assert [token.tag for token in sentence.tokens] == ["X", "untagged"]


# ------------------------------------------------------------ HanTa


def test_hanta_tags_german_in_its_own_case(tmp_path: Path) -> None:
    pytest.importorskip("HanTa")
    (tmp_path / "raw").write_text("Das alte Haus, heute hier.\n\nSie kaufen\n")
    first, second = read_tagged_for(models(), [tmp_path / "raw"], "hanta")
    assert [(token.form, token.tag) for token in first.tokens] == [
        ("Das", "ART"),
        ("alte", "ADJ(A)"),
        ("Haus", "NN"),
        (",", "$,"),
        ("heute", "ADV"),
        ("hier", "ADV"),
        (".", "$."),
    ]
    assert [token.line for token in second.tokens] == [3, 3]
    result = tag_comparison(*models(), [first, second], coarse=True, sequences=[["Adjective", "Noun"]])
    assert group(result, "Adjective Noun").tokens == 2
    assert group(result, "Noun").tokens == 1


def test_without_a_record_of_the_preparation_hanta_gets_what_is_between_spaces(tmp_path: Path) -> None:
    pytest.importorskip("HanTa")
    (tmp_path / "raw").write_text("Das Haus, hier.\n")
    (sentence,) = read_tagged_for(models(None), [tmp_path / "raw"], "hanta")
    assert [token.form for token in sentence.tokens] == ["Das", "Haus,", "hier."]


def test_hanta_is_for_german(tmp_path: Path) -> None:
    czech = {"tokeniser": "moses.cs", "normalisation": "lc"}
    with pytest.raises(ConfigError, match="HanTa tags German, and the models' text was tokenised as cs"):
        read_tagged_for(models(czech), [tmp_path / "raw"], "hanta")


def test_hanta_is_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "HanTa.HanoverTagger", None)
    (tmp_path / "raw").write_text("Das Haus\n")
    with pytest.raises(ConfigError, match=r"not installed; pip install 'morphlm\[pos\]' "):
        read_tagged([tmp_path / "raw"], "hanta")


def test_a_sentence_that_hanta_cannot_tag_is_tagged_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip("HanTa.HanoverTagger")

    def fail(*_: Any, **__: Any) -> None:
        raise KeyError(0)

    monkeypatch.setattr(module.HanoverTagger, "tag_sent", fail)
    assert hanover_tagger()(["Haus", "und"]) == ["NN", "KON"]


# ------------------------------------------------------------ preparing


def test_tagged_tokens_are_prepared_like_the_training_text(conllu: Path) -> None:
    sentence = read_tagged([conllu])
    assert units(sentence) == [
        ("das", "DET"),
        ("alte", "ADJ"),
        (",", "PUNCT"),
        ('"', "PUNCT"),
        ("schöne", "ADJ"),
        ('"', "PUNCT"),
        ("u-bahn-haus", "NOUN"),
        ("kostet", "VERB"),
        ("z.b.", "ADV"),
        ("00", "NUM"),
        ("euro", "NOUN"),
        (".", "PUNCT"),
        ("wir", "PRON"),
        ("gehen", "VERB"),
        ("zum", "ADP+DET"),
        ("alten", "ADJ"),
        ("haus", "NOUN"),
    ]
    raw = 'Das alte, "schöne" U-Bahn-Haus kostet z.B. 12 Euro.'
    prepared = [token for tokens, _ in units(sentence[:1]) for token in tokens.split()]
    assert prepared == prepare_line(raw, paper_options("de"))


def test_all_tokens_that_come_of_one_have_its_tag() -> None:
    assert units(tagged("(Haus)/NN Ab\u00adc/XY")) == [("( haus )", "NN"), ("abc", "XY")]
    (sentence,) = prepare_tagged(tagged("(Haus)/NN"), preparer_for(models()))
    assert sentence.units == (Unit("NN", ("(", "haus", ")"), 1),)


def test_a_full_stop_is_cut_off_by_what_comes_after() -> None:
    assert units(tagged("Abk./X der/Y")) == [("abk.", "X"), ("der", "Y")]
    assert units(tagged("Abk./X Der/Y")) == [("abk .", "X"), ("der", "Y")]


def test_without_a_record_tokens_stay_as_they_are() -> None:
    assert units(tagged("Das/X (12)/Y"), None) == [("Das", "X"), ("(12)", "Y")]
    plain = {"tokeniser": "none", "normalisation": "digits"}
    assert units(tagged("Das/X (12)/Y"), plain) == [("Das", "X"), ("(00)", "Y")]


def test_what_nothing_is_left_of_is_dropped() -> None:
    assert units(tagged("\u00ad/X Haus/Y", "\u00ad/Z")) == [("haus", "Y")]
    with pytest.raises(InputError, match=r"tags.txt: nothing is left of the tagged text"):
        tag_comparison(*models(), tagged("\u00ad/X"))


def test_where_the_tokeniser_does_more_than_cut_each_token_is_cut_alone() -> None:
    preparer = preparer_for(models())
    spoilt = type(preparer)(lambda line: ["?"] if " " in line.strip() else [line], preparer.normalise)
    (sentence,) = prepare_tagged(tagged("Das/X Haus/Y"), spoilt)
    assert sentence.units == (Unit("X", ("das",), 1), Unit("Y", ("haus",), 1))


@pytest.mark.parametrize(
    ("mark", "preparation"),
    [("<s>", None), ("</s>", None), ("<S>", {"tokeniser": "none", "normalisation": "lc"}), ("<unk>", None)],
)
def test_a_mark_of_ours_is_refused_with_the_line_of_its_token(mark: str, preparation: dict[str, str] | None) -> None:
    tokens = tuple(TaggedToken(form, "X", line) for line, form in enumerate(("a", mark, "b"), 5))
    with pytest.raises(InputError) as caught:
        units([TaggedSentence(tokens, "tags.conllu")], preparation)
    what = f"{mark} is a mark that morphlm sets itself; remove the token, or write another in its place"
    assert str(caught.value) == f"tags.conllu:6: {what}"


def test_tokens_that_would_be_a_mark_if_they_stood_together_stay_apart() -> None:
    tokens = tuple(TaggedToken(form, "X", 1, space=False) for form in ("<", "s", ">"))
    assert units([TaggedSentence(tokens, "tags.conllu")], None) == [("<", "X"), ("s", "X"), (">", "X")]


def test_models_whose_texts_were_prepared_differently() -> None:
    one, two = models()
    two.training["preparation"] = {"tokeniser": "none", "normalisation": "lc"}
    with pytest.raises(ConfigError, match="prepared in different ways"):
        tag_comparison(one, two, tagged("Haus/NN"))
    two.training["preparation"] = None
    assert tag_comparison(two, one, tagged("Haus/NN")).whole.baseline == pytest.approx(
        two.perplexity([["haus"]]).including_unknown
    )


# ------------------------------------------------------------ aligning


WORDS = st.lists(st.text("ab-", min_size=1, max_size=3), min_size=1, max_size=6)


@given(WORDS, st.data())
def test_recutting_keeps_all_pieces_and_all_boundaries_that_both_have(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)))) & set(range(1, len(text))))
    pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    given_units = [Unit(f"T{number}", (word,), number) for number, word in enumerate(words)]
    found = recut(given_units, pieces)
    assert [token for unit in found for token in unit.tokens] == pieces
    ends = {len("".join(words[: number + 1])) for number in range(len(words))}
    assert len(found) == len(ends & {*cuts, len(text)})
    assert found[0].line == 0
    same = recut(given_units, words)
    assert same == given_units


@pytest.mark.parametrize(
    ("forms", "tag"),
    [
        (["Berlin", "-", "Reise"], "C"),
        (['"', "Wort"], "B"),
        (["Dr", "."], "A"),
        (["gibt", "s"], "A+B"),
        (["'", "im", "Haus", "'"], "B+C"),
        (["-", "-"], "A"),
        (["a", "/", "b", "c", "."], "C+D"),
    ],
)
def test_the_tag_of_several_that_are_one(forms: list[str], tag: str) -> None:
    given_units = [Unit("ABCDE"[number], (form,), 1) for number, form in enumerate(forms)]
    assert [unit.tag for unit in recut(given_units, ["".join(forms)])] == [tag]


def test_a_prepared_text_is_aligned_with_its_tags(conllu: Path, tmp_path: Path) -> None:
    raw = 'Das alte, "schöne" U-Bahn-Haus kostet z.B. 12 Euro.\n\nWir gehen zum alten Haus\n'
    (tmp_path / "raw").write_text(raw)
    prepare_files([tmp_path / "raw"], tmp_path / "text", paper_options("de"))
    of_tags = tag_comparison(*models(), read_tagged([conllu]))
    of_text = tag_comparison(*models(), read_tagged([conllu]), text=tmp_path / "text")
    assert of_text.to_json()["groups"] == of_tags.to_json()["groups"]
    assert (of_tags.text, of_text.text) == (str(conllu), str(tmp_path / "text"))
    # The record beside the text tells how to prepare the tagged tokens for models that do not.
    by_record = tag_comparison(*models(None), read_tagged([conllu]), text=tmp_path / "text")
    assert by_record.to_json()["groups"] == of_tags.to_json()["groups"]
    (tmp_path / "bare").write_text((tmp_path / "text").read_text().replace("\n", "\n\n"))
    bare = tag_comparison(*models(), read_tagged([conllu]), text=tmp_path / "bare")
    assert bare.to_json()["groups"] == of_tags.to_json()["groups"]
    assert "|text:as-is/as-is" in tag_comparison(*models(), read_tagged([conllu]), text=tmp_path / "bare").signatures[0]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["das haus", "hier war"], r"tags.txt:2: here is ist, but <sentences> has war in its place; the two must"),
        (["das haus", "hier"], r"tags.txt:2: here is ist, but <sentences> has nothing in its place"),
        (["das haus", "hier ist es"], r"tags.txt:2: here is ist, but"),
        (["das haus"], r"tags.txt:2: <sentences> ends before this sentence; give"),
        (
            ["das haus", "hier ist", "noch eins"],
            r"tags.txt:2: the tags end here, but <sentences> goes on with noch eins",
        ),
        (["das häus"], r"tags.txt:1: here is haus, but <sentences> has häus in its place"),
    ],
)
def test_tags_that_do_not_align_are_refused_with_their_line(lines: list[str], message: str) -> None:
    sentences = tagged("Das/A Haus/B", "Hier/A ist/B")
    with pytest.raises(InputError, match=message):
        tag_comparison(*models(), sentences, text=[line.split() for line in lines])


def test_the_line_of_conllu_is_that_of_the_token(conllu: Path) -> None:
    text = [unit.split() for unit in ['das alte , " schöne " u-bahn-haus kostet z.b. 00 mark .', "wir gehen"]]
    with pytest.raises(InputError, match=rf"{conllu}:17: here is euro, but"):
        tag_comparison(*models(), read_tagged([conllu]), text=text)


def test_text_without_any_tagged_sentence() -> None:
    with pytest.raises(InputError, match="the tags end here"):
        list(align_with_text([], [["a"]]))


# ------------------------------------------------------------ comparing


def test_groups_are_those_of_a_plain_loop(conllu: Path) -> None:
    one, two = models()
    result = tag_comparison(one, two, read_tagged([conllu]))
    pairs = units(read_tagged([conllu]))
    sentences = [pairs[:12], pairs[12:]]
    found: dict[str, list[tuple[float, float]]] = {}
    for sentence in sentences:
        words = [word for word, _ in sentence]
        tags = [*(tag for _, tag in sentence), "end of sentence"]
        for tag, first, second in zip(tags, one.sentence(words), two.sentence(words), strict=True):
            found.setdefault(tag, []).append((float(first), float(second)))
    assert {group.name: group.tokens for group in result.groups} == {tag: len(all_) for tag, all_ in found.items()}
    for name, scores in found.items():
        means = [math.exp(-sum(column) / len(scores)) for column in zip(*scores, strict=True)]
        assert [group(result, name).baseline, group(result, name).other] == pytest.approx(means)
    order = ["PUNCT", "ADJ", "NOUN", "VERB", "ADP+DET", "ADV", "DET", "NUM", "PRON", "end of sentence"]
    assert [group.name for group in result.groups] == order
    assert (result.whole.tokens, result.title) == (19, "part of speech")


def test_sequences_are_all_tokens_of_all_matches(conllu: Path) -> None:
    one, two = models()
    result = tag_comparison(one, two, read_tagged([conllu]), sequences=[["ADJ", "NOUN"], ["NOUN", "DET"]])
    adjective_noun, never = result.groups[-2:]
    logprobs = one.sentence(["wir", "gehen", "zum", "alten", "haus"])
    assert (adjective_noun.name, adjective_noun.tokens) == ("ADJ NOUN", 2)
    assert adjective_noun.baseline == pytest.approx(math.exp(-sum(logprobs[3:5]) / 2))
    assert (never.name, never.tokens, never.change.format()) == ("NOUN DET", 0, "-")
    assert result.notes == ("ADJ NOUN: 1 matches", "NOUN DET: 0 matches")


def test_matches_that_overlap_count_their_tokens_once() -> None:
    result = tag_comparison(*models(), tagged("a/A b/A c/A (d)/N", "a/A", "a/N"), sequences=[["A", "A"], ["A", "N"]])
    assert result.notes[:2] == ("A A: 2 matches", "A N: 1 matches")
    assert [group.tokens for group in result.groups[-2:]] == [3, 4]


@pytest.mark.parametrize("sequence", [["A"], [], ["A", ""], "A,B"])
def test_what_is_no_sequence(sequence: Any) -> None:
    with pytest.raises(ConfigError, match="is no sequence of tags; write two or more, like ADJ,NOUN"):
        tag_comparison(*models(), tagged("a/A"), sequences=[sequence])


def test_unseen_words_can_be_a_group_of_their_own(conllu: Path) -> None:
    one, two = models()
    apart = tag_comparison(one, two, read_tagged([conllu]), unseen_apart=True, sequences=[["ADJ", "NOUN"]])
    assert (apart.groups[0].name, apart.groups[0].tokens) == ("unseen", 3)  # both quotation marks, u-bahn-haus
    assert (group(apart, "NOUN").tokens, group(apart, "PUNCT").tokens) == (2, 2)
    assert group(apart, "ADJ NOUN").tokens == 2
    assert sum(group.tokens for group in apart.groups[:-1]) == 19
    nothing_new = tag_comparison(one, two, tagged("Haus/A", "Auto/B"), unseen_apart=True)
    assert [group.name for group in nothing_new.groups] == ["unseen", "A", "end of sentence"]


def test_one_sentence_and_one_word() -> None:
    result = tag_comparison(*models(), tagged("Haus/all"))
    assert [(group.name, group.tokens) for group in result.groups] == [("all", 1), ("end of sentence", 1)]
    assert result.whole.tokens == 2


# ------------------------------------------------------------ classes


@pytest.mark.parametrize(
    ("tags", "name"),
    [
        ("NOUN NN NNA NNI", "Noun"),
        ("PROPN NE", "Name"),
        ("ADJ ADJA ADJD ADJ(A) ADJ(D)", "Adjective"),
        ("VERB AUX VVFIN VV(FIN) VAPP VM(INF) VV(IZU) VVIMP", "Verb"),
        ("ADV PROAV PAV PWAV", "Adverb"),
        ("DET ART PIAT PDAT PPOSAT PRELAT PWAT PIDAT", "Determiner"),
        ("PRON PPER PRF PIS PDS PPOSS PRELS PWS", "Pronoun"),
        ("ADP APPR APPRART APPO APZR ADP+DET APPR+ART", "Preposition"),
        ("CCONJ SCONJ KON KOUS KOUI KOKOM", "Conjunction"),
        ("NUM CARD", "Numeral"),
        ("PART PTKZU PTKNEG PTKVZ PTKANT PTKA", "Particle"),
        ("PUNCT $, $. $(", "Punctuation"),
        ("X SYM INTJ FM XY ITJ TRUNC", "Rest"),
    ],
)
def test_coarse_classes(tags: str, name: str) -> None:
    assert {tag: coarse_class(tag) for tag in tags.split()} == dict.fromkeys(tags.split(), name)


def test_every_tag_of_hanta_has_a_class() -> None:
    module = pytest.importorskip("HanTa.HanoverTagger")
    tagger = module.HanoverTagger("morphmodel_ger.pgz")
    tags = {tagger.int2tag[number] for found in tagger.cache.values() for number, _ in found}
    assert len(tags) > 40
    assert {tag for tag in tags if coarse_class(tag) is None} == set()


def test_coarse_groups(conllu: Path) -> None:
    result = tag_comparison(*models(), read_tagged([conllu]), coarse=True, sequences=[["Adjective", "Noun"]])
    expected = {"Punctuation": 4, "Adjective": 3, "Noun": 3, "Verb": 2, "Preposition": 1, "Adverb": 1}
    expected |= {"Determiner": 1, "Numeral": 1, "Pronoun": 1, "end of sentence": 2, "Adjective Noun": 2}
    assert {group.name: group.tokens for group in result.groups} == expected
    fine = tag_comparison(*models(), read_tagged([conllu]), coarse=True, sequences=[["ADJ", "Noun"]])
    assert fine.groups[-1].tokens == 2
    xpos = tag_comparison(*models(), read_tagged([conllu], column="xpos"), coarse=True)
    assert {group.name: group.tokens for group in xpos.groups} == {
        name: count for name, count in expected.items() if name != "Adjective Noun"
    }


def test_tags_of_other_sets_have_no_classes() -> None:
    assert coarse_class("NNS") is None
    with pytest.raises(ConfigError, match="not of such as NNS; leave coarse=True out"):
        tag_comparison(*models(), tagged("a/NNS b/VBZ"), coarse=True)
    mixed = tag_comparison(*models(), tagged("a/NOUN b/VBZ c/untagged"), coarse=True)
    assert [group.name for group in mixed.groups] == ["Noun", "Rest", "untagged", "end of sentence"]
    assert mixed.notes[0] == "Rest has all tags that are neither of UPOS nor of STTS: VBZ"
    many = tag_comparison(*models(), tagged("a/NOUN b/VBZ b/RB b/VBZ b/CC b/IN b/DT b/EX"), coarse=True)
    assert many.notes[0].endswith(": VBZ, RB, CC, IN, DT, ...")
    fine = tag_comparison(*models(), tagged("a/NOUN b/VBZ"))
    assert not any("STTS" in note for note in fine.notes), "each tag is a group of its own"
