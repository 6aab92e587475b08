"""Morphology-aware language models and word vectors, learned from plain text on an ordinary machine."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from morphlm.errors import ConfigError, FetchError, FormatError, InputError, MorphlmError, TrainingError
from morphlm.version import __version__

if TYPE_CHECKING:
    from morphlm.classes.exchange import cluster as cluster
    from morphlm.classes.partition import Partition as Partition
    from morphlm.language_model.base import LanguageModel as LanguageModel
    from morphlm.language_model.perplexity import Perplexity as Perplexity
    from morphlm.ngram.model import NgramModel as NgramModel
    from morphlm.ngram.training import train_ngram as train_ngram
    from morphlm.scoring.loading import load as load
    from morphlm.scoring.mixing import mix as mix
    from morphlm.segmentation.segmenter import MorphemeSegmenter as MorphemeSegmenter
    from morphlm.segmentation.segmenter import train_segmenter as train_segmenter
    from morphlm.text.datasets import get_dataset as get_dataset
    from morphlm.text.prepare import PrepareOptions as PrepareOptions
    from morphlm.text.prepare import prepare_lines as prepare_lines
    from morphlm.training.chain import train as train
    from morphlm.vocabulary.corpus import read_corpus as read_corpus
    from morphlm.vocabulary.vocabulary import Vocabulary as Vocabulary
    from morphlm.vocabulary.vocabulary import load_vocabulary as load_vocabulary

# Imported on first use: the compiler behind the kernels takes half a second to load.
_LAZY = {
    "LanguageModel": "morphlm.language_model.base",
    "MorphemeSegmenter": "morphlm.segmentation.segmenter",
    "NgramModel": "morphlm.ngram.model",
    "Partition": "morphlm.classes.partition",
    "Perplexity": "morphlm.language_model.perplexity",
    "PrepareOptions": "morphlm.text.prepare",
    "Vocabulary": "morphlm.vocabulary.vocabulary",
    "cluster": "morphlm.classes.exchange",
    "get_dataset": "morphlm.text.datasets",
    "load": "morphlm.scoring.loading",
    "load_vocabulary": "morphlm.vocabulary.vocabulary",
    "mix": "morphlm.scoring.mixing",
    "prepare_lines": "morphlm.text.prepare",
    "read_corpus": "morphlm.vocabulary.corpus",
    "train": "morphlm.training.chain",
    "train_ngram": "morphlm.ngram.training",
    "train_segmenter": "morphlm.segmentation.segmenter",
}

__all__ = [
    "ConfigError",
    "FetchError",
    "FormatError",
    "InputError",
    "LanguageModel",
    "MorphemeSegmenter",
    "MorphlmError",
    "NgramModel",
    "Partition",
    "Perplexity",
    "PrepareOptions",
    "TrainingError",
    "Vocabulary",
    "__version__",
    "cluster",
    "get_dataset",
    "load",
    "load_vocabulary",
    "mix",
    "prepare_lines",
    "read_corpus",
    "train",
    "train_ngram",
    "train_segmenter",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'morphlm' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
