"""The output side without classes: noise-contrastive estimation (Gutmann & Hyvarinen 2012; Mnih & Teh 2012).

A token's word is told from k words drawn from the unigram distribution p_n: the model says that w is from the text with
probability sigma(nu(w) - ln k p_n(w)). Words are in slots 0 .. U - 1, every different target and noise word once.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled, group_by, inlined, sigmoid
from morphlm.logbilinear.kernels.records import Layer, Predictions, SparseRows

F = np.float32
SMALLEST = 1e-30


class Contrast(NamedTuple):
    """Targets and noise of a minibatch."""

    words: Array  # int32 (U): the word in each slot
    targets: Array  # int32 (L): slots
    noise: Array  # int32 (samples): slots; k for each block of tokens
    samples: int  # k
    block: int  # tokens that share their k samples; 1: each token has its own
    entries: SparseRows  # by slot: tokens i where it is the target as i, samples s where it is noise as L + s


class ContrastErrors(NamedTuple):
    """What the scores of targets and noise give back."""

    targets: Array  # float32 (L,): the error of each target's score
    noise: Array  # float32 (samples,): the error of each sample's score, summed over its block
    noise_gradients: Array  # float32 (samples, d): of the samples' vectors; no rows if each token has its own samples


@compiled
def list_words(targets: Array, noise: Array, slot_of: Array) -> tuple[Array, Array, Array]:
    """The different words of targets and noise, and the slots of both; `slot_of` is working space, -1 throughout."""
    both = np.concatenate((targets, noise))
    slots, words = np.empty(len(both), np.int32), np.empty(len(both), np.int32)
    size = 0
    for i in range(len(both)):
        if slot_of[both[i]] < 0:
            slot_of[both[i]] = size
            words[size] = both[i]
            size += 1
        slots[i] = slot_of[both[i]]
    for slot in range(size):
        slot_of[words[slot]] = -1
    length = len(targets)
    return words[:size].copy(), slots[:length].copy(), slots[length:].copy()


@compiled
def list_entries(targets: Array, noise: Array, size: int) -> SparseRows:
    """By slot: tokens i where it is the target as i, samples s where it is noise as L + s."""
    return group_by(np.concatenate((targets, noise)), size)


@inlined
def log_of_noise(score: float, y: float) -> float:
    """ln(1 - sigma) of a sample, from its score and y = sigma(score); without cancelling where y is nearly 1."""
    return np.log(F(1.0) - y) if score < 0 else np.log(y) - score


@compiled
def contrast_shared(
    begin: int,
    end: int,
    contrast: Contrast,
    layer: Layer,
    predictions: Predictions,
    errors: ContrastErrors,
    objectives: Array,
) -> None:
    """Blocks begin .. end - 1 of the tokens, each against its own k samples; biases of the layer are b_w - ln k p_n(w).

    Writes dL/dp, the error of each target's score, and the gradient of each sample's vector and bias.
    """
    block, samples, vectors, biases = contrast.block, contrast.samples, layer.vectors, layer.biases
    length, width = predictions.vectors.shape
    scores, noise = np.empty((block, samples), F), np.empty((samples, width), F)
    for number in range(begin, end):
        a, b = number * block, min((number + 1) * block, length)
        p = predictions.vectors[a:b]
        drawn = contrast.noise[number * samples : (number + 1) * samples]
        for q in range(samples):
            for k in range(width):
                noise[q, k] = vectors[drawn[q], k]
        s = scores[: b - a]
        np.dot(p, noise.T, s)
        sums = errors.noise[number * samples : (number + 1) * samples]
        sums[:] = 0
        objective = 0.0
        for i in range(b - a):
            for q in range(samples):
                score = s[i, q] + biases[drawn[q]]
                y = sigmoid(score)
                objective += log_of_noise(score, y)
                s[i, q] = y * predictions.scale
                sums[q] += y * predictions.scale
        np.dot(s, noise, predictions.errors[a:b])
        np.dot(s.T, p, errors.noise_gradients[number * samples : (number + 1) * samples])
        for i in range(a, b):
            objective += contrast_target(i, contrast, layer, predictions, errors)
        objectives[number] = objective


@inlined
def contrast_target(
    i: int, contrast: Contrast, layer: Layer, predictions: Predictions, errors: ContrastErrors
) -> float:
    """The target of token i: adds to dL/dp, keeps the error of its score, returns ln sigma."""
    slot, width = contrast.targets[i], predictions.vectors.shape[1]
    score = layer.biases[slot]
    for k in range(width):
        score += predictions.vectors[i, k] * layer.vectors[slot, k]
    y = sigmoid(score)
    errors.targets[i] = (y - F(1.0)) * predictions.scale
    for k in range(width):
        predictions.errors[i, k] += errors.targets[i] * layer.vectors[slot, k]
    return np.log(max(y, F(SMALLEST)))


@compiled
def contrast_each(
    begin: int,
    end: int,
    contrast: Contrast,
    layer: Layer,
    predictions: Predictions,
    errors: ContrastErrors,
    objectives: Array,
) -> None:
    """Tokens begin .. end - 1, each against k samples of its own."""
    samples, width, vectors = contrast.samples, predictions.vectors.shape[1], layer.vectors
    for i in range(begin, end):
        objective = 0.0
        predictions.errors[i] = 0
        for number in range(i * samples, (i + 1) * samples):
            slot = contrast.noise[number]
            score = layer.biases[slot]
            for k in range(width):
                score += predictions.vectors[i, k] * vectors[slot, k]
            y = sigmoid(score)
            objective += log_of_noise(score, y)
            errors.noise[number] = y * predictions.scale
            for k in range(width):
                predictions.errors[i, k] += errors.noise[number] * vectors[slot, k]
        objectives[i] = objective + contrast_target(i, contrast, layer, predictions, errors)


@compiled
def gather_contrast(
    begin: int, end: int, contrast: Contrast, predictions: Array, errors: ContrastErrors, gradient: Layer
) -> None:
    """The gradients of the words in slots begin .. end - 1; (L, d) are the predictions."""
    length, width = predictions.shape
    gradients, noise_gradients = gradient.vectors, errors.noise_gradients
    for slot in range(begin, end):
        bias = F(0.0)
        for k in range(width):
            gradients[slot, k] = 0
        for at in range(contrast.entries.starts[slot], contrast.entries.starts[slot + 1]):
            entry = contrast.entries.items[at]
            if entry < length:
                error = errors.targets[entry]
                for k in range(width):
                    gradients[slot, k] += error * predictions[entry, k]
            elif len(noise_gradients):
                error = errors.noise[entry - length]
                for k in range(width):
                    gradients[slot, k] += noise_gradients[entry - length, k]
            else:
                error = errors.noise[entry - length]
                token = (entry - length) // contrast.samples
                for k in range(width):
                    gradients[slot, k] += error * predictions[token, k]
            bias += error
        gradient.biases[slot] = bias
