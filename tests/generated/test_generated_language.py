"""The generated language: the same bytes everywhere, and true to what its tables say."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.text.reading import read_blocks
from morphlm_generated import (
    GeneratedConfig,
    GeneratedSentence,
    Word,
    generate_sentences,
    gold_segmentation,
    gold_similarity,
    morphology,
    paradigms,
    similarity,
    write_generated,
)
from morphlm_generated.lexicon import GENERAL, Stem, StemLexicon, zipf_weights
from morphlm_generated.segmentation import SegmentationTable
from morphlm_generated.similarity import Sense, rate
from morphlm_generated.sounds import attach, is_front

SMALL = GeneratedConfig(sentences=300, topics=6, topics_per_domain=3, general=2, nouns=20, verbs=10, adjectives=10)
WELL_FORMED = re.compile(r"(PRE )*STM( SUF STM)?( SUF)*")


@pytest.fixture(scope="module")
def text() -> list[GeneratedSentence]:
    """About a hundred thousand tokens."""
    return list(generate_sentences(GeneratedConfig(sentences=9_200), seed=1))


@pytest.fixture(scope="module")
def words(text: list[GeneratedSentence]) -> list[Word]:
    return sorted({word for sentence in text for word in sentence.words})


@pytest.fixture(scope="module")
def lexicon() -> StemLexicon:
    return StemLexicon(GeneratedConfig(), seed=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("generated")
    write_generated(directory, sentences=400, seed=1)
    return directory


def digest(directory: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(directory.iterdir()):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


# The same bytes everywhere


def test_the_first_sentences_of_seed_1() -> None:
    first, second = islice(generate_sentences(GeneratedConfig(), seed=1), 2)
    assert " ".join(first.tokens) == "vi pabruhuldolalata brikitoločko ."
    assert " ".join(first.gloss) == "you did blondant up the little nangion ."
    assert " ".join(second.tokens) == (
        "vu bröküci fülköpjüv husaju vsaja fülköp , kad vsaja tristeb rükünin i linöküvöjö nilkonin klülelint tregühü ."
    )
    assert " ".join(second.gloss) == (
        "every tround meegarkon with a tround in the bostant , "
        "when every haillish of the many ceermin and a toumant braistent did thoople to the breeton ."
    )


def test_the_files_of_seed_1_are_known_byte_for_byte(folder: Path) -> None:
    assert digest(folder) == "d34716e3b931f5268010deede98b9f8ce185ebfb0a1b1d49cc055524c4d17303"


def test_bytes_do_not_depend_on_the_process(folder: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from morphlm_generated import write_generated;"
        "write_generated(Path(sys.argv[1]), sentences=400, seed=1)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, check=True)
    assert digest(tmp_path) == digest(folder)


def test_the_first_sentences_do_not_depend_on_how_many_follow() -> None:
    few, many = (list(generate_sentences(replace(SMALL, sentences=count), seed=3)) for count in (300, 700))
    assert many[:300] == few
    assert len(many) == 700


def test_seeds_give_different_languages() -> None:
    first, second = ({stem.form for stem in StemLexicon(SMALL, seed)} for seed in (1, 2))
    assert len(first & second) < 0.1 * len(first)


# Morphology


def test_morphs_join_to_the_word_and_have_valid_labels(words: list[Word]) -> None:
    for word in words:
        assert "".join(morph for morph, _ in word.morphs) == word.form
        assert all(morph for morph, _ in word.morphs)
        assert WELL_FORMED.fullmatch(" ".join(label for _, label in word.morphs)), word


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**64), block=st.integers(1, 50))
def test_every_language_is_sound(seed: int, block: int) -> None:
    for sentence in generate_sentences(replace(SMALL, sentences=60, block=block), seed):
        assert len(sentence.sources) == len(sentence.gloss)
        assert len(sentence.heads) == len(sentence.words)
        assert all(-1 <= source < len(sentence.words) for source in sentence.sources)
        for word in sentence.words:
            assert "".join(morph for morph, _ in word.morphs) == word.form
            assert WELL_FORMED.fullmatch(" ".join(label for _, label in word.morphs)), word


def test_every_kind_of_word_occurs(words: list[Word]) -> None:
    labels = Counter(" ".join(label for _, label in word.morphs) for word in words)
    for pattern in ("STM", "STM SUF", "PRE STM SUF", "STM SUF SUF", "STM SUF STM SUF", "PRE PRE STM SUF SUF"):
        assert labels[pattern] > 20, pattern
    parts = {word.tag.split(".")[0] for word in words}
    assert parts == {"NOUN", "VERB", "ADJ", "ADV", "PRON", "ADP", "DET", "REL", "NUM", "AUX", "CONJ", "PART", "PUNCT"}


def test_suffixes_follow_the_vowels_of_the_stem_before_them(words: list[Word]) -> None:
    for word in words:
        front = False
        for morph, label in word.morphs:
            if label == "STM":
                front = is_front(morph)
            elif label == "SUF":
                assert not set(morph) & set("aou" if front else "eöü"), word


@pytest.mark.parametrize(
    ("before", "suffix", "joined"),
    [
        ("pal", "(O)m", ("pal", "om")),
        ("tel", "(O)m", ("tel", "öm")),
        ("pala", "(O)m", ("pala", "m")),
        ("pala", "U", ("pala", "ju")),
        ("pelö", "i", ("pelö", "ji")),
        ("ruk", "'i", ("ruč", "i")),
        ("ted", "'Ajš", ("tez", "ejš")),
        ("pal", "'i", ("pal", "i")),
        ("pal", "k", ("pal", "k")),
    ],
)
def test_suffixes_change_where_they_meet_a_word(before: str, suffix: str, joined: tuple[str, str]) -> None:
    assert attach(before, suffix, is_front(before)) == joined


def stem(form: str, part: str = "NOUN", topic: int = 0, paradigm: int = 0) -> Stem:
    return Stem(form, form.upper(), part, topic, paradigm, ("pa", "vi"), None)


def test_spelling_of_derived_and_compound_words() -> None:
    agent = morphology.derived(stem("gor", "VERB"), "NOUN", paradigms.DERIVATIONS["NOUN"][2])
    assert morphology.noun_form(agent, 0, 5) == ("goratalkoj", "gor/STM atal/SUF k/SUF oj/SUF", "NOUN.f.sg.ins")
    compound = morphology.compound(stem("pal"), stem("tek", paradigm=2))
    assert morphology.noun_form(compound, 0, 4).analysis == "pal/STM os/SUF teč/STM i/SUF"
    verb = morphology.negated(morphology.with_aspect(morphology.simple(stem("gor", "VERB")), "vi"))
    assert morphology.verb_form(verb, 1, 0, 1).analysis == "ne/PRE vi/PRE gor/STM al/SUF omi/SUF"
    assert verb.gloss == ("not", "GOR", "out")
    best = morphology.compared(morphology.simple(stem("mil", "ADJ")), True)
    assert morphology.adjective_form(best, 1, 0, 0).analysis == "naj/PRE mil/STM ajš/SUF aja/SUF"


# Agreement


def endings(gender: str, number: str, case: str) -> set[str]:
    """How an adjective may end."""
    suffix = paradigms.ADJECTIVE_ENDINGS["mfn".index(gender)][number == "pl"][paradigms.CASES.index(case)]
    return {attach(before, suffix, is_front(before))[1] for before in ("pal", "tel", "pala", "tele")}


def is_conjoined(sentence: GeneratedSentence, head: int) -> bool:
    return any(word.form == "i" for word in sentence.words[head + 1 :])


def test_adjectives_and_demonstratives_agree_with_their_noun(text: list[GeneratedSentence]) -> None:
    checked: Counter[str] = Counter()
    for sentence in text:
        for word, head in zip(sentence.words, sentence.heads, strict=True):
            part, *features = word.tag.split(".")
            if head < 0 or part not in ("ADJ", "DET", "REL") or sentence.words[head].tag.startswith("PRON"):
                continue
            _, *wanted = sentence.words[head].tag.split(".")
            assert word.morphs[-1][0] in endings(*features)
            if part == "REL":  # its case is that of its own clause
                assert features == [*wanted[:2], "nom"]
            elif is_conjoined(sentence, head) and features[1:] == ["pl", "nom"]:  # said of both subjects
                assert features[::2] == wanted[::2]
            else:
                assert features == wanted
            checked[part] += 1
    assert min(checked.values()) > 300
    assert len(checked) == 3


def test_verbs_agree_with_their_subject(text: list[GeneratedSentence]) -> None:
    checked = 0
    for sentence in text:
        for word, head in zip(sentence.words, sentence.heads, strict=True):
            if head < 0 or word.tag.split(".")[0] not in ("VERB", "AUX"):
                continue
            subject = sentence.words[head].tag.split(".")
            person, number, _ = word.tag.split(".")[1:]
            assert person == (subject[1] if subject[0] == "PRON" else "3")
            if not (number == "pl" and is_conjoined(sentence, head)):
                assert number == subject[2]
            checked += 1
    assert checked > 8_000


def test_prepositions_govern_the_case_of_their_noun(text: list[GeneratedSentence]) -> None:
    checked = 0
    for sentence in text:
        for position, word in enumerate(sentence.words):
            if word.tag.startswith("ADP"):
                noun = next(later for later in sentence.words[position:] if later.tag.startswith("NOUN"))
                assert noun.tag.endswith(word.tag.removeprefix("ADP"))
                checked += 1
    assert checked > 5_000


# The other side


def test_alignment_links_every_word_and_leaves_only_articles_alone(text: list[GeneratedSentence]) -> None:
    for sentence in text[:2000]:
        linked, glossed = zip(*sentence.alignment, strict=True)
        assert set(linked) == set(range(len(sentence.words)))
        assert max(glossed) < len(sentence.gloss)
        alone = {token for j, token in enumerate(sentence.gloss) if j not in glossed}
        assert alone <= {"a", "the"}


def test_alignment_is_true_to_the_lexicon(text: list[GeneratedSentence], lexicon: StemLexicon) -> None:
    glosses: dict[str, set[str]] = {}  # of the stems that may be written so, softened or not
    for stem in lexicon:
        for form in {stem.form, attach(stem.form, "'i", False)[0]}:
            glosses.setdefault(form, set()).add(stem.gloss)
    prepositions = {form: gloss for form, gloss, _ in paradigms.PREPOSITIONS}
    for sentence in text[:2000]:
        for i, word in enumerate(sentence.words):
            translation = [sentence.gloss[j] for k, j in sentence.alignment if k == i]
            if word.tag.startswith("ADP"):
                assert translation == [prepositions[word.form]]
            if word.tag.startswith(("NOUN", "VERB", "ADJ")):
                stems = [morph for morph, label in word.morphs if label == "STM"]
                assert all(glosses[stem] & set(translation) for stem in stems)
                assert ("not" in translation) == (("ne", "PRE") in word.morphs)


def test_the_other_side_has_another_order(text: list[GeneratedSentence]) -> None:
    crossing = sum(
        list(sentence.alignment) != sorted(sentence.alignment, key=lambda link: link[1]) for sentence in text
    )
    assert crossing / len(text) == pytest.approx(0.81, abs=0.02)


# Statistics


def test_the_tail_is_long_as_in_czech(text: list[GeneratedSentence]) -> None:
    # Czech novels and news: 19k and 23k types in the first 100k tokens, 64 % and 61 % of them singletons.
    counts = Counter(islice((form for sentence in text for form in sentence.tokens), 100_000))
    assert counts.total() == 100_000
    assert 20_000 < len(counts) < 27_000
    assert 0.60 < sum(count == 1 for count in counts.values()) / len(counts) < 0.75
    assert 10 < sum(len(sentence.words) for sentence in text) / len(text) < 12


def test_sentences_stay_with_their_topic(text: list[GeneratedSentence], lexicon: StemLexicon) -> None:
    topics = {stem.form: stem.topic for stem in lexicon}
    seen: Counter[str] = Counter()
    for sentence in text:
        for word in sentence.words:
            if word.tag.startswith(("NOUN", "VERB")):
                topic = topics.get(word.morphs[0][0])
                if topic is not None:
                    seen["same" if topic == sentence.topic else "general" if topic == GENERAL else "other"] += 1
    # 0.45 of the topic, and a quarter of the 0.15 of its domain; 40,000 words make a standard error of 0.0025.
    assert seen["same"] / seen.total() == pytest.approx(0.4875, abs=0.02)
    assert seen["general"] / seen.total() == pytest.approx(0.40, abs=0.02)


def test_zipf_weights_are_whole_numbers() -> None:
    weights = zipf_weights(1000, 2, 5)
    assert all(weight == int(weight) for weight in weights)
    assert weights[0] / (weights[9] - weights[8]) == pytest.approx((11 / 2) ** 1.25, rel=1e-4)
    assert weights[-1] < 2**53


# Gold tables


def test_segmentation_has_every_form_once_and_sorted(text: list[GeneratedSentence], words: list[Word]) -> None:
    table = list(gold_segmentation(text))
    forms = [form for form, _ in table]
    assert forms == sorted({word.form for word in words})
    assert all("".join(re.findall(r"(\S+)/(?:PRE|STM|SUF)", analysis)) == form for form, analysis in table)


def test_segmentation_is_the_same_from_disk_and_in_any_order(tmp_path: Path, words: list[Word]) -> None:
    in_memory, on_disk = SegmentationTable(tmp_path), SegmentationTable(tmp_path, forms_in_memory=300)
    in_memory.add(words)
    for first in range(len(words), -100, -100):
        on_disk.add(reversed(words[max(first, 0) : first + 100]))
    assert len(on_disk.runs) > 10
    assert list(on_disk.sorted()) == list(in_memory.sorted())


def test_words_spelt_alike_take_the_shorter_analysis(tmp_path: Path) -> None:
    table = SegmentationTable(tmp_path, forms_in_memory=1)
    for analysis in ("on/STM im/SUF", "onim/STM", "oni/STM m/SUF"):
        table.add([Word("onim", analysis, "")])
    assert list(table.sorted()) == [("onim", "onim/STM")]


def test_ratings_are_ordered_as_designed() -> None:
    def sense(lexeme: morphology.Lexeme, case: int = 0) -> Sense:
        return Sense(lexeme, morphology.noun_form(lexeme, 0, case))

    config = GeneratedConfig(topics=8, topics_per_domain=4)
    house, roof, tree, star = stem("pal"), stem("tor"), stem("gul", topic=1), stem("mod", topic=5)
    simple = sense(morphology.simple(house))
    small = morphology.derived(house, "NOUN", paradigms.DERIVATIONS["NOUN"][0])
    dwell = morphology.simple(stem("rag", "VERB"))
    others = [
        (simple, 10.0),
        (sense(morphology.simple(house), case=1), 9.0),
        (sense(small), 9.0),
        (sense(morphology.compound(roof, house)), 6.5),
        (sense(morphology.simple(roof)), 5.0),
        (sense(morphology.simple(roof), case=1), 4.0),
        (Sense(dwell, morphology.verb_form(dwell, 0, 0, 0)), 3.0),
        (sense(morphology.simple(tree), case=1), 2.5),
        (sense(morphology.simple(star), case=1), 1.0),
    ]
    assert [rate(simple, other, config) for other, _ in others] == [rating for _, rating in others]
    assert [rate(other, simple, config) for other, _ in others] == [rating for _, rating in others]


def test_the_general_vocabulary_is_no_topic() -> None:
    first, second = (morphology.simple(stem(form, topic=GENERAL)) for form in ("pal", "tor"))
    nouns = [Sense(lexeme, morphology.noun_form(lexeme, 0, 0)) for lexeme in (first, second)]
    assert rate(nouns[0], nouns[1], GeneratedConfig()) == 2.0


def test_similarity_pairs_cover_all_degrees_and_rare_words(text: list[GeneratedSentence]) -> None:
    pairs = gold_similarity(GeneratedConfig(), seed=1)
    assert len({frozenset((pair.first, pair.second)) for pair in pairs}) == len(pairs) == 420
    assert all(0 <= pair.rating <= 10 and pair.first != pair.second for pair in pairs)
    for low, high in ((0, 2), (2, 4), (4, 6), (6, 8), (8, 10)):
        assert sum(low <= pair.rating < high for pair in pairs) > 40
    counts = Counter(form for sentence in text for form in sentence.tokens)
    frequencies = [counts[word] for pair in pairs for word in (pair.first, pair.second)]
    assert sum(count == 0 for count in frequencies) > 200
    assert sum(0 < count <= 10 for count in frequencies) > 200


# The data set on disk


def test_files_and_their_sizes(folder: Path) -> None:
    sizes = {path.name: len(lines(path)) for path in folder.iterdir()}
    del sizes["segmentation.tsv"]
    assert sizes == {
        "train.gen.txt": 360,
        "train.en.txt": 360,
        "train.alignment.txt": 360,
        "dev.gen.txt": 20,
        "dev.en.txt": 20,
        "test.gen.txt": 20,
        "test.en.txt": 20,
        "similarity.tsv": 420,
    }


@pytest.mark.parametrize(("sentences", "held_out"), [(10, 1), (20, 1), (24, 1), (30, 2), (61, 3)])
def test_a_twentieth_is_held_out_but_never_nothing(tmp_path: Path, sentences: int, held_out: int) -> None:
    write_generated(tmp_path, sentences=sentences)
    sizes = [len(lines(tmp_path / f"{part}.gen.txt")) for part in ("train", "dev", "test")]
    assert sizes == [sentences - 2 * held_out, held_out, held_out]


def test_a_larger_set_extends_every_part_of_a_smaller_one(folder: Path, tmp_path: Path) -> None:
    write_generated(tmp_path, sentences=100, seed=1)
    for part in ("train", "dev", "test"):
        small, large = (lines(place / f"{part}.gen.txt") for place in (tmp_path, folder))
        assert large[: len(small)] == small


def test_text_is_clean(folder: Path) -> None:
    for path in folder.glob("*.txt"):
        content = "".join(block.data.decode() for block in read_blocks(path))  # refuses the reserved marks
        assert content == content.lower() == path.read_text(encoding="utf-8")
        assert not re.search(r"  | $|^ ", content, re.MULTILINE)
        if "alignment" not in path.name:
            assert not re.search(r"\d", content)
            assert set(re.findall(r"[^\w\s]", content)) <= set(".,?!")


def test_alignment_file_fits_the_text(folder: Path) -> None:
    for source, target, links in zip(
        *(lines(folder / f"train.{name}.txt") for name in ("gen", "en", "alignment")), strict=True
    ):
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert {i for i, _ in pairs} == set(range(len(source.split())))
        assert all(0 <= j < len(target.split()) for _, j in pairs)


def test_segmentation_file_has_the_words_of_all_parts(folder: Path) -> None:
    forms = [line.split("\t")[0] for line in lines(folder / "segmentation.tsv")]
    text = " ".join((folder / f"{part}.gen.txt").read_text(encoding="utf-8") for part in ("train", "dev", "test"))
    assert forms == sorted(set(text.split()))


def test_similarity_file_is_the_gold_similarity(folder: Path) -> None:
    expected = [f"{p.first}\t{p.second}\t{p.rating:.2f}" for p in gold_similarity(GeneratedConfig(), seed=1)]
    assert lines(folder / "similarity.tsv") == expected


# What is refused


def test_too_few_sentences_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ask for 10 or more"):
        write_generated(tmp_path, sentences=9)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="empty folder"):
        write_generated(tmp_path, sentences=10)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(InputError, match="empty folder"):
        write_generated(tmp_path / "missing", sentences=10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentences": 0}, "sentences is 0; it must be 1 or more"),
        ({"nouns": 1}, "nouns is 1; it must be 2 or more"),
        ({"derived": 1.5}, "derived is 1.5; it must lie between 0 and 1"),
        ({"topic_share": 0.9, "domain_share": 0.2}, "more than 1 together"),
    ],
)
def test_impossible_configurations_are_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GeneratedConfig(**change)  # type: ignore[arg-type]


def test_negative_seeds_are_refused() -> None:
    with pytest.raises(ConfigError, match="seed is -1"):
        next(generate_sentences(SMALL, -1))


def test_more_pairs_than_the_language_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "MOST_TRIES", 1)
    tiny = GeneratedConfig(topics=1, topics_per_domain=1, general=1, nouns=2, verbs=2, adjectives=2)
    with pytest.raises(ConfigError, match="too small for 2000 pairs"):
        gold_similarity(tiny, 1, pairs=2000)
