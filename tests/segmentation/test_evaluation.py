"""Gold files of every format, and boundary scores as exact numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.segmentation.evaluation import BoundaryScores, boundaries, evaluate
from morphlm.segmentation.gold import FORMATS, Gold, detect_format, read_gold
from morphlm.segmentation.morphemes import Morpheme, Segmentation

FILES = {  # format -> a file, and what it means
    "sigmorphon": (
        "ani\tani\t000\nukrátit\tu @@krát @@i @@t\t100\nnovou\tnov @@ý @@ou\t100\n",
        {"ani": (("ani",),), "ukrátit": (("u", "krát", "i", "t"),)},
        1,
    ),
    "morphochallenge": (
        "eno\teno:eno_N\nmisled\tmis:mis_p led:lead_V ~:+PAST\nbit\tbit:bite_V ~:+PAST, b:b_X it:it_N\n"
        "eu:n\teu:eu_N :n:+GEN\nmen\tman:man_N ~:+PL\nskim-milk\tskim:skim_V -:~ milk:milk_N\n",
        {
            "eno": (("eno",),),
            "misled": (("mis", "led"),),
            "bit": (("bit",), ("b", "it")),
            "eu:n": (("eu", ":n"),),
            "skim-milk": (("skim", "-", "milk"),),
        },
        1,
    ),
    "slashed": (
        "дом\tдом:ROOT\nвтычка\tв:PREF/тыч:ROOT/к:SUFF/а:END\nдома\tдом:ROOT/у:END\n",
        {"дом": (("дом",),), "втычка": (("в", "тыч", "к", "а"),)},
        1,
    ),
    "morfessor": (
        "# Output from Morfessor\n12 un/PRE + happy/STM\n1 +\n3 a/b\n1 x + 1/2\n2 unhapp/STM + y/SUF\n",
        {"unhappy": (("un", "happy"), ("unhapp", "y")), "+": (("+",),), "a/b": (("a/b",),), "x1/2": (("x", "1/2"),)},
        0,
    ),
    "labelled": (
        ",\t,/STM\nnepal\tne/PRE pal/STM\n\npalom\tpal/STM om/SUF\n",
        {",": ((",",),), "nepal": (("ne", "pal"),), "palom": (("pal", "om"),)},
        0,
    ),
}


def write(folder: Path, content: str | bytes, name: str = "gold.tsv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("given_format", [True, False])
def test_every_format_is_read_and_detected(tmp_path: Path, format: str, given_format: bool) -> None:
    content, analyses, dropped = FILES[format]
    gold = read_gold(write(tmp_path, content), format=format if given_format else None)
    assert dict(gold.analyses) == analyses
    assert (gold.format, gold.dropped, len(gold), list(gold)) == (format, dropped, len(analyses), list(analyses))


@pytest.mark.parametrize(
    ("lines", "format"),
    [
        (["eno\teno:eno_N"], "morphochallenge"),
        (["ani\tani"], "sigmorphon"),
        (["дом\tдом:ROOT", "ani\tani"], "morphochallenge"),
        (["plain text"], None),
        (["word"], None),
        ([], None),
    ],
)
def test_files_without_a_sign(lines: list[str], format: str | None) -> None:
    assert detect_format(lines) == format


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("sigmorphon", "word"),
        ("sigmorphon", "word\ta  @@b"),
        ("sigmorphon", "\ta"),
        ("morphochallenge", "word\tword"),
        ("morphochallenge", "word\ta:b c"),
        ("slashed", "word\ta:b/:c"),
        ("slashed", "word\ta:b/c:"),
        ("morfessor", "un/PRE + happy/STM"),
        ("morfessor", "1 "),
        ("morfessor", "1 a +  + b"),
        ("labelled", "word\tword"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, format: str, line: str) -> None:
    first = FILES[format][0].splitlines()[1]
    path = write(tmp_path, f"{first}\n{line}\n")
    with pytest.raises(InputError, match=r"gold\.tsv:2: not `") as error:
        read_gold(path, format=format)
    assert FORMATS[format].expected in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("some plain text\n", "gold.tsv:1: no gold segmentations"),
        ("\n\n", "gold.tsv:1: no gold segmentations"),
        ("", "gold.tsv: the file is empty"),
        ("men\tman:man_N ~:+PL\n", "gold.tsv: no segmentation joins"),
        ("ani\tani\r\n", "gold.tsv:1: there is a carriage return"),
        (b"ani\tani\nk\xe4y\tk\xe4y\n", "gold.tsv:2: byte 0xe4 is not UTF-8"),
    ],
)
def test_what_is_no_gold_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_gold(write(tmp_path, content))
    assert message in str(error.value)


def test_unknown_formats_and_encodings_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, FILES["labelled"][0])
    with pytest.raises(ConfigError, match="choose one of morfessor, "):
        read_gold(path, format="mystery")
    with pytest.raises(ConfigError, match="utf-8 or latin-1"):
        read_gold(path, encoding="koi8-r")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("told", [True, False])
def test_a_morpho_challenge_file_may_be_latin_1(tmp_path: Path, encoding: str, told: bool) -> None:
    path = write(tmp_path, "vaatteiden\tvaatte:vaate_N i:+PL den:+GEN\nkäy\tkä:käy_V y:y\n".encode(encoding))
    gold = read_gold(path, encoding=encoding if told else None)
    assert gold["käy"] == (("kä", "y"),)


def test_words_are_lowercased_unless_told_otherwise(tmp_path: Path) -> None:
    path = write(tmp_path, "gUC\tg:g UC:UC\nGuc\tGu:gu c:c\nΟΔΟΣ\tΟΔ:od ΟΣ:os\nΣΑΣ\tΣ:s ΑΣ:as\n")
    assert dict(read_gold(path).analyses) == {
        "guc": (("g", "uc"), ("gu", "c")),
        "οδος": (("οδ", "ος"),),
        "σας": (("σ", "ας"),),
    }
    assert read_gold(path, lowercase=False)["gUC"] == (("g", "UC"),)


def test_words_are_in_normal_form_c(tmp_path: Path) -> None:
    gold = read_gold(write(tmp_path, "s\u030ckola\ts\u030ckol @@a\n"))
    assert gold["škola"] == (("škol", "a"),)


# ---------------------------------------------------------------- scores


def gold_of(**analyses: str) -> Gold:
    split = {word: tuple(tuple(one.split()) for one in text.split(", ")) for word, text in analyses.items()}
    return Gold(split, "gold.tsv", "labelled")


def segmented(**analyses: str) -> Segmentation:
    return Segmentation(
        {word: tuple(Morpheme(form, "STM") for form in text.split()) for word, text in analyses.items()}
    )


def test_scores_are_exact() -> None:
    gold = gold_of(misled="mis led", unhappy="un happ y", dog="dog", absent="ab sent")
    scores = evaluate(segmented(misled="misl ed", unhappy="un happy", dog="d o g", other="o ther"), gold)
    assert scores == BoundaryScores(correct=1, predicted=4, expected=3, words=3, missing=1, source="gold.tsv")
    assert (scores.precision, scores.recall, scores.f1) == (1 / 4, 1 / 3, 2 / 7)
    assert scores.to_json() == {
        "gold": "gold.tsv",
        "precision": 1 / 4,
        "recall": 1 / 3,
        "f1": 2 / 7,
        "boundaries_correct": 1,
        "boundaries_predicted": 4,
        "boundaries_gold": 3,
        "words": 3,
        "missing": 1,
    }
    assert scores.format() == (
        "gold.tsv\n"
        "  boundaries  precision 0.2500, recall 0.3333, F1 0.2857\n"
        "  counts      1 correct of 4 predicted and 3 in gold\n"
        "  words       3 compared, 1 of gold not in the segmentation"
    )


@pytest.mark.parametrize(
    ("found", "alternatives", "correct", "expected"),
    [
        ("ab cd e", "abcde, ab cd e, ab cde", 2, 2),  # the exact one, wherever it stands
        ("ab cde", "abcde, ab c d e", 0, 0),  # one wrong is better than two missed
        ("ab cde", "abcde, ab c de", 1, 2),  # of equally many errors, the one with more right
        ("abcde", "a bcde, ab c de", 0, 1),
    ],
)
def test_the_alternative_that_fits_best_counts(found: str, alternatives: str, correct: int, expected: int) -> None:
    scores = evaluate(segmented(abcde=found), gold_of(abcde=alternatives))
    assert (scores.correct, scores.expected) == (correct, expected)


def test_a_plain_mapping_can_be_evaluated() -> None:
    assert evaluate({"ab": [Morpheme("a"), Morpheme("b")]}, gold_of(ab="a b")).f1 == 1.0


@pytest.mark.parametrize(
    ("found", "gold", "rates"),
    [("ab", "ab", (1.0, 1.0, 1.0)), ("ab", "a b", (1.0, 0.0, 0.0)), ("a b", "ab", (0.0, 1.0, 0.0))],
)
def test_rates_of_nothing(found: str, gold: str, rates: tuple[float, float, float]) -> None:
    scores = evaluate(segmented(ab=found), gold_of(ab=gold))
    assert (scores.precision, scores.recall, scores.f1) == rates


def test_gold_of_other_words_is_refused() -> None:
    with pytest.raises(InputError, match=r"gold\.tsv: none of these words"):
        evaluate(segmented(ab="ab"), gold_of(cd="c d"))


def test_morphemes_that_do_not_give_the_word_are_refused() -> None:
    with pytest.raises(ConfigError, match="misled are miss led"):
        evaluate(segmented(misled="miss led"), gold_of(misled="mis led"))


cuts = st.sets(st.integers(1, 7))


def cut_word(places: set[int]) -> tuple[str, ...]:
    ends = [*sorted(places), 8]
    return tuple("abcdefgh"[begin:end] for begin, end in zip([0, *ends], ends, strict=False))


@given(cuts, st.lists(cuts, min_size=1, max_size=4))
def test_counts_agree_with_a_plain_reference(found: set[int], alternatives: list[set[int]]) -> None:
    assert boundaries(cut_word(found)) == found
    gold = Gold({"abcdefgh": tuple(cut_word(places) for places in alternatives)}, "gold.tsv", "labelled")
    scores = evaluate({"abcdefgh": [Morpheme(form) for form in cut_word(found)]}, gold)
    right = [(len(found & places) - 0.5 * (len(found) + len(places)), len(found & places)) for places in alternatives]
    best = max(range(len(right)), key=lambda k: right[k])
    assert (scores.correct, scores.predicted) == (right[best][1], len(found))
    assert scores.expected == len(alternatives[best])
