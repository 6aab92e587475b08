from __future__ import annotations

import codecs
import io
import zipfile
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.text import encodings
from morphlm.text.encodings import (
    UNSURE,
    Encoding,
    MendingDecoder,
    NotTextError,
    check_encoding,
    given_encoding,
    is_mostly_utf8,
    recognise_encoding,
)

CZECH = (
    "Příliš žluťoučký kůň úpěl ďábelské ódy, a tak šel dál přes ztemnělé město.\nŘeka tekla rychle; děti se smály.\n"
)
TURKISH = "Şoför ağır ağır yürüdü, İstanbul'un ışıkları söndü.\nÇocuklar gülüyordu, güneş doğmuştu artık.\n"
GREEK = "Ο ήλιος έδυε πίσω από τα βουνά και η θάλασσα ήταν ήσυχη.\nΤα παιδιά έπαιζαν στην άμμο.\n"
RUSSIAN = "Солнце медленно садилось за горы, и море было спокойно.\nДети играли на песке, смеялись и кричали.\n"
FINNISH = "Aurinko laski hitaasti vuorten taakse, ja meri oli tyyni.\nLapset leikkivät hiekalla ja söivät mansikoita.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CZECH, "cp1250"),
        (CZECH, "iso8859-2"),
        (TURKISH, "cp1254"),
        (TURKISH, "iso8859-9"),
        (GREEK, "cp1253"),
        (GREEK, "iso8859-7"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp866"),
        (FINNISH, "iso8859-1"),
        (FINNISH, "cp1252"),
    ],
)
def test_encodings_of_one_byte(text: str, encoding: str) -> None:
    found = recognise_encoding(text.encode(encoding), "text")
    assert text.encode(encoding).decode(found.name) == text
    assert 0 < found.certainty < 1
    assert found.format() == f"{found.name} (guessed, {100 * found.certainty:.0f} % sure)"


@pytest.mark.parametrize("text", [CZECH, GREEK, RUSSIAN, "plain\n"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
@pytest.mark.parametrize("marked", [True, False])
def test_unicode_with_and_without_mark(text: str, encoding: str, marked: bool) -> None:
    mark = "\ufeff".encode(encoding) if marked else b""
    assert recognise_encoding(mark + text.encode(encoding), "text") == Encoding(encoding, 1.0, mark)


def test_plain_ascii_is_utf8() -> None:
    assert recognise_encoding(b"plain text\n", "text") == Encoding("utf-8")
    assert recognise_encoding(b"", "text").is_utf8
    assert Encoding("utf-8").format() == "utf-8"


def test_few_bad_bytes_do_not_make_it_another_encoding() -> None:
    data = CZECH.encode()
    assert recognise_encoding(data[:30] + b"\xff" + data[30:], "text").is_utf8
    assert is_mostly_utf8(data[:-3])  # cut off within a character or not
    assert not is_mostly_utf8(CZECH.encode("cp1250"))


def zipped(name: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, "content")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", r"a PDF; convert it to text first \(`pdftotext`\)"),
        (zipped("word/document.xml"), r"Word document \(docx\); convert"),
        (zipped("other"), "a zip archive; unpack it"),
        (b"{\\rtf1 text", "an RTF document; convert"),
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image; name a text file"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Microsoft Office"),
        (b"\0" * 257 + b"ustar", "a tar archive; unpack"),
        (b"\x7fELF\x02", "a program"),
        (b"\x1f\x8b\x08", "gzip data; decompress"),
        (bytes(range(256)) * 20, r"no text \(NUL bytes in it\); name a text file"),
        (b"\x01\x02\x03" * 100, r"no text \(control characters in it\)"),
    ],
)
def test_other_files_are_refused_by_name(data: bytes, message: str) -> None:
    with pytest.raises(NotTextError, match=message) as caught:
        recognise_encoding(data, "some/file")
    assert str(caught.value).startswith("some/file: ")


def test_a_given_encoding() -> None:
    assert given_encoding("latin2", b"") == Encoding("iso8859-2")
    assert given_encoding("UTF8", codecs.BOM_UTF8 + b"a") == Encoding("utf-8", mark=codecs.BOM_UTF8)
    assert given_encoding("utf-16", codecs.BOM_UTF16_BE + b"\0a").name == "utf-16-be"
    for name in ("nothing", "hex", "", "utf-8\0", "idna", "punycode", "unicode_escape", "undefined", "rot13", None):
        with pytest.raises(ConfigError, match="there is no encoding"):
            given_encoding(name, b"")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "codec"),
    [("windows-1250", "cp1250"), ("ISO_8859-2", "iso8859-2"), ("KOI8-R", "koi8-r"), ("utf-8-sig", "utf-8"),
     ("UTF-16LE", "utf-16-le"), ("shift_jis", "shift-jis"), ("mac-latin2", "mac-latin2")],
)  # fmt: skip
def test_names_of_encodings_as_people_write_them(name: str, codec: str) -> None:
    assert check_encoding(name) == codec


@pytest.mark.parametrize(("name", "near"), [("cp125", "cp125"), ("latin-22", "latin2"), ("kio8-r", "koi8-r")])
def test_unknown_encodings_are_refused_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no encoding '{name}'; do you mean .*{near}"):
        check_encoding(name)


def test_no_guess_mixes_scripts_within_words() -> None:
    """chardet took these for Greek: `luouθkύ kως`."""
    lines = [f"Žluťoučký kůň úpěl ďábelské ódy, řekl {number}." for number in range(30)]
    for encoding in ("cp1250", "iso8859-2"):
        assert recognise_encoding("\n".join(lines).encode(encoding), "text").name == encoding
    for text, encoding in (
        ("Съешь же ещё этих мягких булок, IT-отдел.", "cp1251"),
        ("Ξεσκεπάζω τη βδελυγμία", "cp1253"),
    ):
        assert recognise_encoding("\n".join([text] * 9).encode(encoding), "text").name in (encoding, "iso8859-7")


# ---------------------------------------------------------------- decoding


def decoded(pieces: list[bytes], encoding: str = "utf-8") -> tuple[str, dict[str, int]]:
    repairs: Counter[str] = Counter()
    decoder = MendingDecoder(Encoding(encoding), "text", repairs)
    return "".join(map(decoder.decode, pieces)) + decoder.decode(b"", final=True), dict(repairs)


@given(st.text(), st.sampled_from(["utf-8", "utf-16-le", "utf-32-be"]), st.integers(1, 5))
def test_text_is_decoded_in_pieces(text: str, encoding: str, size: int) -> None:
    data = text.encode(encoding)
    pieces = [data[begin : begin + size] for begin in range(0, len(data), size)]
    assert decoded(pieces, encoding)[0] == text.replace("\0", "").replace("\ufffd", "")


@given(st.binary())
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    try:
        encoding = recognise_encoding(data, "text")
        text, _ = decoded([data.removeprefix(encoding.mark)], encoding.name)
    except InputError:
        return
    text.encode()  # no lone surrogates
    assert "\0" not in text and "\ufffd" not in text


def test_what_is_mended_is_counted() -> None:
    data = CZECH.encode()
    text, repairs = decoded([data + b"a\xffb\0c \xef\xbf\xbd\n", data])
    assert text == CZECH + "abc \n" + CZECH
    assert repairs == {
        "places that are not utf-8 removed": 1,
        "NUL characters removed": 1,
        "replacement characters (U+FFFD) removed": 1,
    }
    assert decoded([b"ab\x81c"], "cp1250") == ("abc", {"places that are not cp1250 removed": 1})


def test_text_that_begins_as_ascii() -> None:
    assert decoded([b"plain\n" * 10, CZECH.encode("cp1250")]) == ("plain\n" * 10 + CZECH, {})
    assert decoded([b"plain\n", CZECH.encode()]) == ("plain\n" + CZECH, {})


def test_text_in_two_encodings_is_refused() -> None:
    with pytest.raises(InputError, match=r"text:3: it begins in UTF-8 and goes on in another encoding \(cp1250\?\)"):
        decoded([CZECH.encode(), CZECH.encode("cp1250")])


def test_a_guess_is_never_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    """chardet takes some damaged text for UTF-16, which Python does not decode without a byte order mark."""
    guesses = [{"encoding": "UTF-16", "confidence": 0.9}, {"encoding": "nonsense", "confidence": 0.8}]
    monkeypatch.setattr(encodings, "_detect_all", lambda: lambda _: guesses)
    with pytest.raises(NotTextError, match="no text in any known encoding"):
        recognise_encoding(b"\xff\xe1\x81 abc", "text")
    guesses.append({"encoding": "windows-1250", "confidence": 0.1})
    assert recognise_encoding(b"\xff\xe1\x81 abc", "text").name == "cp1250"


def test_few_bytes_make_an_unsure_guess() -> None:
    assert recognise_encoding("caf\xe9 and more".encode("cp1252"), "text").certainty <= UNSURE
    assert recognise_encoding((CZECH * 5).encode("cp1250"), "text").certainty > UNSURE
