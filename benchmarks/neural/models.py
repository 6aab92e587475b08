"""Models, `(ids, targets, state) -> nats of each target, state`: two LSTMs over words, a Transformer over pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

State = Any


@dataclass(frozen=True)
class Sizes:
    """Of one model and its training; what is not named in a paper was chosen on the Czech development text."""

    width: int  # of embeddings and of what the softmax sees
    hidden: int  # of each layer
    layers: int
    dropout: float
    rate: float  # Adam's largest step
    rows: int  # parallel streams of text
    steps: int  # positions of a minibatch


SIZES = {
    "word-lstm": Sizes(width=256, hidden=512, layers=1, dropout=0.5, rate=2e-3, rows=32, steps=35),
    # Kim et al. (2016), small: 25 w filters of width w = 1 .. 6, one highway layer, two LSTM layers of 300
    "char-lstm": Sizes(width=300, hidden=300, layers=2, dropout=0.5, rate=2e-3, rows=20, steps=35),
    "transformer": Sizes(width=256, hidden=1024, layers=4, dropout=0.2, rate=1e-3, rows=16, steps=128),
}


def cutoffs(words: int) -> list[int]:
    """Where the clusters of an adaptive softmax end (Grave et al. 2017)."""
    return [end for end in (2_000, 10_000, 40_000) if end < words - 1]


class TiedEmbedding(nn.Module):
    """Vectors of words from the matrices of an adaptive softmax: the same weights on both sides."""

    def __init__(self, softmax: nn.AdaptiveLogSoftmaxWithLoss) -> None:
        super().__init__()
        self.softmax = (softmax,)  # in a tuple: it is registered once, by its owner

    def forward(self, ids: Tensor) -> Tensor:
        softmax = self.softmax[0]
        flat = ids.reshape(-1)
        vectors = softmax.head.weight.new_empty(len(flat), softmax.in_features)
        begin = 0
        for cluster, end in enumerate(softmax.cutoffs):
            chosen = ((flat >= begin) & (flat < end)).nonzero().squeeze(1)
            if len(chosen):
                rows = flat[chosen] - begin
                if cluster == 0:
                    vectors[chosen] = functional.embedding(rows, softmax.head.weight)
                else:
                    down, out = softmax.tail[cluster - 1]
                    vectors[chosen] = (
                        functional.embedding(rows, out.weight) @ down.weight
                    )  # (L, d_i) x (d_i, d) -> (L, d)
            begin = end
        return vectors.reshape(*ids.shape, -1)


class Recurrent(nn.Module):
    """What both LSTMs share: dropout around LSTM layers, a projection to the softmax's width, the softmax."""

    def __init__(self, sizes: Sizes, inputs: int, words: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, sizes.hidden, sizes.layers, dropout=sizes.dropout if sizes.layers > 1 else 0.0)
        self.project = nn.Linear(sizes.hidden, sizes.width)
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(sizes.width, words, cutoffs(words), div_value=2.0)
        self.drop = nn.Dropout(sizes.dropout)

    def vectors(self, ids: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, ids: Tensor, targets: Tensor, state: State) -> tuple[Tensor, State]:
        """Of (T, B) ids: nats of each target, and the state after them."""
        states, state = self.lstm(self.drop(self.vectors(ids)), state)
        seen = self.drop(self.project(states))
        loss = -self.softmax(seen.reshape(-1, seen.shape[-1]), targets.reshape(-1)).output
        return loss, tuple(part.detach() for part in state)


class WordLSTM(Recurrent):
    """Words, adaptive softmax, dropout, tied weights."""

    def __init__(self, sizes: Sizes, words: int) -> None:
        super().__init__(sizes, sizes.width, words)
        self.embedding = TiedEmbedding(self.softmax)

    def vectors(self, ids: Tensor) -> Tensor:
        return self.embedding(ids)


class CharacterLSTM(Recurrent):
    """Kim et al. (2016): convolutions over the characters of a word, max over time, a highway layer, LSTM."""

    def __init__(self, sizes: Sizes, spellings: Tensor) -> None:
        widths = range(1, 7)
        inputs = sum(25 * width for width in widths)
        super().__init__(sizes, inputs, len(spellings))
        self.register_buffer("spellings", spellings, persistent=False)
        self.characters = nn.Embedding(int(spellings.max()) + 1, 15, padding_idx=0)
        self.filters = nn.ModuleList(nn.Conv1d(15, 25 * width, width) for width in widths)
        self.transform, self.gate = nn.Linear(inputs, inputs), nn.Linear(inputs, inputs)
        nn.init.constant_(self.gate.bias, -2.0)

    def vectors(self, ids: Tensor) -> Tensor:
        """Each different word of the minibatch is composed once."""
        different, places = ids.unique(return_inverse=True)
        letters = self.characters(self.spellings[different]).transpose(1, 2)  # (U, 15, LONGEST_WORD)
        found = torch.cat([convolve(letters).tanh().amax(2) for convolve in self.filters], 1)  # (U, 525)
        gate = self.gate(found).sigmoid()
        return (gate * self.transform(found).relu() + (1 - gate) * found)[places]


class PieceTransformer(nn.Module):
    """A causal Transformer with tied weights and learned positions; contexts do not reach over minibatches."""

    def __init__(self, sizes: Sizes, pieces: int) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(pieces, sizes.width), nn.Embedding(sizes.steps, sizes.width)
        nn.init.normal_(self.embedding.weight, std=0.02)
        nn.init.normal_(self.positions.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(
            sizes.width, 4, sizes.hidden, sizes.dropout, "gelu", batch_first=False, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, sizes.layers, nn.LayerNorm(sizes.width), enable_nested_tensor=False)
        self.drop = nn.Dropout(sizes.dropout)

    def forward(self, ids: Tensor, targets: Tensor, state: State) -> tuple[Tensor, State]:
        length = len(ids)
        inputs = self.embedding(ids) + self.positions(torch.arange(length))[:, None]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        seen = self.layers(self.drop(inputs), mask=mask, is_causal=True)
        return functional.cross_entropy(
            seen.reshape(-1, seen.shape[-1]) @ self.embedding.weight.T, targets.reshape(-1), reduction="none"
        ), None
