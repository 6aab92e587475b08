"""What the directory of a bitext holds: two indexed texts, the links between them, and a lexicon.

Whatever follows from texts and links is computed again and compared: kernels rely on all of it.
"""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Array, starts_of
from morphlm.schema import ArtefactSchema, Contents, Integer, ListOf, Null, Record, Tensor, Text
from morphlm.translation.grammar.bitext import MARKS, SOURCE_WORDS, TARGET_WORDS
from morphlm.translation.grammar.kernels.links import HALF, MAX_SENTENCE, make_extents
from morphlm.translation.grammar.kernels.search import END


def _indexed(side: str) -> dict[str, Tensor]:
    words, tokens = f"{side} words", f"{side} tokens"
    return {
        f"{side}.tokens": Tensor("int32", (tokens,), at_least=0, below=words),
        f"{side}.suffixes": Tensor("int32", (tokens,), at_least=0, below=tokens),
        f"{side}.word_starts": Tensor("int64", (f"{words}+1",), offsets_to=tokens),
        f"pairs.{side}_starts": Tensor("int64", ("pairs+1",), offsets_to=tokens),
        f"pairs.{side}_extents": Tensor("uint32", (tokens,)),
    }


def _probabilities(*shape: str) -> Tensor:
    return Tensor("float32", shape, 0, 1.0001)


def _are_words(contents: Contents) -> str:
    for name in (SOURCE_WORDS, TARGET_WORDS):
        words = contents.texts[name].split("\n")[:-1]
        if tuple(words[: len(MARKS)]) != MARKS or "" in words or len(set(words)) < len(words):
            return f"{name} is no list of different words that begins with {' and '.join(MARKS)}"
    return ""


def _is_index(contents: Contents) -> str:
    """Every sentence ends with END and has no other; the suffixes are all positions, by their first words."""
    for side in ("source", "target"):
        tokens, suffixes, word_starts = (
            contents.tensors[f"{side}.{name}"] for name in ("tokens", "suffixes", "word_starts")
        )
        starts = contents.tensors[f"pairs.{side}_starts"]
        lengths = np.diff(starts)
        if len(lengths) and not (lengths.min() >= 1 and lengths.max() <= MAX_SENTENCE + 1):
            return f"a sentence of the {side} is empty or has more than {MAX_SENTENCE} words"
        if not np.array_equal(np.flatnonzero(tokens == END), starts[1:] - 1):
            return f"the sentences of the {side} do not end where they should"
        if not np.array_equal(word_starts, starts_of(np.bincount(tokens, minlength=contents.sizes[f"{side} words"]))):
            return f"the words of the {side} are not counted right"
        if len(tokens) and np.bincount(suffixes, minlength=len(tokens)).max() > 1:
            return f"a position of the {side} is there twice"
        if (np.diff(tokens[suffixes]) < 0).any():
            return f"the positions of the {side} are not sorted by their words"
    return ""


def _are_links(contents: Contents) -> str:
    """Every link lies inside its pair, and all that is derived from the links agrees with them."""
    tensors, sizes = contents.tensors, contents.sizes
    starts = {side: tensors[f"pairs.{side}_starts"] for side in ("source", "target")}
    lengths = {side: np.diff(starts[side]) for side in starts}
    if not np.array_equal(tensors["pairs.sentence_of"], np.repeat(np.arange(sizes["pairs"]), lengths["source"])):
        return "the sentences of the source tokens are not right"
    links = tensors["pairs.links"]
    pair_of = np.repeat(np.arange(sizes["pairs"]), np.diff(tensors["pairs.link_starts"]))
    positions = {"source": (links & HALF).astype(np.int64), "target": (links >> np.uint32(16)).astype(np.int64)}
    for side, own in positions.items():
        if (own >= lengths[side][pair_of] - 1).any():
            return f"a link leaves its sentence in the {side}"
    for side, other in (("source", "target"), ("target", "source")):
        extents: Array = make_extents(starts[side][pair_of], positions[side], positions[other], sizes[f"{side} tokens"])
        if not np.array_equal(extents, tensors[f"pairs.{side}_extents"]):
            return f"what the {side} is linked to does not follow from the links"
    return ""


def _is_lexicon(contents: Contents) -> str:
    starts, targets = contents.tensors["lexicon.starts"], contents.tensors["lexicon.targets"]
    is_first = np.zeros(len(targets) + 1, bool)
    is_first[starts] = True
    rises = targets[:-1] < targets[1:]
    return "" if (rises | is_first[1:-1]).all() else "the translations of a word are not sorted"


BITEXT = ArtefactSchema(
    training=Record(dict.fromkeys(("pairs", "source_tokens", "target_tokens", "links"), Integer(0))),
    self_test=ListOf(Null(), longest=0),
    texts={SOURCE_WORDS: Text(lines="source words"), TARGET_WORDS: Text(lines="target words")},
    tensors={
        **_indexed("source"),
        **_indexed("target"),
        "pairs.sentence_of": Tensor("int32", ("source tokens",), at_least=0, below="pairs"),
        "pairs.link_starts": Tensor("int64", ("pairs+1",), offsets_to="links"),
        "pairs.links": Tensor("uint32", ("links",)),
        "lexicon.starts": Tensor("int64", ("source words+1",), offsets_to="entries"),
        "lexicon.targets": Tensor("int32", ("entries",), at_least=0, below="target words"),
        "lexicon.forward": _probabilities("entries"),
        "lexicon.backward": _probabilities("entries"),
        "lexicon.null_forward": _probabilities("target words"),
        "lexicon.null_backward": _probabilities("source words"),
    },
    relations=(_are_words, _is_index, _are_links, _is_lexicon),
)
