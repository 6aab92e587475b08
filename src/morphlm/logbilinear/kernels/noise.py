"""The output side without classes: noise-contrastive estimation (Gutmann & Hyvarinen 2012; Mnih & Teh 2012).

A token's word is told from k words drawn from the unigram distribution p_n: the model says that w is the text's with
probability sigma(nu(w) - ln k p_n(w)). Words are in slots 0 .. U - 1, every different target and noise word once.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import Rows, compiled, inlined, sigmoid

F = np.float32
SMALLEST = 1e-30


class Contrast(NamedTuple):
    """Targets and noise of a minibatch."""

    words: Array  # int32 (U): the word in each slot
    targets: Array  # int32 (L): slots
    noise: Array  # int32 (samples): slots; k for each block of tokens, or for each token
    entries: Rows  # by slot: tokens i where it is the target as i, samples s where it is noise as L + s


@compiled
def plan_contrast(targets: Array, noise: Array, slot_of: Array) -> Contrast:
    """Slots of targets and noise words; `slot_of` is working space, -1 for every word before and after."""
    both = np.concatenate((targets, noise))
    slots, words, counts = (
        np.empty(len(both), np.int32),
        np.empty(len(both), np.int32),
        np.zeros(len(both) + 1, np.int64),
    )
    size = 0
    for i in range(len(both)):
        if slot_of[both[i]] < 0:
            slot_of[both[i]] = size
            words[size] = both[i]
            size += 1
        slots[i] = slot_of[both[i]]
        counts[slots[i] + 1] += 1
    starts = np.cumsum(counts[: size + 1])
    free = starts[:-1].copy()
    items = np.empty(len(both), np.int32)
    for i in range(len(both)):
        items[free[slots[i]]] = i
        free[slots[i]] += 1
    for slot in range(size):
        slot_of[words[slot]] = -1
    length = len(targets)
    return Contrast(words[:size].copy(), slots[:length].copy(), slots[length:].copy(), Rows(starts, items))


@inlined
def log_of_noise(score: float, y: float) -> float:
    """ln(1 - sigma) of a sample, from its score and y = sigma(score); without cancelling where y is nearly 1."""
    return np.log(F(1.0) - y) if score < 0 else np.log(y) - score


@compiled
def contrast_shared(
    begin: int,
    end: int,
    block: int,
    samples: int,
    contrast: Contrast,
    predictions: Array,
    vectors: Array,
    offsets: Array,
    scale: float,
    errors: Array,
    target_errors: Array,
    noise_errors: Array,
    noise_gradients: Array,
    objectives: Array,
) -> None:
    """Blocks begin .. end - 1 of the tokens, each against its own k samples; `offsets` are b_w - ln k p_n(w) by slot.

    Writes dL/dp, the error of each target's score, and the gradient of each sample's vector and bias.
    """
    width = predictions.shape[1]
    scores, noise = np.empty((block, samples), F), np.empty((samples, width), F)
    for number in range(begin, end):
        a, b = number * block, min((number + 1) * block, len(predictions))
        drawn = contrast.noise[number * samples : (number + 1) * samples]
        for q in range(samples):
            for k in range(width):
                noise[q, k] = vectors[drawn[q], k]
        s = scores[: b - a]
        np.dot(predictions[a:b], noise.T, s)
        sums = noise_errors[number * samples : (number + 1) * samples]
        sums[:] = 0
        objective = 0.0
        for i in range(b - a):
            for q in range(samples):
                score = s[i, q] + offsets[drawn[q]]
                y = sigmoid(score)
                objective += log_of_noise(score, y)
                s[i, q] = y * scale
                sums[q] += y * scale
        np.dot(s, noise, errors[a:b])
        np.dot(s.T, predictions[a:b], noise_gradients[number * samples : (number + 1) * samples])
        for i in range(a, b):
            objective += contrast_target(i, contrast, predictions, vectors, offsets, scale, errors, target_errors)
        objectives[number] = objective


@inlined
def contrast_target(
    i: int,
    contrast: Contrast,
    predictions: Array,
    vectors: Array,
    offsets: Array,
    scale: float,
    errors: Array,
    target_errors: Array,
) -> float:
    """The target of token i: adds to dL/dp, keeps the error of its score, returns ln sigma."""
    slot = contrast.targets[i]
    score = offsets[slot]
    for k in range(predictions.shape[1]):
        score += predictions[i, k] * vectors[slot, k]
    y = sigmoid(score)
    target_errors[i] = (y - F(1.0)) * scale
    for k in range(predictions.shape[1]):
        errors[i, k] += target_errors[i] * vectors[slot, k]
    return np.log(max(y, F(SMALLEST)))


@compiled
def contrast_each(
    begin: int,
    end: int,
    samples: int,
    contrast: Contrast,
    predictions: Array,
    vectors: Array,
    offsets: Array,
    scale: float,
    errors: Array,
    target_errors: Array,
    noise_errors: Array,
    objectives: Array,
) -> None:
    """Tokens begin .. end - 1, each against k samples of its own."""
    for i in range(begin, end):
        objective = 0.0
        errors[i] = 0
        for number in range(i * samples, (i + 1) * samples):
            slot = contrast.noise[number]
            score = offsets[slot]
            for k in range(predictions.shape[1]):
                score += predictions[i, k] * vectors[slot, k]
            y = sigmoid(score)
            objective += log_of_noise(score, y)
            noise_errors[number] = y * scale
            for k in range(predictions.shape[1]):
                errors[i, k] += noise_errors[number] * vectors[slot, k]
        objectives[i] = objective + contrast_target(
            i, contrast, predictions, vectors, offsets, scale, errors, target_errors
        )


@compiled
def gather_contrast(
    begin: int,
    end: int,
    contrast: Contrast,
    predictions: Array,
    target_errors: Array,
    noise_errors: Array,
    noise_gradients: Array,
    samples: int,
    gradients: Array,
    bias_gradients: Array,
) -> None:
    """The gradients of the words in slots begin .. end - 1.

    `noise_gradients` has a row for each sample, or none: then a sample belongs to one token and its error is enough.
    """
    length, width = predictions.shape
    for slot in range(begin, end):
        bias = F(0.0)
        for k in range(width):
            gradients[slot, k] = 0
        for at in range(contrast.entries.starts[slot], contrast.entries.starts[slot + 1]):
            entry = contrast.entries.items[at]
            if entry < length:
                error = target_errors[entry]
                for k in range(width):
                    gradients[slot, k] += error * predictions[entry, k]
            elif len(noise_gradients):
                error = noise_errors[entry - length]
                for k in range(width):
                    gradients[slot, k] += noise_gradients[entry - length, k]
            else:
                error = noise_errors[entry - length]
                token = (entry - length) // samples
                for k in range(width):
                    gradients[slot, k] += error * predictions[token, k]
            bias += error
        bias_gradients[slot] = bias
