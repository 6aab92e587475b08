"""`morphlm prepare` as a command: pipes, files, refusals with their exit status, interruption."""

import gzip
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import morphlm
from morphlm.cli.main import run
from morphlm.text.preparation import read_preparation

# The command, starting its processes with the first piece of text where it would else wait whether they are worth it.
IMPATIENT = """
from morphlm.cli.main import run
from morphlm.processes import ordered_map
ordered_map.__kwdefaults__["patience"] = 0
run()
"""
COMMAND = [sys.executable, "-c", IMPATIENT, "prepare"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(morphlm.__file__).parents[1]), "PYTHONUNBUFFERED": ""}
SENTENCE = "Pan Dr. Novák přišel v 19.30, řekl „ahoj“ a odešel.\n"
PREPARED = "pan dr . novák přišel v 00.00 , řekl „ ahoj “ a odešel .\n"
Prepare = Callable[..., tuple[Any, str, str]]


@pytest.fixture
def prepare(capfd: pytest.CaptureFixture[str]) -> Prepare:
    """Run the command in this process: exit status, standard output, standard error."""

    def call(*arguments: str | Path) -> tuple[Any, str, str]:
        with pytest.raises(SystemExit) as exit_:
            run(["prepare", "--processes", "1", *map(str, arguments)])
        out, err = capfd.readouterr()
        return exit_.value.code, out, err

    return call


def start(*arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    """Run the command in a process group of its own, as a shell does."""
    return subprocess.Popen([*COMMAND, *arguments], env=ENVIRONMENT, start_new_session=True, **streams)


# --- what goes in and comes out


def test_files_to_standard_output(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(SENTENCE)
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"Druh\xc3\xa1, 2.\n\n"))
    status, out, err = prepare(tmp_path / "a", tmp_path / "b.gz", "--language", "cs")
    assert (status, out) == (0, PREPARED + "druhá , 0 .\n")
    assert err == "prepared: 2 of 3 lines kept (1 empty), 19 tokens; words1.cs; lc+digits; at most 80 tokens\n"


def test_every_step_is_an_option(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("Ve\u030cta 5, IBM\n" + "x " * 81 + "\n")
    off = ["--no-tokenise", "--no-lowercase", "--no-digits", "--no-nfc", "--max-tokens", "0"]
    assert prepare(tmp_path / "a", *off)[1] == "Ve\u030cta 5, IBM\n" + " ".join(["x"] * 81) + "\n"
    drop = ["--tokeniser", "none", "--max-tokens", "2", "--long", "drop"]
    status, out, err = prepare(tmp_path / "a", *drop)
    assert (status, out) == (0, "")
    assert err.startswith("WARNING: 100 % of the tokens are lost: 84 in sentences too long; --long split keeps them\n")
    assert prepare(tmp_path / "a", *drop[:-1], "split")[1].startswith("věta\n0, ibm\nx x\n")
    moses = ["-l", "ru", "--tokeniser", "moses"]
    assert prepare(tmp_path / "a", *moses)[1] == "<unk> 0 , <unk>\n"
    assert prepare(tmp_path / "a", *moses, "--cyrillic-share", "0")[1] == "věta 0 , ibm\n"
    assert prepare(tmp_path / "a", "-l", "ru", "--case", "keep")[1].startswith("Věta 0 , IBM\n")


def test_output_file_with_its_record(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(SENTENCE)
    status, out, _ = prepare(tmp_path / "a", "-l", "cs", "-o", tmp_path / "out", "--record", tmp_path / "record")
    assert (status, out, (tmp_path / "out").read_text()) == (0, "", PREPARED)
    record = read_preparation(tmp_path / "out")
    assert record is not None
    assert record.options.tokeniser_signature == "words1.cs"
    assert record.to_dict() == json.loads((tmp_path / "record").read_text())


def test_parallel_text(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "en").write_text("It's one.\nlost\n\n" + "long " * 9 + "\n")
    (tmp_path / "cs").write_text("To je jedna.\n\nztraceno\nkrátké\n")
    outs = tmp_path / "out.en", tmp_path / "out.cs"
    status, out, err = prepare(
        "--parallel", tmp_path / "en", tmp_path / "cs", "--languages", "en,cs", "--out-pair", *outs
    )
    assert (status, out) == (0, "")
    assert [path.read_text() for path in outs] == ["it 's one .\n", "to je jedna .\n"]
    assert err.splitlines()[0] == (
        f"prepared {outs[0]}: 1 of 4 lines kept (2 empty, 1 of unequal length), 4 tokens; "
        "lost: 10 tokens (71.43 %); words1.en; lc+digits; at most 80 tokens"
    )


def test_mending_repairs_and_reports(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfjedna\r\ndv\0e\r\n\xff\r\n<s> t\xc5\x99i <S>\r\n")
    status, out, err = prepare(tmp_path / "a", "--no-tokenise", "--mend")
    assert (status, out) == (0, "jedna\ndve\ntři\n")
    for repair in (
        "1 byte order mark removed",
        "4 CRLF line ends replaced",
        "1 NUL byte removed",
        "1 line dropped for bad UTF-8",
        "2 reserved marks removed",
    ):
        assert f"mended: {repair}" in err


def test_a_language_without_abbreviations_is_mentioned(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    moses = ["-l", "sw", "--tokeniser", "moses"]
    assert prepare(tmp_path / "a", *moses)[2].startswith("the tokeniser knows no abbreviations of sw;")


def test_the_language_is_recognised_or_general_rules_apply(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("İstanbul'da IŞIK yandı ve herkes çok mutlu oldu, çünkü bugün bir bayram vardı.\n")
    _, out, err = prepare(tmp_path / "a")
    assert out.startswith("istanbul'da ışık yandı ve")
    assert err.startswith("the text seems to be Turkish (tr); if not, name the language with --language\n")
    (tmp_path / "a").write_text("x 1\n")
    assert prepare(tmp_path / "a")[2].startswith("the language is not clear")
    assert prepare(tmp_path / "a", "-l", "Czech")[1] == "x 0\n"


def test_text_of_windows_is_taken_as_it_is(prepare: Prepare, tmp_path: Path) -> None:
    """Every other command read it, and `prepare`, which is for raw text, refused it without --mend."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfAhoj.\r\nTady.\r\n")
    status, out, err = prepare(tmp_path / "a", "-l", "cs")
    assert (status, out) == (0, "ahoj .\ntady .\n")
    assert err.endswith("; mended: 2 CRLF line ends replaced; mended: 1 byte order mark removed\n")


# --- what is refused

BAD = {
    "bad UTF-8": ("a", b"dobr\xc3\xa1\nv\xecta\n", ":2: byte 0xec is not UTF-8"),
    "NUL": ("a", b"ahoj\nv\0ta\n", ":2: there is a NUL byte"),
    "empty": ("a", b"", ": the file is empty"),
    "long line": ("a", b"x\n" + b"a" * 1_000_000 + b"\n", ":2: the line has 1,000,000 bytes or more"),
    "long line, no end": ("a", b"x\n" + b"a" * 2_000_000, ":2: the line has 1,000,000 bytes or more"),
    "<s>": ("a", b"x\nx <s> y\n", ":2: the text contains <s>"),
    "</s>": ("a", b"x </s>\n", ":1: the text contains </s>"),
    "<unk>": ("a", b"<unk>\n", ":1: the text contains <unk>"),
    "<S> lowercased": ("a", b"x\nx <S> y\n", ":2: the text would contain <s>"),
    "gzip named .txt": ("a.txt", gzip.compress(b"ahoj\n"), ": this is gzip data"),
    "text named .gz": ("a.gz", b"ahoj\n", ": the name says gzip"),
    "gzip cut off": ("a.gz", gzip.compress(os.urandom(9000).hex().encode())[:5000], ": the compressed data is damaged"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("parallel", [False, True])
def test_bad_input_gets_one_line_and_harms_nothing(prepare: Prepare, tmp_path: Path, case: str, parallel: bool) -> None:
    name, content, what = BAD[case]
    path, good, out = tmp_path / name, tmp_path / "good", tmp_path / "out"
    path.write_bytes(content)
    good.write_text("x\n" * 2)
    out.write_text("what was here before\n")
    where = ["--parallel", good, path, "--out-pair", tmp_path / "other", out] if parallel else [path, "-o", out]
    status, stdout, err = prepare("--no-tokenise", *where)
    assert (status, stdout) == (2, "")
    assert err.startswith(f"morphlm: {path}{what}")
    assert err.count("\n") == 1
    assert out.read_text() == "what was here before\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "good", "out"])


def test_files_that_cannot_be_opened(prepare: Prepare, tmp_path: Path) -> None:
    for path, what in ((tmp_path / "none", "there is no such file"), (tmp_path, "this is a folder")):
        status, out, err = prepare(path, "-l", "cs")
        assert (status, out) == (2, "")
        assert err.startswith(f"morphlm: {path}: {what}")
        assert err.count("\n") == 1


def test_a_place_that_cannot_be_written(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    status, _, err = prepare(tmp_path / "a", "-l", "cs", "-o", tmp_path / "none" / "out")
    assert status == 2
    assert err.startswith(f"morphlm: {tmp_path / 'none' / 'out'}: cannot write here")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["a", "--tokeniser", "moses"], "the Moses tokeniser needs the language"),
        (["a", "-l", "cz"], "'cz' is no language code; do you mean cs (Czech)?"),
        (["a", "-l", "cs", "--max-tokens", "-1"], "max-tokens -1 is below 0"),
        (["a", "-l", "ru", "--cyrillic-share", "80"], "cyrillic-share 80.0 is not a share"),
        (["a", "-l", "cs", "--languages", "en,cs"], "--languages and --out-pair are for parallel text"),
        (["--parallel", "a", "b", "--languages", "en,cs"], "parallel text needs two files to write"),
        (["--parallel", "a", "b", "--out-pair", "c", "d", "--languages", "en"], "--languages en is not a pair"),
        (["--parallel", "a", "b", "--out-pair", "c", "d"], "the tokeniser needs both languages"),
        (["--parallel", "a", "b", "--out", "c"], "parallel text takes --languages and --out-pair"),
        (["-", "-", "-l", "cs"], "standard input ('-') is named more than once"),
    ],
)
def test_options_that_make_no_sense(prepare: Prepare, arguments: list[str], what: str) -> None:
    status, out, err = prepare(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"morphlm: {what}")
    assert err.count("\n") == 1


# --- in a pipe


def test_a_pipe_gives_the_same_bytes_with_any_number_of_processes() -> None:
    text = "".join(SENTENCE.replace("19", str(n)) for n in range(4_000))
    outputs = [
        subprocess.run(
            [*COMMAND, "-l", "cs", "--no-digits", "--processes", str(processes)],
            input=text.encode(),
            env=ENVIRONMENT,
            capture_output=True,
            check=True,
        ).stdout
        for processes in (1, 2)
    ]
    assert outputs[0] == outputs[1]
    lines = outputs[0].decode().splitlines()
    assert len(lines) == 4_000
    assert lines[3_999] == PREPARED.strip().replace("00.00", "3999.30")


def test_a_slow_pipe_is_answered_line_by_line() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start("-l", "cs", "--processes", "2", **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(SENTENCE.encode())
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 60)[0]  # an answer before the input has ended
            assert process.stdout.readline().decode() == PREPARED
        out, err = process.communicate()
    assert (process.returncode, out) == (0, b"")
    assert err.startswith(b"prepared: 3 of 3 lines kept")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    (tmp_path / "large").write_text(SENTENCE * 200_000)
    return tmp_path / "large"


def test_a_reader_that_goes_away_ends_it_quietly(large: Path) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(str(large), "-l", "cs", "--processes", "2", **pipes) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().decode() == PREPARED
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_ctrl_c_ends_it_quickly_without_tracebacks(large: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("what was here before\n")
    process = start(str(large), "-l", "cs", "-o", str(out), "--processes", "2", stderr=subprocess.PIPE)
    while not any(file.name.endswith(".partial") and file.stat().st_size for file in tmp_path.iterdir()):
        assert process.poll() is None
        time.sleep(0.05)
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # the whole group, as a terminal does it
    err = process.communicate()[1].decode()
    assert time.monotonic() - begin < 5
    assert process.returncode == 130
    assert err.split() == ["morphlm:", "interrupted"]
    assert out.read_text() == "what was here before\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["large", "out"]


def test_what_a_killed_run_leaves_is_removed_by_the_next(large: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(str(large), "-l", "cs", "-o", str(out), "--processes", "2")
    while not any(file.name.endswith(".partial") and file.stat().st_size for file in tmp_path.iterdir()):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    assert any(file.name.endswith(".partial") for file in tmp_path.iterdir())
    (tmp_path / "small").write_text(SENTENCE)
    assert start(str(tmp_path / "small"), "-l", "cs", "-o", str(out)).wait() == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["large", "out", "out.prepared.json", "small"]


@pytest.mark.parametrize("encoding", ["cp1250", "iso8859-2", "utf-16"])
def test_mending_does_not_spoil_text_in_another_encoding(prepare: Prepare, tmp_path: Path, encoding: str) -> None:
    lines = [f"Žluťoučký kůň úpěl ďábelské ódy, řekl {number}." for number in range(30)]
    (tmp_path / "a").write_bytes("\n".join(lines).encode(encoding))
    (tmp_path / "b").write_text("\n".join(lines))
    status, out, err = prepare(tmp_path / "a", "-l", "cs", "--mend")
    assert (status, out) == (0, prepare(tmp_path / "b", "-l", "cs")[1])
    assert f"{tmp_path}/a: read as {encoding}" in err


def test_lines_that_mending_drops_are_said_loudly(prepare: Prepare, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"jedna\n" * 50 + b"\xff\n" * 5)
    assert (
        "WARNING: 9 % of the lines were dropped: 5, for bad UTF-8" in prepare(tmp_path / "a", "-l", "cs", "--mend")[2]
    )


@pytest.mark.parametrize("given", [["--split"], ["-l", "ja"], []])
def test_languages_without_spaces_are_refused_with_the_cure(prepare: Prepare, tmp_path: Path, given: list[str]) -> None:
    (tmp_path / "a").write_text("今日は天気がいいですね。散歩に行きましょう。\n" * 5)
    status, out, err = prepare(tmp_path / "a", *given)
    assert (status, out) == (2, "")
    assert "without spaces between words" in err and "prepare the text with --tokeniser none" in err
    assert prepare(tmp_path / "a", "-l", "ja", "--tokeniser", "none")[0] == 0
