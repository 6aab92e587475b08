"""Names of commands and options that people try: other spellings answer, others are pointed to the right one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from morphlm.cli.main import COMMANDS
from morphlm.cli.names import ALIASES, POINTERS, british_options, find_command
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["neighbors"], "neighbours"),
        (["Neighbours"], "neighbours"),
        (["nn"], "neighbours"),
        (["perplexity"], "ppl"),
        (["vocabulary", "--help"], "vocab"),
        (["analyze", "--help"], "analyse"),
    ],
)
def test_other_words_for_a_command_answer(arguments: list[str], command: str, morphlm_command: Command) -> None:
    outcome = morphlm_command(*arguments)
    assert f"morphlm {command} " in outcome.stdout + outcome.stderr
    assert "no command" not in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("query", "no command 'query'; do you mean `morphlm score`?"),
        ("lmplz", "no command 'lmplz'; do you mean `morphlm train mkn`?"),
        ("interpolate", "no command 'interpolate'; do you mean `morphlm mix`?"),
        ("tokenize", "no command 'tokenize'; do you mean `morphlm prepare`?"),
        ("normalize", "no command 'normalize'; do you mean `morphlm prepare`?"),
        ("similar", "no command 'similar'; do you mean `morphlm neighbours`?"),
        ("pll", "no command 'pll'; do you mean `morphlm ppl`?"),
        ("zzz", "no command 'zzz'; `morphlm --help` lists them"),
        ("analyse frequncy", "no command 'frequncy'; do you mean `morphlm analyse frequency`?"),
        ("data git", "no command 'git'; do you mean `morphlm data get`?"),
        ("train CLBL++", "'CLBL++' is no kind of model; do you mean clbl++?"),
        ("train kneser_ney", "'kneser_ney' is no kind of model; do you mean mkn?"),
        ("train clbl+", "'clbl+' is no kind of model; do you mean clbl+o or clbl+c or clbl++?"),
        ("vocab --output x", "no option --output; do you mean --out?"),
        ("ppl m --open-vocabularry", "no option --open-vocabularry; do you mean --open-vocabulary?"),
        ("ppl m -z", "no option -z; `morphlm ppl --help` lists them"),
        ("ppl", "the argument MODEL is missing; write `morphlm ppl MODEL [FILE]...`"),
        ("learn text", "the option --out is missing; write `morphlm learn TEXT... --out DIR`"),
        ("mix m", "the option --out is missing; write `morphlm mix MODEL... --out DIR`"),
        ("translate decode", "the argument DIR is missing; write `morphlm translate decode DIR [FILE]`"),
        ("generate m more", "there are more arguments than expected (more); write `morphlm generate MODEL`"),
        ("neighbours m w -k x", "-k: 'x' is not a whole number; see `morphlm neighbours --help`"),
    ],
)
def test_what_is_near_is_named(arguments: str, message: str, morphlm_command: Command) -> None:
    outcome = morphlm_command(*arguments.split())
    assert (outcome.status, outcome.stdout, outcome.stderr) == (2, "", f"morphlm: {message}\n")


def test_american_spellings_of_options() -> None:
    given = ["prepare", "--no-tokenize", "--normalize=x", "--center", "--artifacts", "normalize", "--", "--center"]
    assert british_options(given) == [
        *("prepare", "--no-tokenise", "--normalise=x", "--centre", "--artefacts", "normalize", "--", "--center")
    ]


def test_an_american_option_is_understood(morphlm_command: Command) -> None:
    assert "no option" not in morphlm_command("similarity", "nowhere", "none", "--center", "--normalize").stderr
    assert "no option" not in morphlm_command("prepare", "nowhere", "--no-tokenize").stderr


def test_all_names_lead_to_commands() -> None:
    assert not set(POINTERS) & (set(ALIASES) | set(COMMANDS))
    assert {*ALIASES.values(), *(target.split()[0] for target in POINTERS.values())} - {"--help", "--version"} <= {
        *COMMANDS
    }
    assert all(find_command(name, COMMANDS) == command for name, command in ALIASES.items())
