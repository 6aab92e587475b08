"""`morphlm translate build | tune | decode | evaluate | prepare`, as a person types them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.scoring.kbest import parse_values
from morphlm.scoring.loading import load
from morphlm.scoring.spelled import with_spelling
from morphlm.translation.system.directory import MANIFEST, MODELS, SOURCE_TEXT, WEIGHTS
from morphlm.translation.system.system import TranslationSystem
from tests.conftest import Outcome
from tests.translation.generated import sentences, small_system, write

Command = Callable[..., Outcome]
TUNE = ["--kbest", "8", "--iterations", "2", "--restarts", "1", "--pop-limit", "10", "--threads", "1"]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system that is not tuned, texts to build another of, and texts to tune and test on."""
    folder = tmp_path_factory.mktemp("parts")
    small_system(folder, 200)
    write(folder, "dev", sentences(8, 2))
    write(folder, "test", sentences(6, 3))
    return folder


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


def build(parts: Path, out: Path) -> list[str | Path]:
    texts = [parts / "train.source.txt", parts / "train.target.txt"]
    dev = [parts / "dev.source.txt", parts / "dev.target.txt"]
    return ["translate", "build", *texts, "--no-tokenise", "--lm", parts / "mkn", "--dev", *dev, "--out", out, *TUNE]


# ---------------------------------------------------------------- building and tuning


def test_from_two_files_to_translations(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    done = morphlm_command(*build(parts, tmp_path / "system"), "--runs", "2")
    assert done.status == 0
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:3]] == [["run", "1"], ["run", "2"]]
    assert "mean" in done.stdout and "the weights of run " in done.stdout
    again = morphlm_command(*build(parts, tmp_path / "system"), "--runs", "2", "--json")
    assert [line for line in again.stderr.splitlines() if "found" in line] == [
        *["prepare: found", "align: found", "bitext: found", "lm: found", "tune: found"]
    ]
    told = json.loads(again.stdout)
    assert told["stages"]["bitext"] == {"pairs": 200}
    assert [run["seed"] for run in told["tuning"]["runs"]] == [1, 2]
    out = morphlm_command("translate", "decode", tmp_path / "system", parts / "test.source.txt")
    system = TranslationSystem.load(tmp_path / "system")
    assert system.weights == told["tuning"]["runs"][told["tuning"]["best"] - 1]["weights"]
    expected = [system.translate_text(line) for line in lines_of(parts / "test.source.txt")]
    assert (out.status, out.stdout.splitlines(), out.stderr) == (0, expected, "")
    (tmp_path / "out.txt").write_text(out.stdout)
    scores = morphlm_command("translate", "evaluate", tmp_path / "out.txt", parts / "test.target.txt", "--json")
    assert json.loads(scores.stdout)["bleu"] > 20


def test_tuning_a_system(parts: Path, morphlm_command: Command) -> None:
    dev = ["--dev", parts / "dev.source.txt", parts / "dev.target.txt"]
    done = morphlm_command("translate", "tune", parts / "system", *dev, "--seed", "5", *TUNE, "--json")
    assert done.status == 0
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["seed"], run["bleu"]) == (5, max(one["bleu"] for one in run["iterations"]))
    assert (parts / "system" / WEIGHTS).exists()
    wrong = morphlm_command("translate", "decode", parts / "system", parts / "test.source.txt", "--run", "1")
    assert (wrong.status, wrong.stdout) == (2, "")
    assert "there are 5" in wrong.stderr
    (parts / "system" / WEIGHTS).unlink()


def test_ctrl_c_leaves_a_state_that_goes_on(parts: Path, tmp_path: Path) -> None:
    """Interrupted while it tunes, by the signal that a terminal sends."""
    command = [sys.executable, "-m", "morphlm", *map(str, build(parts, tmp_path / "system"))]
    with (tmp_path / "err").open("w") as err:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err)
        deadline = time.monotonic() + 120
        while "lm: models" not in (tmp_path / "err").read_text() and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        status = process.wait(60)
    err_text = (tmp_path / "err").read_text()
    assert (status, err_text.splitlines()[-1]) == (130, "morphlm: interrupted"), err_text
    assert not (tmp_path / "system" / WEIGHTS).exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "lm: found" in again.stderr
    whole = [sys.executable, "-m", "morphlm", *map(str, build(parts, tmp_path / "whole"))]
    subprocess.run(whole, capture_output=True, check=True)
    for name in (MANIFEST, WEIGHTS):
        assert (tmp_path / "system" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# ---------------------------------------------------------------- decoding


def decode(command: Command, parts: Path, text: str, *options: str | Path) -> Outcome:
    (parts / "input.txt").write_text(text)
    return command("translate", "decode", parts / "system", *options, stdin=parts / "input.txt")


def test_lines_in_order_and_empty_ones(parts: Path, morphlm_command: Command) -> None:
    found = decode(morphlm_command, parts, "\nunseen one\n\n  \nunseen two", "--threads", "2")
    assert found.stdout == "\nunseen one\n\n\nunseen two\n"
    assert found.stderr.startswith("warning: this system is not tuned")


def test_unknown_words_are_spelled(parts: Path, morphlm_command: Command) -> None:
    """A share of P(UNK) for each; what is found differs in nothing else."""
    plain, spelled = (
        json.loads(decode(morphlm_command, parts, "unseen one\n", "--json", *options).stdout)
        for options in ([], ["--open-vocabulary", "--unknown-contexts", "composed"])
    )
    (name,) = (name for name in plain["features"] if name + "_OOV" in plain["features"])
    shares = with_spelling(load(parts / "system" / MODELS / name))
    tokens = plain["translation"].split()
    expected = sum(shares.log_share(token) for token in tokens)
    assert expected < -1
    assert spelled["features"][name] - plain["features"][name] == pytest.approx(expected, abs=1e-6)


def test_kbest_lists(parts: Path, morphlm_command: Command) -> None:
    text = "the noun1 verb2s a noun3 .\n\nunseen ||| words\n"
    found = decode(morphlm_command, parts, text, "--kbest", "3")
    rows = [line.split(" ||| ") for line in found.stdout.splitlines()]
    assert [row[0] for row in rows] == ["0", "0", "0", "1", "2"]
    system = TranslationSystem.load(parts / "system")
    best = system.translate(text.splitlines()[0]).kbest(3)
    assert [row[1] for row in rows[:3]] == [" ".join(candidate.tokens) for candidate in best]
    for row, candidate in zip(rows[:3], best, strict=True):
        features = {name: values[0] for name, values in parse_values(row[2]).items()}
        assert features == pytest.approx(candidate.features, rel=1e-5, abs=1e-5)
        assert float(row[3]) == pytest.approx(candidate.score, rel=1e-5)
    assert rows[3][1] == "", "the empty line"
    assert rows[-1][1] == "unseen \\||| words", "a word that is a bar has a backslash"
    assert all(len(row) == 4 for row in rows)


def test_kbest_lists_can_be_rescored(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    found = decode(morphlm_command, parts, "the noun1 verb2s a noun3 .\n", "--kbest", "3")
    (tmp_path / "list").write_text(found.stdout)
    weights = "mkn=0 rescored=1"
    scored = morphlm_command("rescore", parts / "mkn", tmp_path / "list", "--feature", "rescored", "--weights", weights)
    assert scored.status == 0
    for line in scored.stdout.splitlines():
        values = parse_values(line.split(" ||| ")[2])
        assert values["rescored"][0] == pytest.approx(values["mkn"][0], abs=1e-3)


def test_json_has_features_derivation_and_graph(parts: Path, morphlm_command: Command) -> None:
    text = "the noun1 verb2s a noun3 .\n\n"
    found = decode(morphlm_command, parts, text, "--json", "--graph", "--kbest", "2")
    first, empty = map(json.loads, found.stdout.splitlines())
    translation = TranslationSystem.load(parts / "system").translate("the noun1 verb2s a noun3 .")
    assert (first["line"], empty["line"], empty["text"]) == (1, 2, "")
    assert first["text"] == first["translation"] == first["kbest"][0]["text"] == " ".join(translation.tokens)
    assert first["features"] == translation.features
    assert first["derivation"] == json.loads(json.dumps(translation.derivation.to_json()))
    assert first["graph"]["goal"] == len(first["graph"]["nodes"]) - 1
    plain = json.loads(decode(morphlm_command, parts, text, "--json").stdout.splitlines()[0])
    assert "graph" not in plain and "kbest" not in plain


def test_choices_of_weights_search_and_rules(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    text = "the noun1 verb2s a noun3 .\n"
    (tmp_path / "rules").write_text("[X] ||| the noun1 ||| ELLA |||\n")
    only = decode(morphlm_command, parts, "the noun1\n", "--extra-rules", tmp_path / "rules", "--weights", "EgivenF=1")
    assert only.stdout == "ELLA\n", "its EgivenF is 0, all others are below"
    assert only.stderr == ""
    small = decode(morphlm_command, parts, text, "--pop-limit", "1", "--json")
    large = decode(morphlm_command, parts, text, "--pop-limit", "50", "--json")
    assert json.loads(small.stdout)["score"] <= json.loads(large.stdout)["score"]


def test_a_grammar_instead_of_the_training_text(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    """That of `extract` gives the same translations; one without rules leaves every word as it is."""
    text, source, grammar = "the noun1 verb2s a noun3 .\n", parts / "test.source.txt", tmp_path / "grammar.gz"
    extracted = morphlm_command("translate", "extract", parts / "system" / "bitext", source, "--out", grammar)
    assert extracted.status == 0
    own = morphlm_command("translate", "decode", parts / "system", source, "--kbest", "5")
    given = morphlm_command("translate", "decode", parts / "system", source, "--kbest", "5", "--grammar", grammar)
    assert given.stdout == own.stdout
    (tmp_path / "empty").write_text("")
    assert decode(morphlm_command, parts, text, "--grammar", tmp_path / "empty").stdout == text
    (tmp_path / "more").write_text("[X] ||| a ||| un ||| Given=1\n[X] ||| noun1 ||| Sust ||| EgivenF=-1\n")
    options: list[str | Path] = [
        "--grammar",
        tmp_path / "empty",
        "--extra-rules",
        tmp_path / "more",
        "--weights",
        "EgivenF=1 Given=1",
    ]
    assert decode(morphlm_command, parts, text, *options).stdout == "the Sust verb2s un noun3 .\n"


def test_rules_that_can_never_match_are_told(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "rules").write_text("[X] ||| the Noun1 ||| ella |||\n[X] ||| the ||| LA |||\n")
    for option in ("--extra-rules", "--grammar"):
        told = decode(morphlm_command, parts, "the noun1\n", option, tmp_path / "rules").stderr
        assert f"warning: {tmp_path / 'rules'}: 1 of 2 rules have capital letters in their source side" in told
    quiet = decode(morphlm_command, parts, "the noun1\n", "--extra-rules", tmp_path / "rules", "--prepared").stderr
    assert "capital letters" not in quiet


def test_limits_of_rules_and_spans(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    """With one symbol to a source side and one target side for each, every word has one rule."""
    limits = ["--max-symbols", "1", "--max-targets", "1", "--max-span", "4", "--loose-gaps"]
    given = ["--bitext", parts / "system" / "bitext", "--no-tokenise", "--lm", parts / "mkn"]
    assert morphlm_command("translate", "build", *given, "--out", tmp_path / "system", *limits).status == 0
    system = TranslationSystem.load(tmp_path / "system")
    assert (system.config.grammar.max_symbols, system.config.grammar.tight_gaps) == (1, False)
    assert system.config.decoder.max_span == 4
    rules = list(system.rules(["the", "noun1", "verb2s", "a", "noun3", "."]))
    assert {len(rule.source) for rule in rules} == {1}
    assert len(rules) == 6
    wide = morphlm_command("translate", "decode", tmp_path / "system", parts / "test.source.txt", "--max-span", "0")
    assert "--max-span is 0; it must be a whole number at least 1 and at most 200" in wide.stderr


def test_tokenised_and_prepared(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    for name, line in (("s", "Hello , world !"), ("t", "hallo , welt !")):
        (tmp_path / name).write_text(f"{line}\n" * 3)
    texts = [tmp_path / "s", tmp_path / "t"]
    built = morphlm_command("translate", "build", *texts, "--languages", "en,de", "--out", tmp_path / "system")
    assert built.status == 0
    assert "`morphlm translate tune`" in built.stderr
    (tmp_path / "in").write_text("Hello, world! 2012\n")

    def call(*options: str) -> str:
        return morphlm_command("translate", "decode", tmp_path / "system", tmp_path / "in", *options).stdout

    assert call() == "hallo, welt! 2012\n"
    assert call("--tokenised") == "hallo , welt ! 2012\n"
    assert call("--prepared", "--tokenised") == "Hello, world! 2012\n", "three words that are not known"


def test_a_line_in_a_pipe_is_answered_at_once(parts: Path) -> None:
    command = [sys.executable, "-m", "morphlm", "translate", "decode", str(parts / "system")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None and process.stdout is not None
        for word in (b"unseen", b"words"):
            process.stdin.write(word + b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == word + b"\n"
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_reader_that_goes_away_ends_it_quietly(parts: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("unseen words\n" * 5000)
    command = [sys.executable, "-m", "morphlm", "translate", "decode", str(parts / "system"), str(tmp_path / "in")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(60) == 1
    assert "Traceback" not in err


def test_400_words_are_decoded_and_it_is_said(parts: Path, morphlm_command: Command) -> None:
    words = [word for source, _ in sentences(60, 6) for word in source][:400]
    before = time.process_time()
    found = decode(morphlm_command, parts, " ".join(words) + "\n", "--pop-limit", "20")
    assert time.process_time() - before < 30
    assert len(found.stdout.splitlines()) == 1
    assert "a sentence of 400 words" in found.stderr


# ---------------------------------------------------------------- evaluating


def test_comparing_systems(tmp_path: Path, morphlm_command: Command) -> None:
    references = [" ".join(target) for _, target in sentences(40, 8)]
    good = [" ".join(word for k, word in enumerate(line.split()) if (k + n) % 7) for n, line in enumerate(references)]
    bad = [" ".join(word for k, word in enumerate(line.split()) if (k + n) % 3) for n, line in enumerate(references)]
    for name, lines in (("ref", references), ("good", good), ("bad", bad)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    runs = ["--baseline", "bad", "--baseline", "bad", "--system", "new", "good", "--system", "new", "good"]
    runs += ["--system", "same", "bad", "--system", "same", "bad"]
    arguments = [tmp_path / word if (tmp_path / word).exists() else word for word in runs]
    options = ["--shuffles", "200", "--json"]
    found = json.loads(morphlm_command("translate", "evaluate", *arguments, tmp_path / "ref", *options).stdout)
    baseline, new, same = found["systems"]
    assert [one["name"] for one in found["systems"]] == ["baseline", "new", "same"]
    alone = json.loads(morphlm_command("translate", "evaluate", tmp_path / "good", tmp_path / "ref", "--json").stdout)
    assert new["bleu"]["runs"] == [alone["bleu"]] * 2
    assert new["bleu"]["deviation"] == 0.0
    assert baseline["p"] is None
    assert new["p"] == 1 / 201 and same["p"] == 1.0
    assert baseline["p_before"] is None
    assert new["p_before"] == new["p"] and same["p_before"] == 1 / 201  # the one before differs from the baseline
    table = morphlm_command("translate", "evaluate", *arguments, tmp_path / "ref", "--shuffles", "200").stdout
    assert f"{new['bleu']['mean'] - baseline['bleu']['mean']:+.2f}" in table
    assert f"{same['bleu']['mean'] - new['bleu']['mean']:+.2f}" in table
    assert "approximate randomisation of BLEU, 200 shuffles" in table


def test_what_cannot_be_compared(tmp_path: Path, morphlm_command: Command) -> None:
    for name, lines in (("ref", 3), ("a", 3), ("short", 2)):
        (tmp_path / name).write_text("a b\n" * lines)
    a, ref, short = (tmp_path / name for name in ("a", "ref", "short"))
    cases: list[tuple[list[str | Path], str]] = [
        ([short, ref], "short: 2 lines for 3 references; give one translation for each"),
        ([ref], "give translations and references"),
        ([a, ref, "--baseline", a], "give the references alone"),
        ([ref, "--system", "x", a], "compared with a --baseline"),
        ([ref, "--baseline", a, "--system", "x", a, "--system", "x", a], "baseline 1, x 2; give the same number"),
        ([ref, "--baseline", a, "--system", "baseline", a], "another name"),
    ]
    for arguments, message in cases:
        found = morphlm_command("translate", "evaluate", *arguments)
        assert (found.status, found.stdout) == (2, "")
        assert message in found.stderr


# ---------------------------------------------------------------- preparing


def test_preparing_keeps_digits(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "s").write_text("In 2012, yes.\n\nOne\n")
    (tmp_path / "t").write_text("В 2012 Windows.\nпусто\n" + "слово " * 30 + "\n")
    outs = [tmp_path / "s.out", tmp_path / "t.out"]
    arguments = ["translate", "prepare", tmp_path / "s", tmp_path / "t", "--languages", "en,ru", "--out", *outs]
    done = morphlm_command(*arguments, "--json")
    assert outs[0].read_text() == "in 2012 , yes .\n"
    assert outs[1].read_text() == "в 2012 windows .\n"
    assert json.loads(done.stdout)[0]["counts"]["length_ratio"] == 1
    assert morphlm_command(*arguments[:4], "--out", *outs).status == 2  # the tokeniser needs the languages
    (tmp_path / "t").write_text("\n\n\n")
    assert "warning: no pair of sentences is left" in morphlm_command(*arguments).stderr


# ---------------------------------------------------------------- bad input


def test_decoding_mends_what_it_is_asked_to(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    """A line for every line, whatever is in it."""
    first, second = (parts / "dev.source.txt").read_text().splitlines()[:2]
    (tmp_path / "good").write_text(f"{first}\n{second}\n\n{second}\n")
    (tmp_path / "bad").write_bytes(f"{first}\r\n<s> {second} <UNK>\n".encode() + b"\xff\n" + second.encode())
    refused = morphlm_command("translate", "decode", parts / "system", tmp_path / "bad")
    assert "bad:1: there is a carriage return (CRLF line ends?); use plain newlines (--mend does it)" in refused.stderr
    good = morphlm_command("translate", "decode", parts / "system", tmp_path / "good")
    bad = morphlm_command("translate", "decode", parts / "system", tmp_path / "bad", "--mend")
    assert bad.stdout == good.stdout
    for told in ("1 CRLF line end replaced", "2 reserved marks removed", "1 line dropped for bad UTF-8"):
        assert f"mended: {told}" in bad.stderr


def test_a_system_that_is_tuned_is_not_said_to_be_not(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    tuning = build(parts, tmp_path / "system")
    place = tuning.index("--dev")
    plain = tuning[:place] + tuning[place + 3 :]
    assert "those that tuning begins with" in morphlm_command(*plain).stderr
    assert morphlm_command(*tuning).status == 0
    assert "those that tuning begins with" not in morphlm_command(*plain).stderr


def test_refused_in_one_line(parts: Path, tmp_path: Path, morphlm_command: Command) -> None:
    system = parts / "system"
    dev: list[str | Path] = ["--dev", parts / "dev.source.txt", parts / "dev.target.txt"]
    (tmp_path / "short").write_text("a\n")
    (tmp_path / "bad").write_bytes(b"ok\nbad \xff\n")
    (tmp_path / "mark").write_text("ok\na <S> b\n")
    (tmp_path / "rules").write_text("[X] ||| a ||| b ||| F=1\nno rule\n")
    cases: list[tuple[list[str | Path], str]] = [
        (["decode", tmp_path / "none"], "there is no such translation system"),
        (["decode", parts / "mkn"], "system.json is missing"),
        (["decode", system, tmp_path / "none.txt"], "none.txt: there is no such file"),
        (["decode", system, parts / "dev.source.txt", "--graph"], "add --json"),
        (["decode", system, "--run", "1", "--weights", "a=1"], "two choices of weights"),
        (["decode", system, "--run", "1"], "no tuning run with the seed 1; this system is not tuned"),
        (["decode", system, "--weights", "nothing=1"], "no such feature"),
        (["decode", system, "--pop-limit", "-1"], "--pop-limit is -1; it must be a whole number at least 0"),
        (["decode", system, "--extra-rules", tmp_path / "rules"], "rules:2: "),
        (["tune", system], "--dev SOURCE REFERENCE"),
        (["tune", system, "--dev", tmp_path / "short", parts / "dev.target.txt"], "has 1 line and"),
        (["tune", system, "--dev", tmp_path / "bad", parts / "dev.target.txt"], "bad:2: "),
        (["tune", system, *dev, "--kbest", "0"], "--kbest is 0; it must be a whole number at least 1"),
        (["build", tmp_path / "short", "--out", tmp_path / "o"], "1 file; parallel text is two"),
        (["build", "--out", tmp_path / "o", "--no-tokenise"], "two texts"),
        (["build", tmp_path / "short", tmp_path / "short", "--out", tmp_path / "o"], "needs both languages"),
        ([*build(parts, tmp_path / "o")[1:], "--lm", tmp_path / "none"], "none: there is no such model"),
        ([*build(parts, tmp_path / "o")[1:], "--lm", parts / "mkn"], "two models have the name mkn"),
        ([*build(parts, tmp_path)[1:]], "no translation system; choose another place"),
    ]
    for arguments, message in cases:
        found = morphlm_command("translate", *arguments)
        assert (found.status, found.stdout, len(found.stderr.splitlines())) == (2, "", 1), found
        assert message in found.stderr
    assert not (tmp_path / "o").exists()
    for name, where in (("bad", "bad:2: "), ("mark", "mark:2: ")):
        found = morphlm_command("translate", "decode", system, tmp_path / name)
        assert found.status == 2
        assert where in found.stderr and "Traceback" not in found.stderr


def test_the_prepared_text_is_in_the_directory(parts: Path) -> None:
    assert (parts / "system" / SOURCE_TEXT).read_text() == (parts / "train.source.txt").read_text()
    assert [path.name for path in (parts / "system" / "lm").iterdir()] == ["mkn"]


@pytest.mark.parametrize("bad", [b"bad \xff", b"a <s> b"])
def test_lines_before_a_refused_one_are_translated(
    parts: Path, tmp_path: Path, morphlm_command: Command, bad: bytes
) -> None:
    lines = lines_of(parts / "test.source.txt")[:3]
    (tmp_path / "good").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "bad").write_bytes((tmp_path / "good").read_bytes() + bad + b"\n" + (tmp_path / "good").read_bytes())
    for more in ([], ["--threads", "1"], ["--prepared"]):
        whole = morphlm_command("translate", "decode", parts / "system", tmp_path / "good", *more)
        cut = morphlm_command("translate", "decode", parts / "system", tmp_path / "bad", *more)
        assert (whole.stdout.count("\n"), cut.stdout, cut.status) == (3, whole.stdout, 2)
        assert cut.stderr.startswith(f"morphlm: {tmp_path / 'bad'}:4: ")


def test_help_of_build_has_headings(morphlm_command: Command) -> None:
    text = morphlm_command("translate", "build", "--help").stdout
    headings = re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE)
    assert headings == ["Text", "Model", "Run", "Preparation", "Tuning", "Rules", "Search", "Help"]
    under = {part.split(":\n")[0]: part for part in text.split("\n\n")}
    assert "--dev" in under["Text"] and "--lm" in under["Model"] and "--kbest" in under["Tuning"]
    assert "--max-gap" not in under["Help"] and under["Help"].strip().endswith("exit.")
