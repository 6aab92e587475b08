from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from morphlm.errors import ConfigError, MorphlmError
from morphlm.segmentation.source_spec import choose_source
from morphlm.segmentation.sources.registry import BUILT_IN
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.conftest import Outcome

WORDS = ("novou", "novy", "skolou", "skolu")
VOCABULARY = Vocabulary((*RESERVED, *WORDS), np.array([0, 5, 5, 4, 3, 2, 1]))


def test_files_are_chosen_by_their_kind(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("1 nov/STM + ou/SUF\n")
    (tmp_path / "t").write_text("novou\tnew Case=Ins\n")
    assert choose_source(f"morfessor:{tmp_path / 'm'}", VOCABULARY)["novou"] == ("nov/STM", "ou/SUF")
    assert choose_source(f"morfessor:{tmp_path / 'm'}", VOCABULARY, labels=False)["novou"] == ("nov", "ou")
    assert choose_source(f"table:{tmp_path / 't'}", VOCABULARY)["novou"] == ("new", "Case=Ins")
    assert choose_source("ngrams:4-4", VOCABULARY)["novy"] == ("<nov", "novy", "ovy>")


@pytest.mark.parametrize("choice", ["nonsense:x", "table", "table:", "ngrams:3", "ngrams:a-b", "bpe:many", ""])
def test_what_is_no_source_is_refused(choice: str) -> None:
    with pytest.raises(ConfigError):
        choose_source(choice, VOCABULARY)


@pytest.mark.parametrize("kind", [source.name for source in BUILT_IN if source.argument in ("FILE", "DIR")])
def test_a_missing_file_is_refused(kind: str) -> None:
    with pytest.raises(MorphlmError, match="no such"):
        choose_source(f"{kind}:nowhere", VOCABULARY)


def test_the_command_writes_the_tables(tmp_path: Path, morphlm_command: Callable[..., Outcome]) -> None:
    VOCABULARY.save(tmp_path / "v.tsv")
    (tmp_path / "m").write_text("1 nov/STM + ou/SUF\n1 nov/STM + y/SUF\n")
    arguments = ["factors", f"morfessor:{tmp_path / 'm'}", "--vocab", tmp_path / "v.tsv", "--out", tmp_path / "f"]
    result = json.loads(morphlm_command(*arguments, "--json").stdout)
    assert (result["factors"], result["surface_factors"], result["words_with_surface_only"]) == (10, 7, 2)
    assert "novou\tnov/STM ou/SUF\n" in (tmp_path / "f" / "morphemes.tsv").read_text()
