from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.files import atomic_writer
from morphlm.text import documents
from morphlm.text.documents import Document, Findings, read_documents
from morphlm.text.encodings import NotTextError

CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy.\nŘeka tekla rychle a děti se smály.\n"
LINES = tuple(CZECH.splitlines())


def read(*paths: str | Path, **options: object) -> tuple[list[Document], Findings, list[str]]:
    findings, said = Findings(), list[str]()
    found = list(read_documents(paths, findings=findings, say=said.append, **options))  # type: ignore[arg-type]
    return found, findings, said


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_objects(path: Path, *objects: object) -> Path:
    return write(path, "".join(json.dumps(value) + "\n" for value in objects))


def test_a_file_is_a_document(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", f"\n{CZECH}\n\n  Konec.  ")
    found, findings, said = read(path)
    assert found == [Document(str(path), 1, (*LINES, "Konec."))]
    assert (findings.documents, said) == (1, [])


def test_wrapped_lines_are_joined_unless_told(tmp_path: Path) -> None:
    prose = "když se všichni konečně dali na cestu, začalo pršet a pršelo celý dlouhý\nden a celou noc.\n\n" * 20
    path = write(tmp_path / "a", prose)
    assert read(path)[0][0].paragraphs[0].endswith("celý dlouhý den a celou noc.")
    assert len(read(path)[0][0].paragraphs) == 20
    assert len(read(path, rejoin=False)[0][0].paragraphs) == 40


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\x85", "\u2028", "\x0c"])
def test_any_line_end(tmp_path: Path, line_end: str) -> None:
    path = write(tmp_path / "a.txt", CZECH.replace("\n", line_end))
    assert read(path)[0] == [Document(str(path), 1, LINES)]


@pytest.mark.parametrize("size", range(1, 6))
def test_line_ends_between_two_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(documents, "SAMPLE_BYTES", size)
    path = write(tmp_path / "a.txt", "Ab\r\ncd\r\n\r\nef\rgh")
    assert read(path)[0][0].paragraphs == ("Ab", "cd", "ef", "gh")


@pytest.mark.parametrize("extension", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compressed_files(tmp_path: Path, extension: str) -> None:
    for name, content in (("a.txt", CZECH), ("b.jsonl", json.dumps({"text": CZECH}))):
        with atomic_writer(tmp_path / f"{name}{extension}") as stream:
            stream.write(content.encode())
    assert [found.paragraphs for found in read(tmp_path)[0]] == [LINES, LINES]


def test_other_encodings_are_said(tmp_path: Path) -> None:
    for name, encoding in (("1", "cp1250"), ("2", "utf-16"), ("3", "utf-8-sig"), ("4", "iso8859-2"), ("5", "cp1250")):
        write(tmp_path / name, (CZECH * 5).encode(encoding))
    found, findings, said = read(tmp_path)
    assert [document.paragraphs for document in found] == [LINES * 5] * 5
    assert {name.partition(" ")[0]: len(files) for name, files in findings.encodings.items()} == {
        "cp1250": 2,
        "utf-16-le": 1,
        "iso8859-2": 1,
    }
    assert re.fullmatch(rf"{tmp_path}/1, {tmp_path}/5: read as cp1250 \(guessed, 9\d % sure\)", said[0])
    assert said[1] == f"{tmp_path}/2: read as utf-16-le"


def test_an_encoding_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "ěš".encode("cp1250"))
    assert read(path, encoding="cp1250")[0][0].paragraphs == ("ěš",)
    with pytest.raises(ConfigError, match="there is no encoding"):
        read(path, encoding="klingon")
    with pytest.raises(NotTextError, match="a PDF"):
        read(write(tmp_path / "b", b"%PDF-1.4"), encoding="utf-8")


def test_bad_bytes_are_removed_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a", CZECH.encode() * 3 + b"a\xfeb\0c\n")
    found, findings, said = read(path)
    assert found[0].paragraphs == (*LINES * 3, "abc")
    assert findings.repairs == {"places that are not utf-8 removed": 1, "NUL characters removed": 1}
    assert said == ["mended: 1 place that is not utf-8 removed", "mended: 1 NUL character removed"]


# ---------------------------------------------------------------- large files


def test_a_large_file_comes_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "PART_CHARACTERS", 1000)
    lines = [f"Věta číslo {number} stojí tady." for number in range(200)]
    path = write(tmp_path / "a.txt", "\n".join(lines))
    found, findings, _ = read(path)
    assert [line for part in found for line in part.paragraphs] == lines
    assert [part.part for part in found] == list(range(len(found)))
    assert len(found) > 3
    assert findings.documents == 1
    assert all(lines[part.first_line - 1] == part.paragraphs[0] for part in found)


def test_parts_end_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "PART_CHARACTERS", 1000)
    lines = ["když se všichni konečně dali na cestu, začalo pršet a pršelo celý dlouhý", "den a celou noc."] * 100
    found = read(write(tmp_path / "a", "\n".join(lines)))[0]
    assert len(found) > 3
    assert all(part.paragraphs[-1].endswith("celý dlouhý den a celou noc.") for part in found)


def test_a_line_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONGEST_PARAGRAPH", 1000)
    path = write(tmp_path / "a", "slovo " * 1000 + "x" * 5000 + "\nkonec")
    found = [paragraph for part in read(path)[0] for paragraph in part.paragraphs]
    assert "".join("".join(found).split()) == "slovo" * 1000 + "x" * 5000 + "konec"
    assert max(map(len, found)) <= 1000
    assert read(path)[0][-1].paragraphs[-1] == "konec"


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wb", 1) as stream:
        for _ in range(60):
            stream.write(("Tohle je jedna věta. " * 50 + "\n").encode() * 1000)  # 66 MB
    code = (
        "import resource; from morphlm.text.documents import read_documents\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"size = sum(len(line) for part in read_documents([{str(path)!r}]) for line in part.paragraphs)\n"
        "print(size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    size, kilobytes = map(int, output.split())
    assert size == 60_000 * (21 * 50 - 1)
    assert kilobytes < 40_000


# ---------------------------------------------------------------- folders


def test_a_folder_is_read_in_order(tmp_path: Path) -> None:
    for name in ("b/2.txt", "a/1.txt", "c.md", "a/b/0", ".hidden/x", "a/.hidden"):
        write(tmp_path / name, f"Text {name}.")
    found, findings, said = read(tmp_path)
    assert [document.paragraphs[0] for document in found] == [
        "Text c.md.",
        "Text a/1.txt.",
        "Text a/b/0.",
        "Text b/2.txt.",
    ]
    assert findings.skipped == {"hidden": [str(tmp_path / ".hidden"), str(tmp_path / "a/.hidden")]}
    assert said == [f"skipped {tmp_path}/.hidden, {tmp_path}/a/.hidden: hidden"]


def test_what_is_no_text_is_skipped_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "Text.")
    for name in ("1.pdf", "2.pdf", "3.pdf", "4.pdf"):
        write(tmp_path / name, b"%PDF-1.4")
    write(tmp_path / "empty.txt", "")
    write(tmp_path / "space.txt", " \n")
    write(tmp_path / "x.json", "{}")
    found, findings, said = read(tmp_path)
    assert [document.paragraphs for document in found] == [("Text.",)]
    assert said[0] == (
        f"skipped {tmp_path}/1.pdf, {tmp_path}/2.pdf, {tmp_path}/3.pdf and 1 more: "
        "this is a PDF; convert it to text first (`pdftotext`)"
    )
    assert findings.skipped["empty"] == [str(tmp_path / "empty.txt"), str(tmp_path / "space.txt")]
    assert "this is one JSON value; write an object a line (.jsonl)" in findings.skipped


def test_links_and_pipes_in_a_folder_do_no_harm(tmp_path: Path) -> None:
    path = write(tmp_path / "in/a.txt", "Text.")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/nowhere").symlink_to(tmp_path / "missing")
    (tmp_path / "in/z-same").symlink_to(path)
    (tmp_path / "in/itself").symlink_to(tmp_path / "in/itself")
    os.link(path, tmp_path / "in/z-hard")
    os.mkfifo(tmp_path / "in/pipe")
    (tmp_path / "in/other").symlink_to(write(tmp_path / "other.txt", "Other."))
    found, findings, _ = read(tmp_path / "in")
    assert [document.paragraphs[0] for document in found] == ["Text.", "Other."]
    assert {why: [Path(name).name for name in names] for why, names in findings.skipped.items()} == {
        "a link to a folder": ["loop"],
        "a link that leads nowhere": ["itself", "nowhere"],
        "a pipe or device": ["pipe"],
        "read already under another name": ["z-hard", "z-same"],
    }


def test_no_text_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: there is no text here \(nothing at all\); name files"):
        read(tmp_path / "empty")
    write(tmp_path / "images/a.png", b"\x89PNG")
    with pytest.raises(InputError, match=r"there is no text here \(skipped .*a.png: this is a PNG image"):
        read(tmp_path / "images")
    with pytest.raises(InputError, match=r"there is no text here \(skipped .*blank: empty\)"):
        read(write(tmp_path / "blank", " \n\t\n"))
    with pytest.raises(InputError, match="no text is named"):
        read()


def test_bad_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read(tmp_path / "missing.txt")
    with pytest.raises(ConfigError, match="put it in a list"):
        list(read_documents("text.txt"))
    with pytest.raises(ConfigError, match="more than once"):
        read("-", "-")
    with pytest.raises(InputError, match="NUL character"):
        read("a\0b")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    good = gzip.compress(CZECH.encode() * 100)
    for name, content in (
        ("a.gz", good[:-20]),
        ("b.gz", good[:60] + b"xxxx" + good[64:]),
        ("c.xz", lzma.compress(b"a")[:-4]),
    ):
        with pytest.raises(InputError, match=rf"{name}: the compressed data is damaged"):
            read(write(tmp_path / name, content))
    with pytest.raises(InputError, match=r"d: this is bzip2 data, but the name does not say so"):
        read(write(tmp_path / "d", bz2.compress(b"text")))
    with pytest.raises(NotTextError, match="a tar archive"):
        read(write(tmp_path / "e.gz", gzip.compress(b"\0" * 257 + b"ustar")))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "in/a.txt", "Text.").chmod(0)
    with pytest.raises(InputError, match=r"a.txt: it cannot be read \(Permission denied\)"):
        read(tmp_path / "in")


def test_tags_are_warned_of(tmp_path: Path) -> None:
    page = "<html><body><p class='a'>Some text here.</p>\n<p>More <b>text</b> here.</p></body></html>\n" * 20
    _, findings, said = read(
        write(tmp_path / "a.html", page), write(tmp_path / "b.txt", "If a <b and c> d, then no.\n" * 30)
    )
    assert findings.marked_up == [str(tmp_path / "a.html")]
    assert said == [
        f"warning: {tmp_path}/a.html looks like HTML or XML, whose tags are read as words; "
        "take the text out first (`pandoc -t plain`, `html2text`)"
    ]


# ---------------------------------------------------------------- .jsonl


def test_an_object_a_line(tmp_path: Path) -> None:
    path = write_objects(
        tmp_path / "a.jsonl", {"id": 1, "text": "One.\nTwo."}, {"text": "Three.", "title": "x"}, {"text": ""}
    )
    found, findings, _ = read(path)
    assert found == [Document(str(path), 1, ("One.", "Two.")), Document(str(path), 2, ("Three.",))]
    assert findings.repairs == {"objects without text left out": 1}
    assert findings.documents == 2


def test_the_field_of_the_text(tmp_path: Path) -> None:
    path = write_objects(tmp_path / "a.ndjson", {"id": 1, "body": "Body."}, {"body": None}, {"body": "B."})
    assert [document.paragraphs for document in read(path)[0]] == [("Body.",), ("B.",)]  # the only string
    path = write_objects(tmp_path / "b.jsonl", {"title": "Title.", "body": "Body."})
    assert read(path, field="title")[0][0].paragraphs == ("Title.",)
    with pytest.raises(
        InputError, match=r"b.jsonl:1: it is not clear which field is the text; .*field= \(here: title, body\)"
    ):
        read(path)
    with pytest.raises(InputError, match=r"b.jsonl:1: there is no field 'text'; .*\(here: title, body\)"):
        read(path, field="text")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no json", "is no JSON"),
        ('{"text": "a"', "is no JSON"),
        ("[1]", "is no JSON object"),
        ('"text"', "is no JSON object"),
        ('{"text": 5}', "the field 'text' is no string"),
        ('{"text": "\\ud800"}', "half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", r"\(here: none\)"),
    ],
)
def test_bad_objects_are_refused_with_their_line(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "a.jsonl", f'{{"text": "good"}}\n\n{line}\n')
    with pytest.raises(InputError, match=rf"a.jsonl:3: .*{message}"):
        read(path)


# ---------------------------------------------------------------- standard input


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BufferedReader(io.BytesIO(data))


@pytest.mark.parametrize(
    ("data", "field", "paragraphs"),
    [
        (CZECH.encode(), None, [LINES]),
        (CZECH.encode("cp1250") * 3, None, [LINES * 3]),
        (gzip.compress(CZECH.encode()), None, [LINES]),
        (b'{"text": "One."}\n{"text": "Two."}\n', None, [("One.",), ("Two.",)]),
        (b'{ "a": "One.", "b": "Two."}\n', "b", [("Two.",)]),
        (b"{this} is text}\n", None, [("{this} is text}",)]),
    ],
)
def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, data: bytes, field: str | None, paragraphs: list[tuple[str, ...]]
) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    found = read("-", field=field)[0]
    assert [document.paragraphs for document in found] == paragraphs
    assert {document.source for document in found} == {"<stdin>"}


# ---------------------------------------------------------------- nothing is lost


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffd\xad¬"), max_size=30), max_size=8
    )
)
def test_nothing_but_white_space_is_lost(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = write(tmp_path_factory.mktemp("text") / "a.txt", "\ufeff" + "\n".join(lines))
    wanted = "".join("".join(lines).split())
    try:
        found = [paragraph for document in read(path, encoding="utf-8")[0] for paragraph in document.paragraphs]
    except InputError:
        assert not wanted or path.read_bytes()[3:].startswith((b"%PDF", b"GIF8"))
        return
    assert "".join("".join(found).split()) == wanted
