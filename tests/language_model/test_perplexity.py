from __future__ import annotations

import math
from pathlib import Path

import pytest

from morphlm import train_ngram
from morphlm.language_model.perplexity import format_table, score_text
from morphlm.language_model.signature import Signature, common_signature, in_thousands
from morphlm.text.preparation import paper_options
from morphlm.text.prepare import prepare_files

TRAIN = [["pro", "novou", "školu"], ["pro", "školu"], ["novou", "školu"], ["školu"]]
TEST = [["pro", "školu"], ["pro", "starou", "školu"], []]


def test_perplexity_is_the_definition_s() -> None:
    model = train_ngram(TRAIN, 2)
    logprobs = [score for sentence in TEST for score in model.sentence(sentence)]
    result = model.perplexity(TEST)
    assert (result.tokens, result.unknown, result.sentences) == (8, 1, 3)
    assert result.including_unknown == pytest.approx(math.exp(-sum(logprobs) / 8))
    known = sum(logprobs) - model.sentence(TEST[1])[1]
    assert result.excluding_unknown == pytest.approx(math.exp(-known / 7))
    assert result.logprob == pytest.approx(sum(logprobs))


def test_details_add_up_to_the_whole() -> None:
    model = train_ngram(TRAIN, 2)
    scored = score_text(model, TEST, keep_forms=True)
    sentences, tokens = list(scored.sentence_rows()), list(scored.token_rows())
    total = model.perplexity(TEST).logprob
    assert sum(row["logprob"] for row in sentences) == pytest.approx(total)
    assert sum(row["logprob"] for row in tokens) == pytest.approx(total)
    assert [row["tokens"] for row in sentences] == [3, 4, 1]
    assert [(row["sentence"], row["position"], row["token"]) for row in tokens[3:6]] == [
        (2, 1, "pro"),
        (2, 2, "starou"),
        (2, 3, "školu"),
    ]
    assert [row["unknown"] for row in tokens] == [0, 0, 0, 0, 1, 0, 0, 0]


def test_the_signature_tells_what_defines_the_number() -> None:
    model = train_ngram(TRAIN, 3, kappa=0.5, seed=7)
    assert str(model.signature) == (
        "ppl|model:mkn|n:3|V:6|kappa:0.5|unk:scored|eos:yes|tok:as-is|norm:as-is|seed:7|v:0.1"
    )
    assert model.perplexity(TEST).signature == model.signature


def test_the_signature_is_text_whatever_a_record_leaves_open() -> None:
    """A record with null in it, which a schema allows, made neighbours, similarity and export fail."""
    model = train_ngram(TRAIN, 2)
    model.training["preparation"] = {"tokeniser": None, "normalisation": None}
    assert model.signature.value("tok") == model.signature.value("norm") == "as-is"


def test_the_signature_tells_how_text_was_prepared(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("Pro novou školu.\nPro školu 12.\n")
    prepare_files([tmp_path / "raw"], tmp_path / "lower", paper_options("cs"))
    prepare_files([tmp_path / "raw"], tmp_path / "cased", paper_options("cs", case="keep"))
    model = train_ngram(tmp_path / "lower", 2)
    assert model.signature.value("tok") == "moses.cs"
    assert model.signature.value("norm") == "lc+digits"
    same, other = model.perplexity(tmp_path / "lower"), model.perplexity(tmp_path / "cased")
    assert same.signature == model.signature
    assert other.signature.value("text") == "moses.cs/digits"
    table = format_table([("same", same), ("other", other)])
    assert "signatures differ in: text" in table
    assert model.perplexity(tmp_path / "raw").signature.value("text") == "as-is/as-is"


def test_a_table_shows_in_what_its_rows_differ() -> None:
    results = [(f"{n}-gram", train_ngram(TRAIN, n).perplexity(TEST)) for n in (1, 2)]
    lines = format_table(results).splitlines()
    assert lines[0].split() == ["n", "including", "unknown", "excluding", "unknown", "tokens", "unknown"]
    assert [line.split()[:2] for line in lines[1:3]] == [["1-gram", "1"], ["2-gram", "2"]]
    assert lines[-2].startswith("signature: ppl|model:mkn|V:6|kappa:0|")
    assert lines[-1] == "signatures differ in: n"


def test_what_signatures_share() -> None:
    one, two = Signature("ppl", (("a", "1"), ("b", "2"))), Signature("ppl", (("a", "1"), ("b", "3"), ("c", "4")))
    shared, differing = common_signature([one, two])
    assert str(shared) == "ppl|a:1"
    assert differing == ["b", "c"]


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1000, "1k"), (46_123, "46k"), (999_400, "999k"), (1_234_567, "1.2m")]
)
def test_numbers_in_thousands(number: int, text: str) -> None:
    assert in_thousands(number) == text
