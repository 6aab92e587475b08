"""Perplexity with an open vocabulary: spelled words, characters, what is left out, and what the signature says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from morphlm import train_ngram
from morphlm.arrays import Float64Array
from morphlm.errors import ConfigError
from morphlm.language_model.open_vocabulary import count_characters
from morphlm.language_model.perplexity import Perplexity, format_table
from morphlm.vocabulary.corpus import encode_open, token_batches
from morphlm.vocabulary.vocabulary import UNK_ID, Vocabulary
from tests.strategies import texts

TRAIN = [["pro", "novou", "školu"], ["pro", "školu"], ["novou", "školu"], ["školu"]]
TEST = [["pro", "školu"], ["pro", "starou", "𐍈", "starou"], []]
SIGNATURE = "ppl|model:mkn|n:2|V:6|kappa:0|unk:{}|eos:yes|tok:as-is|norm:as-is|seed:1|v:0.1"


class Halves:
    """Each letter costs one bit, and so does the end."""

    def log_shares(self, words: Sequence[str]) -> Float64Array:
        return np.array([-(len(word) + 1) * math.log(2) for word in words])


def result(text: list[list[str]] = TEST) -> Perplexity:
    return train_ngram(TRAIN, 2).perplexity(text, allow_unknown=True, spelling=Halves())


def test_spelled_words_by_hand() -> None:
    """Three unknown words of 6, 1 and 6 letters; the text has 9 letters and a space more in its first line."""
    plain, found = train_ngram(TRAIN, 2).perplexity(TEST), result()
    spelled = found.open_vocabulary
    assert spelled is not None
    expected = plain.logprob - (7 + 2 + 7) * math.log(2)
    assert spelled.logprob == pytest.approx(expected, rel=1e-12)
    assert (spelled.tokens, spelled.unspelled) == (9, 0)
    assert spelled.characters == len("pro školu\npro starou 𐍈 starou\n\n") == 31
    assert spelled.perplexity == pytest.approx(math.exp(-expected / 9))
    assert spelled.bits_per_character == pytest.approx(-expected / math.log(2) / 31)
    assert (found.including_unknown, found.excluding_unknown) == (plain.including_unknown, plain.excluding_unknown)


def test_tokens_without_a_spelling_are_left_out() -> None:
    """They are still context for what follows."""
    marked = [["pro", "<unk>", "školu", "nic"], ["<unk>"]]
    found, model = result(marked).open_vocabulary, train_ngram(TRAIN, 2)
    logprobs = model.sentence(marked[0]), model.sentence(marked[1])
    kept = logprobs[0][0] + sum(logprobs[0][2:]) - 4 * math.log(2) + logprobs[1][1]
    assert found is not None
    assert found.logprob == pytest.approx(kept)
    assert (found.tokens, found.unspelled, found.characters) == (5, 2, len("pro školu nic\n\n"))


@given(texts)
def test_characters_are_those_of_the_text(text: list[list[str]]) -> None:
    vocabulary = train_ngram(TRAIN, 1).vocabulary
    corpus = encode_open(token_batches(text, allow_unknown=False), vocabulary)
    assert count_characters(corpus) == len("".join(" ".join(sentence) + "\n" for sentence in text))


def test_the_signature_tells_what_is_on() -> None:
    found = result()
    assert str(found.signature) == SIGNATURE.format("scored")
    assert found.open_vocabulary is not None
    assert str(found.open_vocabulary.signature) == SIGNATURE.format("spelled")


def test_an_ngram_model_has_no_factors_for_contexts() -> None:
    model = train_ngram(TRAIN, 2)
    composed = model.perplexity(TEST, unknown_contexts="composed")
    assert composed == model.perplexity(TEST)
    assert not model.composes_contexts
    tokens = np.array([3, 6, 7, 2], np.int32)
    unknown = np.array([3, UNK_ID, UNK_ID, 2], np.int32)
    assert model.score_composed(tokens, ["x", "y"]).tolist() == model.score_tokens(unknown).tolist()


def test_other_contexts_are_refused() -> None:
    with pytest.raises(ConfigError, match="`unk` or `composed`, not 'both'"):
        train_ngram(TRAIN, 2).perplexity(TEST, unknown_contexts="both")  # type: ignore[arg-type]


def test_rows_show_what_was_spelled() -> None:
    model = train_ngram(TRAIN, 2)
    scored = model.score_text(TEST, spelling=Halves())
    tokens = {(row["sentence"], row["position"]): row for row in scored.token_rows()}
    assert tokens[2, 2]["token"] == "starou"
    assert tokens[2, 2]["logprob"] == pytest.approx(model.sentence(TEST[1])[1] - 7 * math.log(2))
    assert tokens[2, 1]["logprob"] == pytest.approx(model.sentence(TEST[1])[0])
    spelled = scored.perplexity("text", model.signature).open_vocabulary
    assert spelled is not None
    assert sum(row["logprob"] for row in scored.sentence_rows()) == pytest.approx(spelled.logprob)


def test_what_a_person_and_a_program_read() -> None:
    found = result([*TEST, ["<unk>"]])
    spelled = found.open_vocabulary
    assert spelled is not None
    lines = found.format().splitlines()
    assert lines[-2] == (
        f"  spelled     {spelled.perplexity:.2f} with unknown words spelled, {spelled.bits_per_character:.4f} bits per "
        "character (32 characters, 1 <unk> left out)"
    )
    assert lines[-1] == f"  signature   {SIGNATURE.format('spelled')}"
    assert found.to_json()["open_vocabulary"] == {
        "perplexity": spelled.perplexity,
        "bits_per_character": spelled.bits_per_character,
        "characters": 32,
        "tokens": 10,
        "unspelled": 1,
        "logprob": spelled.logprob,
        "signature": SIGNATURE.format("spelled"),
    }


def test_a_table_has_columns_for_it_only_if_it_is_there() -> None:
    found, plain = result(), train_ngram(TRAIN, 2).perplexity(TEST)
    spelled = found.open_vocabulary
    assert spelled is not None
    table = format_table([("spelled", found), ("plain", plain)]).splitlines()
    assert table[0].endswith("unknown spelled  bits per character")
    assert table[1].split()[-2:] == [f"{spelled.perplexity:.2f}", f"{spelled.bits_per_character:.4f}"]
    assert table[2].split()[-2:] == ["-", "-"]
    assert table[-1] == "unknown spelled, bits per character: with unk:spelled"
    assert "spelled" not in format_table([("plain", plain)])


def test_nothing_is_possible_where_unk_has_no_probability(tmp_path: Path) -> None:
    found = train_ngram(TRAIN, 2, open_vocabulary=False).perplexity(TEST, spelling=Halves())
    assert found.open_vocabulary is not None
    assert found.open_vocabulary.perplexity == math.inf
    assert found.open_vocabulary.to_json()["bits_per_character"] is None


def test_new_words_are_kept_apart() -> None:
    vocabulary = Vocabulary(("<unk>", "<s>", "</s>", "a", "b"), np.ones(5, np.int64))
    batches = [[b"b", b"c", b"</s>"], [b"<unk>", b"d", b"c", b"a", b"</s>"]]
    corpus = encode_open(batches, vocabulary)
    assert corpus.new_words is not None
    assert corpus.new_words.forms == ("c", "d")
    assert corpus.new_words.tokens.tolist() == [4, 5, 2, 0, 6, 5, 3, 2]
    assert corpus.tokens.tolist() == [4, 0, 2, 0, 0, 0, 3, 2]
    assert corpus.tokens.dtype == corpus.new_words.tokens.dtype == np.int32
