"""Preparing text: exact tokens, the filters at their limits, the record, and work spread over processes."""

import dataclasses
import functools
import itertools
import json
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from morphlm import processes
from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.processes import ITEMS_AHEAD, ordered_map
from morphlm.text.parallel_pairs import PairOptions, pair_options, prepare_pair_files
from morphlm.text.preparation import Counts, Preparation, PrepareOptions, paper_options, read_preparation, record_path
from morphlm.text.prepare import BlockPreparer, pieces_of, prepare_files, prepare_line, prepare_lines
from morphlm.text.reading import MAX_LINE_BYTES, RESERVED, Block
from morphlm.text.tokenise import moses_tokenise

PLAIN = PrepareOptions(tokeniser="none")

reference = functools.cache(MosesTokenizer)


def prepared(text: str, language: str | None = None, **steps: Any) -> list[str]:
    options = PrepareOptions(language, **{"tokeniser": "none" if language is None else "moses", **steps})
    return [" ".join(tokens) for tokens in prepare_lines(text.split("\n"), options)]


# --- the steps of a line


@pytest.mark.parametrize(
    ("language", "raw", "expected"),
    [
        (
            "cs",
            "Pan Dr. Novák řekl: „Přijdu v 19.30, tj. po č. 5“ (asi).",
            "pan dr. novák řekl : „ přijdu v 00.00 , tj. po č. 0 “ ( asi ) .",
        ),
        (
            "de",
            "Das kostet z.B. 1.234,50 € – sagte Dr. Müller's Frau, oder?",
            "das kostet z.b. 0.000,00 € – sagte dr. müller ' s frau , oder ?",
        ),
        (
            "en",
            "Don't worry, Mr. O'Neil's dogs aren't here... It's 5 o'clock!",
            "don 't worry , mr. o 'neil 's dogs aren 't here ... it 's 0 o 'clock !",
        ),
        (
            "fr",
            "L'homme qu'on a vu aujourd'hui n'est pas l'ami de M. Dupont.",
            "l' homme qu' on a vu aujourd' hui n' est pas l' ami de m. dupont .",
        ),
        (
            "ru",
            "А. С. Пушкин, IBM-совместимый ПК, Windows XP и 1990-е гг., за 5 %.",
            "а. с. пушкин , <unk> пк , <unk> <unk> и 0000-е гг. , за 0 % .",
        ),
    ],
)
def test_exact_tokens_by_language(language: str, raw: str, expected: str) -> None:
    assert prepared(raw, language) == [expected]


def test_markup_that_looks_like_our_marks_is_taken_apart_by_the_tokeniser() -> None:
    assert prepared("a<s>b </S>, <UNK>", "cs") == ["a < s > b < / s > , < unk >"]


def test_each_step_can_be_left_out() -> None:
    raw = "Ve\u030cta 12, JEDNA"
    assert prepared(raw) == ["věta 00, jedna"]
    assert prepared(raw, case="keep") == ["Věta 00, JEDNA"]
    assert prepared(raw, digits=False) == ["věta 12, jedna"]
    assert prepared(raw, nfc=False) == ["ve\u030cta 00, jedna"]
    assert prepared(raw, "cs", case="keep", digits=False) == ["Věta 12 , JEDNA"]


def test_digits_of_every_script_become_zero() -> None:
    decimal = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isdecimal()]
    assert len(decimal) >= 600
    assert prepared(" ".join(decimal), max_tokens=0) == [" ".join("0" * len(decimal))]
    assert prepared("½ ² Ⅳ") == ["½ ² ⅳ"]  # numbers, but not digits


def test_lowercasing_ends_in_normal_form_c() -> None:
    assert prepared("J\u030c") == ["\u01f0"]  # the capital has no composed form, the small letter has one
    assert prepared("PR\u030cI\u0301LIS\u030c") == ["příliš"]


def test_white_space_of_any_kind_separates_and_invisible_characters_vanish() -> None:
    assert prepared("a\u00a0b\u2003c\u3000d\x85e\x0bf\t g\u2028h\u200bi") == ["a b c d e f g h i"]
    assert prepared("be\x07ll don\u00adau \ufeffx y\u200e") == ["bell donau x y"]
    assert prepared("می\u200cخواهم") == ["می\u200cخواهم"]  # the zero-width non-joiner is spelling


def test_a_line_of_a_python_file_object_loses_its_newline() -> None:
    assert list(prepare_lines(["Jedna\n", "\n", " \u00a0\n", "dvě\r\n"], PLAIN)) == [["jedna"], ["dvě"]]


@settings(deadline=None)
@given(st.text(), st.sampled_from([PLAIN, paper_options("cs"), paper_options("en", nfc=False), paper_options("ru")]))
def test_tokens_are_never_empty_blank_or_our_marks(line: str, options: PrepareOptions) -> None:
    tokens = prepare_line(line, dataclasses.replace(options, cyrillic_share=0.0), Counter())
    assert all(tokens)
    assert not any(c.isspace() or unicodedata.category(c) == "Cc" for token in tokens for c in token)
    assert not set(tokens) & set(RESERVED)
    assert " ".join(tokens).split() == tokens


@settings(deadline=None)
@given(st.text())
def test_preparing_twice_changes_nothing_more(line: str) -> None:
    once = prepare_line(line, PLAIN, Counter())
    assert prepare_line(" ".join(once), PLAIN, Counter()) == once


@settings(deadline=None)
@given(
    st.text(st.sampled_from("aBčДß19. .., '’-–()\"<>&%$€:;!?/…\u0301中")),
    st.sampled_from(["cs", "de", "en", "es", "fr", "ru", "xx"]),
)
def test_the_quick_tokeniser_is_the_moses_tokeniser(line: str, language: str) -> None:
    assert moses_tokenise(line, language).split() == reference(language).tokenize(line, escape=False)


@pytest.mark.parametrize("language", ["cs", "de", "en", "es", "fr", "ru"])
def test_the_quick_tokeniser_knows_every_abbreviation(language: str) -> None:
    moses = reference(language)
    for prefix in [*moses.NONBREAKING_PREFIXES, "z.B", "1.2", "2"]:
        for line in (f"{prefix}. A {prefix}.", f"{prefix.split(' ')[0]}. 5", f"x {prefix}. b"):
            assert moses_tokenise(line, language).split() == moses.tokenize(line, escape=False)


# --- marks


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<unk>", "<S>", "<un\u212a>", "<\x01s>", "a\u00a0<s>\u00a0b"])
def test_marks_are_refused_with_their_place(mark: str) -> None:
    with pytest.raises(InputError, match=r"^<lines>:2: .*a mark that morphlm sets itself"):
        list(prepare_lines(["dobrá", f"x {mark} y"], PLAIN))


def test_marks_in_the_input_are_refused_even_where_the_tokeniser_would_split_them() -> None:
    with pytest.raises(InputError, match="<lines>:1:"):
        list(prepare_lines(["x <s> y"], paper_options("cs")))


def test_marks_that_come_about_are_removed_and_counted_when_mending() -> None:
    block = Block(b"a <S> b <UNK>\n<S>\n", 1, "f")
    result = BlockPreparer(PLAIN, mend=True)(block)
    assert result.texts == (b"a b\n",)
    assert result.repairs == {"reserved marks removed": 3}
    assert result.counts == (Counts(lines=2, kept=1, empty=1, tokens=2, sentences=1),)


# --- the Cyrillic filter


@pytest.mark.parametrize(
    ("token", "kept"),
    [
        ("привет", True),
        ("hello", False),
        ("абвгx", True),  # 4 of 5: exactly 0.8
        ("абвx", False),  # 3 of 4
        ("абвгдежзxy", True),  # 8 of 10
        ("абвгдежзиxyz", False),  # 9 of 12
        ("т.е.", True),  # only letters count
        ("0000-е", True),
        ("0000", True),  # no letters: no word of another script
        (",", True),
        ("№", True),
        ("²", True),
        ("c++", False),
        ("ѣӑꙋ", True),  # old and extended Cyrillic
        ("за\u0301мок", True),
    ],
)
def test_cyrillic_share(token: str, kept: bool) -> None:
    assert prepared(token, cyrillic_share=0.8) == [token if kept else "<unk>"]


def test_the_cyrillic_filter_is_on_for_russian_only() -> None:
    assert paper_options("ru").required_cyrillic == 0.8
    assert paper_options("cs").required_cyrillic == 0
    assert prepared("слово word", "ru") == ["слово <unk>"]
    assert prepared("слово word", "ru", cyrillic_share=0.0) == ["слово word"]
    assert prepared("слово word", "uk") == ["слово word"]


# --- the length filter


def test_eighty_tokens_are_kept_and_eighty_one_dropped() -> None:
    lines = [" ".join(["slovo"] * count) for count in (79, 80, 81)]
    assert [line.count("slovo") for line in prepared("\n".join(lines), long_sentences="drop")] == [79, 80]
    assert [line.count("slovo") for line in prepared("\n".join(lines))] == [79, 80, 40, 41]
    assert [line.count("slovo") for line in prepared("\n".join(lines), max_tokens=0)] == [79, 80, 81]
    assert prepared("a b\na", max_tokens=1, long_sentences="drop") == ["a"]
    assert prepared("a b\na", max_tokens=1) == ["a", "b", "a"]


def test_tokens_are_counted_after_tokenising() -> None:
    assert prepared(" ".join(["slovo"] * 79) + " konec.", "cs") == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": None, "tokeniser": "moses"},
        {"tokeniser": "mosses"},
        {"case": "upper"},
        {"long_sentences": "shorten"},
        {"language": "Czech"},
        {"language": "cs", "max_tokens": -1},
        {"language": "cs", "cyrillic_share": 1.5},
        {"language": "cs", "cyrillic_share": float("nan")},
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        PrepareOptions(**wrong)


# --- files


def test_files_are_prepared_as_lines_are(tmp_path: Path) -> None:
    lines = ["Jedna, 1.", "", "Dvě!", " \u00a0", "x " * 90, "Tři"]
    (tmp_path / "a").write_text("\n".join(lines[:3]) + "\n")
    (tmp_path / "b").write_text("\n".join(lines[3:]))  # no newline at the end
    options = paper_options("cs")
    preparation = prepare_files([tmp_path / "a", tmp_path / "b"], tmp_path / "out", options)
    expected = "".join(" ".join(tokens) + "\n" for tokens in prepare_lines(lines, options))
    assert (tmp_path / "out").read_text() == expected == "jedna , 0 .\ndvě !\ntři\n"
    assert preparation.counts == Counts(lines=6, kept=3, empty=2, too_long=1, tokens=7, sentences=3, lost_tokens=90)
    assert preparation.bytes == len(expected.encode())


@pytest.mark.parametrize("extension", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compressed_files_go_in_and_out(tmp_path: Path, extension: str) -> None:
    raw, out, again = (tmp_path / f"{name}{extension}" for name in ("raw", "out", "again"))
    (tmp_path / "plain").write_text("Ahoj, SVĚTE\n" * 50)
    prepare_files([tmp_path / "plain"], raw, paper_options("cs", case="keep"))
    prepare_files([raw], out, PLAIN)
    prepare_files([out], again, PLAIN)
    assert out.read_bytes() == again.read_bytes()
    prepare_files([again], tmp_path / "final", PLAIN)
    assert (tmp_path / "final").read_text() == "ahoj , světe\n" * 50
    record = read_preparation(out)
    assert record is not None
    assert record.bytes == out.stat().st_size


def test_standard_input_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="more than once"):
        prepare_files(["-", "-"], tmp_path / "out", PLAIN)


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("ab č\n"), max_size=40), max_size=20))
def test_pieces_are_the_block_with_the_right_line_numbers(texts: list[str]) -> None:
    data = "".join(text + "\n" for text in texts).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("morphlm.text.prepare.PIECE_BYTES", 7)
        pieces = list(pieces_of(Block(data, 5, "f")))
    assert b"".join(piece.data for piece in pieces) == data
    assert all(piece.data.endswith(b"\n") for piece in pieces)
    for piece, before in zip(pieces, itertools.accumulate((p.data for p in pieces), initial=b""), strict=False):
        assert piece.first_line == 5 + before.count(b"\n")


# --- processes


def blocks(count: int) -> list[Block]:
    return [Block(f"Věta {n}, část A.\nřádek {n * n}\n\n".encode(), 3 * n + 1, "f") for n in range(count)]


def test_the_number_of_processes_does_not_show() -> None:
    work, items = BlockPreparer(paper_options("cs", digits=False)), blocks(40)
    expected = [work(item) for item in items]
    assert expected[7].texts == ("věta 7 , část a .\nřádek 49\n".encode(),)
    assert list(ordered_map(work, items, 1, patience=0)) == expected
    assert list(ordered_map(work, items, 3, patience=0)) == expected


def test_what_a_worker_refuses_arrives_after_the_results_before_it() -> None:
    items = blocks(9)
    items[6] = Block(b"x\n<S>\n", 19, "f")
    results = ordered_map(BlockPreparer(PLAIN), items, 2, patience=0)
    assert len(list(itertools.islice(results, 6))) == 6
    with pytest.raises(InputError, match=r"^f:20: "):
        next(results)


def test_items_that_cannot_be_read_are_refused_after_the_results_before_them() -> None:
    def failing() -> Iterator[Block]:
        yield from blocks(5)
        raise InputError("broken", source="f", line=9)

    results = ordered_map(BlockPreparer(PLAIN), failing(), 2, patience=0)
    assert len(list(itertools.islice(results, 5))) == 5
    with pytest.raises(InputError, match=r"^f:9: broken"):
        next(results)


def test_reading_stays_a_bounded_way_ahead() -> None:
    taken = itertools.count()
    items = (block for block, _ in zip(itertools.cycle(blocks(1)), taken, strict=False))
    results = ordered_map(BlockPreparer(PLAIN), items, 2, patience=0)
    assert len(list(itertools.islice(results, 10))) == 10
    results.close()
    assert next(taken) <= 10 + 2 * ITEMS_AHEAD + 3


def test_one_process_and_small_inputs_start_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_WorkerPool", None)
    assert len(list(ordered_map(BlockPreparer(PLAIN), blocks(5), 1, patience=0))) == 5
    assert len(list(ordered_map(BlockPreparer(PLAIN), blocks(5), 8, patience=60))) == 5


# --- the record


@settings(deadline=None)
@given(
    st.builds(
        Preparation,
        options=st.builds(
            PrepareOptions,
            language=st.sampled_from(["cs", "ru", "en"]),
            nfc=st.booleans(),
            tokeniser=st.sampled_from(["words", "moses", "none"]),
            case=st.sampled_from(["lower", "keep"]),
            long_sentences=st.sampled_from([None, "split", "drop"]),
            digits=st.booleans(),
            max_tokens=st.integers(0, 1000),
            cyrillic_share=st.none() | st.floats(0, 1),
        ),
        counts=st.builds(Counts, *[st.integers(0, 10**12)] * 6),
        bytes=st.integers(0, 2**62),
        repairs=st.dictionaries(st.text(max_size=99), st.integers(1, 2**62)),
        max_ratio=st.none() | st.floats(1, 9),
        version=st.text(max_size=99),
        sacremoses=st.none() | st.text(max_size=99),
    )
)
def test_the_record_round_trips(preparation: Preparation) -> None:
    assert Preparation.from_dict(json.loads(preparation.to_json())) == preparation
    assert Preparation.from_dict(json.loads(json.dumps(preparation.to_dict()))) == preparation


@pytest.mark.parametrize(
    ("options", "tokeniser", "normalisation"),
    [
        (paper_options("cs"), "moses.cs", "lc+digits"),
        (paper_options("ru"), "moses.ru", "lc+digits+cyrillic0.8"),
        (paper_options("ru", tokeniser="none", cyrillic_share=0.0), "none", "lc+digits"),
        (PrepareOptions(tokeniser="none", case="keep", digits=False), "none", "none"),
        (paper_options("de", digits=False, nfc=False), "moses.de", "lc+nonfc"),
    ],
)
def test_signatures(options: PrepareOptions, tokeniser: str, normalisation: str) -> None:
    preparation = Preparation(options, Counts(), 0)
    assert (preparation.options.tokeniser_signature, preparation.options.normalisation_signature) == (
        tokeniser,
        normalisation,
    )


def test_the_record_is_found_beside_the_text_only_while_the_text_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("Ahoj\n")
    preparation = prepare_files([tmp_path / "raw"], tmp_path / "out", paper_options("cs"))
    assert preparation.sacremoses is not None
    assert read_preparation(tmp_path / "out") == read_preparation(str(tmp_path / "out")) == preparation
    assert read_preparation(tmp_path / "raw") is None
    assert read_preparation("-") is None
    long_name = tmp_path / ("x" * 250)  # its record would have a name that is too long
    long_name.write_text("a b\n")
    assert read_preparation(long_name) is None
    with (tmp_path / "out").open("a") as file:
        file.write("x\n")
    assert read_preparation(tmp_path / "out") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-9],
        lambda text: text.replace('"format": 1', '"format": 2'),
        lambda text: text.replace('"kept": 1', '"kept": "1"'),
        lambda text: text.replace('"kept"', '"lept"'),
        lambda text: text.replace('"max_tokens": 80', '"max_tokens": "80"'),
        lambda text: text.replace('"language": "cs"', '"language": 7'),
        lambda text: "[]",
        lambda text: "\udcff",
    ],
)
def test_a_damaged_record_is_refused_by_name(tmp_path: Path, damage: Callable[[str], str]) -> None:
    (tmp_path / "raw").write_text("Ahoj\n")
    prepare_files([tmp_path / "raw"], tmp_path / "out", paper_options("cs"))
    path = record_path(tmp_path / "out")
    path.write_bytes(damage(path.read_text()).encode(errors="surrogateescape"))
    with pytest.raises(FormatError, match=rf"^{path}: "):
        read_preparation(tmp_path / "out")


# --- parallel text


def write_sides(folder: Path, source: list[str], target: list[str]) -> tuple[Path, Path]:
    paths = folder / "raw.en", folder / "raw.cs"
    for path, lines in zip(paths, (source, target), strict=True):
        path.write_text("".join(line + "\n" for line in lines))
    return paths


def prepare_sides(
    folder: Path, source: list[str], target: list[str], options: PairOptions, **more: Any
) -> tuple[list[list[str]], tuple[Preparation, Preparation]]:
    outs = folder / "out.en", folder / "out.cs"
    records = prepare_pair_files(write_sides(folder, source, target), outs, options, **more)
    return [out.read_text().splitlines() for out in outs], records


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1), st.sampled_from([0, 1, 2.5, 3]))
def test_pairs_stay_together(lengths: list[tuple[int, int]], max_ratio: float) -> None:
    sides = [[" ".join([f"w{number}"] * pair[side]) for number, pair in enumerate(lengths)] for side in (0, 1)]
    options = pair_options((None, None), tokeniser="none", digits=False, max_tokens=10, max_ratio=max_ratio)
    expected = [
        number
        for number, (one, other) in enumerate(lengths)
        if min(one, other) >= 1 and max(one, other) <= 10
        if not max_ratio or abs(one - other) <= 5 or max(one, other) <= max_ratio * min(one, other)
    ]
    with tempfile.TemporaryDirectory() as folder:
        outs, records = prepare_sides(Path(folder), sides[0], sides[1], options)
    for side, out in enumerate(outs):
        assert out == [sides[side][number] for number in expected]
        assert records[side].counts.kept == len(expected)
        assert records[side].counts.tokens == sum(lengths[number][side] for number in expected)
    counts = records[0].counts
    assert counts.lines == len(lengths) == counts.kept + counts.empty + counts.too_long + counts.length_ratio


@pytest.mark.parametrize(
    ("one", "other", "fate"),
    [
        (1, 6, "kept"),
        (1, 7, "length_ratio"),
        (3, 9, "kept"),
        (3, 10, "length_ratio"),
        (26, 80, "length_ratio"),
        (27, 80, "kept"),
        (27, 81, "too_long"),
        (80, 80, "kept"),
        (0, 81, "empty"),
    ],
)
def test_pair_filters_at_their_limits(tmp_path: Path, one: int, other: int, fate: str) -> None:
    options = pair_options((None, None), tokeniser="none")
    for first, second in ((one, other), (other, one)):
        _, records = prepare_sides(tmp_path, ["x " * first], ["x " * second], options)
        assert getattr(records[0].counts, fate) == getattr(records[1].counts, fate) == 1


def test_each_side_has_its_language_and_its_record(tmp_path: Path) -> None:
    options = pair_options(("en", "ru"), tokeniser="moses")
    outs, records = prepare_sides(tmp_path, ["It's IBM."], ["Это IBM."], options)
    assert outs == [["it 's ibm ."], ["это <unk> ."]]
    assert [record.options.tokeniser_signature for record in records] == ["moses.en", "moses.ru"]
    assert [record.options.normalisation_signature for record in records] == ["lc+digits", "lc+digits+cyrillic0.8"]
    assert (read_preparation(tmp_path / "out.en"), read_preparation(tmp_path / "out.cs")) == records
    assert records[1].max_ratio == 3


def test_many_pairs_over_processes_keep_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.text.parallel_pairs.PIECE_BYTES", 500)
    monkeypatch.setattr("morphlm.text.parallel_pairs.ordered_map", lambda *a: ordered_map(*a, patience=0))
    sides = [[f"{word} {n}." if n % 7 else "" for n in range(400)] for word in ("line", "řádek")]
    options = pair_options(("en", "cs"), digits=False)
    outs, _ = prepare_sides(tmp_path, sides[0], sides[1], options, processes=2)
    assert outs[1] == [f"řádek {n} ." for n in range(400) if n % 7]
    assert outs[0] == [line.replace("řádek", "line") for line in outs[1]]


@pytest.mark.parametrize(("source", "target"), [(3, 5), (5, 3), (1, 2000)])
def test_unequal_numbers_of_lines_are_refused_with_both(tmp_path: Path, source: int, target: int) -> None:
    with pytest.raises(InputError, match=rf"raw\.en has {source:,} lines and .*raw\.cs has {target:,},"):
        prepare_sides(tmp_path, ["a"] * source, ["b"] * target, pair_options((None, None), tokeniser="none"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw.cs", "raw.en"]


def test_a_bad_line_names_its_side_and_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.text.parallel_pairs.PIECE_BYTES", 8)  # two pairs
    with pytest.raises(InputError, match=r"raw\.cs:6: "):
        prepare_sides(tmp_path, ["a"] * 9, [*"abcde", "<S>", *"ghi"], pair_options((None, None), tokeniser="none"))


def test_mending_never_shifts_pairs(tmp_path: Path) -> None:
    paths = write_sides(tmp_path, ["a", "b", "c"], ["a", "b", "c"])
    paths[0].write_bytes(b"\xef\xbb\xbfa\r\nb\r\n<s> c\0\r\n")
    options, outs = pair_options((None, None), tokeniser="none"), (tmp_path / "out.en", tmp_path / "out.cs")
    record, _ = prepare_pair_files(paths, outs, options, mend=True)
    assert outs[0].read_text() == outs[1].read_text() == "a\nb\nc\n"
    assert record.repairs["CRLF line ends replaced"] == 3
    paths[1].write_bytes(b"a\n\xff\nc\n")  # the pair of a line that cannot be used is left out
    record, _ = prepare_pair_files(paths, outs, options, mend=True)
    assert outs[0].read_text() == outs[1].read_text() == "a\nc\n"
    assert record.counts.empty == 1
    paths[1].write_bytes(b"a\n" + b"x" * 3 * MAX_LINE_BYTES + b"\nc\n")
    prepare_pair_files(paths, outs, options, mend=True)
    assert outs[0].read_text() == outs[1].read_text() == "a\nc\n"


@pytest.mark.parametrize("outs", [("same", "same"), ("-", "x"), ("x", "-")])
def test_pairs_go_to_two_files(tmp_path: Path, outs: tuple[str, str]) -> None:
    with pytest.raises(ConfigError):
        prepare_pair_files(write_sides(tmp_path, ["a"], ["b"]), outs, pair_options((None, None), tokeniser="none"))


def test_pair_options_out_of_range_are_refused() -> None:
    for wrong in ({"max_ratio": 0.5}, {"max_ratio": float("nan")}, {"cyrillic_share": 0.8}):
        with pytest.raises(ConfigError):
            pair_options(("en", "cs"), **wrong)
    assert pair_options(("en", "ru"), cyrillic_share=0.5).target.required_cyrillic == 0.5
    assert pair_options(("en", "ru"), tokeniser="moses").target.required_cyrillic == 0.8
    assert pair_options(("en", "ru")).target.required_cyrillic == 0.0
