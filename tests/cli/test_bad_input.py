"""Every command that reads text gets every bad input: one line, status 2, no traceback, old output untouched."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import train_ngram
from morphlm.segmentation.segmenter import train_segmenter
from morphlm.vocabulary.corpus import read_corpus
from tests.conftest import Outcome

Command = Callable[..., Outcome]

GOOD = b"pro novou \xc5\xa1kolu\npro \xc5\xa1kolu\n"
BAD: dict[str, tuple[bytes, str]] = {  # content, where the message says it is
    "utf8": (GOOD + b"bad \xff\n", "text.txt:3: "),
    "nul": (GOOD + b"b\0d\n", "text.txt:3: "),
    "crlf": (b"pro novou\r\n", "text.txt:1: "),
    "bom": (b"\xef\xbb\xbf" + GOOD, "text.txt:1: "),
    "empty": (b"", "text.txt: "),
    "line of 1 MB": (GOOD + b"word " * 200_000 + b"\n", "text.txt:3: "),
    "line of 1 MB, no spaces": (GOOD + b"x" * (1 << 20), "text.txt:3: "),
    "<s>": (GOOD + b"a <s> b\n", "text.txt:3: "),
    "</s>": (GOOD + b"</s>\n", "text.txt:3: "),
    "<unk>": (b"<unk>\n" + GOOD, "text.txt:1: "),
    "gzip": (gzip.compress(GOOD), "text.txt: "),
}
COMMANDS: dict[str, list[str]] = {
    "prepare": ["prepare", "TEXT", "--language", "cs", "--out", "OUT", "--processes", "1"],
    "prepare source": ["prepare", "--parallel", "TEXT", "GOOD", "--languages", "cs,en", "--out-pair", "OUT", "OUT2"],
    "prepare target": ["prepare", "--parallel", "GOOD", "TEXT", "--languages", "cs,en", "--out-pair", "OUT", "OUT2"],
    "data get": ["data", "get", "TEXT", "OUT-DIR", "--language", "cs"],
    "vocab": ["vocab", "TEXT", "--out", "OUT"],
    "train mkn": ["train", "mkn", "--train", "TEXT", "--out", "MODEL", "--arpa", "OUT"],
    "train mkn second file": ["train", "mkn", "--train", "GOOD", "--train", "TEXT", "--out", "MODEL", "--arpa", "OUT"],
    "train mkn vocabulary": ["train", "mkn", "--train", "GOOD", "--vocab", "TEXT", "--out", "MODEL", "--arpa", "OUT"],
    "segment": ["segment", "--train", "TEXT", "--out", "OUT"],
    "segment a vocabulary": ["segment", "--vocab", "TEXT", "--out", "OUT"],
    "segment against gold": ["segment", "--train", "GOOD", "--gold", "TEXT", "--out", "OUT"],
    "segment new words": ["segment", "--load", "SEGMENTER", "TEXT", "--out", "OUT"],
    "factors of a vocabulary": ["factors", "ngrams:3-5", "--vocab", "TEXT"],
    "factors of a table": ["factors", "table:TEXT", "--vocab", "VOCAB"],
    "factors of Morfessor": ["factors", "morfessor:TEXT", "--vocab", "VOCAB"],
    "factors of CoNLL-U": ["factors", "conllu:TEXT", "--vocab", "VOCAB"],
    "classes": ["classes", "--train", "TEXT", "--out", "OUT"],
    "classes of a vocabulary": ["classes", "--train", "GOOD", "--vocab", "TEXT", "--out", "OUT"],
    "classes from a file": ["classes", "--train", "GOOD", "--read", "TEXT", "--out", "OUT"],
    "classes from paths": ["classes", "--train", "GOOD", "--read", "TEXT", "--format", "paths", "--out", "OUT"],
    "train clbl": ["train", "clbl", "--train", "TEXT", "--dev", "DEV", "--out", "MODEL"],
    "train clbl second file": ["train", "clbl", "--train", "GOOD", "--train", "TEXT", "--dev", "DEV", "--out", "MODEL"],
    "train clbl development": ["train", "clbl", "--train", "GOOD", "--dev", "TEXT", "--out", "MODEL"],
    "train clbl test": ["train", "clbl", "--train", "GOOD", "--dev", "DEV", "--test", "TEXT", "--out", "MODEL"],
    "train lbl vocabulary": ["train", "lbl", "--train", "GOOD", "--dev", "DEV", "--vocab", "TEXT", "--out", "MODEL"],
    "train clbl++ factors": [
        *["train", "clbl++", "--train", "GOOD", "--dev", "DEV", "--factors", "table:TEXT", "--out", "MODEL"]
    ],
    "train clbl classes": ["train", "clbl", "--train", "GOOD", "--dev", "DEV", "--classes", "TEXT", "--out", "MODEL"],
    "train all": ["train", "--all", "--train", "TEXT", "--dev", "DEV", "--out", "OUT-DIR"],
    "train all development": ["train", "--all", "--train", "GOOD", "--dev", "TEXT", "--out", "OUT-DIR"],
    "tune": ["tune", "lbl++", "--train", "TEXT", "--dev", "DEV", "--stages", "OUT-DIR"],
    "tune development": ["tune", "lbl++", "--train", "GOOD", "--dev", "TEXT", "--stages", "OUT-DIR"],
    "mix": ["mix", "MODEL", "MODEL", "--dev", "TEXT", "--out", "OUT-DIR"],
    "mix test": ["mix", "MODEL", "MODEL", "--weights", "0.5,0.5", "--test", "TEXT", "--out", "OUT-DIR"],
    "mix of an ARPA file": ["mix", "MODEL", "TEXT", "--dev", "GOOD", "--out", "OUT-DIR"],
    "ppl": ["ppl", "MODEL", "TEXT"],
    "ppl per token": ["ppl", "MODEL", "TEXT", "--per-token"],
    "ppl of an ARPA file": ["ppl", "TEXT", "GOOD"],
    "score": ["score", "MODEL", "TEXT"],
    "score per token": ["score", "MODEL", "TEXT", "--per-token", "--json"],
    "score second file": ["score", "MODEL", "GOOD", "TEXT"],
    "rescore": ["rescore", "MODEL", "TEXT"],
    "rescore a table": ["rescore", "MODEL", "TEXT", "--format", "tsv"],
    "rescore weights": ["rescore", "MODEL", "GOOD", "--weights", "TEXT"],
    "similarity": ["similarity", "MODEL", "TEXT"],
    "similarity of a file of vectors": ["similarity", "TEXT", "PAIRS"],
    "export": ["export", "MODEL", "OUT", "--extra-words", "TEXT"],
    "translate align source": ["translate", "align", "TEXT", "GOOD", "--out", "OUT"],
    "translate align target": ["translate", "align", "GOOD", "TEXT", "--out", "OUT"],
    "translate align pairs": ["translate", "align", "TEXT", "--out", "OUT"],
    "translate extract source": ["translate", "extract", "OUT-DIR", "--from", "TEXT", "GOOD", "GOOD"],
    "translate extract target": ["translate", "extract", "OUT-DIR", "--from", "GOOD", "TEXT", "GOOD"],
    "translate prepare source": [
        *["translate", "prepare", "TEXT", "GOOD", "--languages", "cs,en", "--out", "OUT", "OUT2", "--processes", "1"]
    ],
    "translate prepare target": [
        *["translate", "prepare", "GOOD", "TEXT", "--languages", "cs,en", "--out", "OUT", "OUT2", "--processes", "1"]
    ],
    "translate build source": ["translate", "build", "TEXT", "GOOD", "--no-tokenise", "--out", "OUT-DIR"],
    "translate build target": ["translate", "build", "GOOD", "TEXT", "--no-tokenise", "--out", "OUT-DIR"],
    "translate build development": [
        *["translate", "build", "GOOD", "GOOD", "--no-tokenise", "--dev", "TEXT", "GOOD", "--out", "OUT-DIR"]
    ],
    "report": ["report", "MODEL", "--test", "TEXT", "--out", "OUT"],
    "report on an ARPA file": ["report", "MODEL", "TEXT", "--test", "GOOD", "--out", "OUT"],
    "analyse frequency": ["analyse", "frequency", "MODEL", "MODEL", "TEXT"],
    "analyse frequency vocabulary": ["analyse", "frequency", "MODEL", "MODEL", "GOOD", "--vocab", "TEXT"],
    "analyse selection": ["analyse", "selection", "--language", "cs", "MODELS", "TEXT"],
    "analyse scaling": ["analyse", "scaling", "--growing", "MODELS", "--test", "TEXT"],
    "analyse kappa": ["analyse", "kappa", "--language", "cs", "MODELS", "MODELS", "TEXT"],
    "analyse pos": ["analyse", "pos", "MODEL", "MODEL", "TEXT"],
    "analyse pos with slashes": ["analyse", "pos", "MODEL", "MODEL", "TEXT", "--format", "slashes"],
    "analyse pos of a text": ["analyse", "pos", "MODEL", "MODEL", "TAGS", "--format", "slashes", "--text", "TEXT"],
}
# These take raw text, in which line ends and a byte order mark may be anybody's.
RAW = tuple(name for name in COMMANDS if name.startswith(("prepare", "translate prepare")))
RAW = (*RAW, "translate build source", "translate build target", "segment new words")
LINE_ENDS = ("crlf", "bom")
# What is no running text but a table is refused at its first line anyway, whatever else is wrong with it.
TABLES = {name for name, words in COMMANDS.items() if "GOOD" in words or "VOCAB" in words or "vocabulary" in name}
TABLES = {name for name in TABLES if not name.endswith((" source", " target", " second file", " development", " test"))}
TABLES |= {"segment new words", "rescore", "rescore a table", "similarity", "similarity of a file of vectors"}
TABLES |= {"analyse pos", "analyse pos with slashes"}

STREAMS = {"score", "score per token", "score second file"}  # they answer what came before, as they must in a pipe


def filled(name: str, places: dict[str, Path]) -> list[str]:
    """The command line with the places in it."""
    found = []
    for argument in COMMANDS[name]:
        kind, colon, rest = argument.partition(":")
        found.append(f"{kind}:{places[rest]}" if colon and rest in places else str(places.get(argument, argument)))
    return found


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "good.txt").write_bytes(GOOD)
    (tmp_path / "dev.txt").write_bytes(b"novou pro\n")
    (tmp_path / "out").write_text("precious\n")
    (tmp_path / "pairs.tsv").write_text("pro\tnovou\t3.5\n")
    (tmp_path / "tags.txt").write_text("pro/P novou/A školu/N\npro/P školu/N\n")
    train_ngram([["pro", "školu"]], 2).save(tmp_path / "model")
    train_ngram([["pro", "školu"]], 2).save(tmp_path / "models" / "mkn")
    for kind in ("clbl", "clbl++"):
        (tmp_path / "models" / kind).mkdir()
    train_segmenter({"pro": 2, "novou": 1, "školu": 2}).save(tmp_path / "segmenter")
    read_corpus(tmp_path / "good.txt").words.vocabulary(0, 1).save(tmp_path / "v.tsv")
    names = {
        "TEXT": "text.txt",
        "GOOD": "good.txt",
        "DEV": "dev.txt",
        "SEGMENTER": "segmenter",
        "VOCAB": "v.tsv",
        "PAIRS": "pairs.tsv",
        "TAGS": "tags.txt",
        "OUT": "out",
        "OUT2": "out2",
        "MODEL": "model",
        "MODELS": "models",
        "OUT-DIR": "data",
    }
    return {key: tmp_path / name for key, name in names.items()}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def assert_refused(outcome: Outcome, where: str, *, streams: bool = False) -> None:
    assert outcome.status == 2
    assert streams or outcome.stdout == ""
    lines = outcome.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("morphlm: ")
    assert where in lines[0]
    assert ";" in lines[0], "the message says how to mend it"


@pytest.mark.parametrize(
    ("name", "bad"), [(name, bad) for name in COMMANDS for bad in BAD if name not in RAW or bad not in LINE_ENDS]
)
def test_bad_text_is_refused(name: str, bad: str, places: dict[str, Path], morphlm_command: Command) -> None:
    content, where = BAD[bad]
    places["TEXT"].write_bytes(content)
    if name in TABLES:
        where = "text.txt"
    before = contents(places["TEXT"].parent)
    outcome = morphlm_command(*filled(name, places))
    assert_refused(outcome, where, streams=name in STREAMS)
    assert contents(places["TEXT"].parent) == before


@pytest.mark.parametrize("bad", LINE_ENDS)
@pytest.mark.parametrize("name", RAW)
def test_line_ends_of_raw_text_are_taken(
    name: str, bad: str, places: dict[str, Path], morphlm_command: Command
) -> None:
    places["TEXT"].write_bytes(b"\xef\xbb\xbf" + GOOD if bad == "bom" else GOOD.replace(b"\n", b"\r\n"))
    outcome = morphlm_command(*filled(name, places))
    assert outcome.status == 0, outcome.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_file_is_named(name: str, places: dict[str, Path], morphlm_command: Command) -> None:
    outcome = morphlm_command(*filled(name, places))
    assert_refused(outcome, "text.txt: ", streams=name in STREAMS)


@pytest.mark.parametrize(
    "name",
    [
        "vocab",
        "ppl",
        "score",
        "analyse frequency",
        "analyse selection",
        "analyse scaling",
        "analyse kappa",
        "prepare",
        "train mkn",
        "train clbl",
        "train all",
        "tune",
        "segment",
        "classes",
    ],
)
def test_standard_input_is_checked_too(name: str, places: dict[str, Path], morphlm_command: Command) -> None:
    places["TEXT"].write_bytes(GOOD + b"bad \xff\n")
    arguments = ["-" if argument == "TEXT" else places.get(argument, argument) for argument in COMMANDS[name]]
    assert_refused(morphlm_command(*arguments, stdin=places["TEXT"]), "<stdin>:3: ", streams=name in STREAMS)


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_options_are_status_2(name: str, morphlm_command: Command) -> None:
    outcome = morphlm_command(*COMMANDS[name], "--no-such-option")
    assert outcome.status == 2
    assert "--no-such-option" in outcome.stderr
    assert "Traceback" not in outcome.stderr
