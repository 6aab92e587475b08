"""Morphology-aware language models and word vectors, learned from plain text on an ordinary machine."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from morphlm import kernel_cache
from morphlm.errors import ConfigError, FetchError, FormatError, InputError, MorphlmError, TrainingError
from morphlm.version import __version__

if TYPE_CHECKING:
    from morphlm.classes.exchange import cluster as cluster
    from morphlm.classes.partition import Partition as Partition
    from morphlm.language_model.base import LanguageModel as LanguageModel
    from morphlm.language_model.perplexity import Perplexity as Perplexity
    from morphlm.ngram.model import NgramModel as NgramModel
    from morphlm.ngram.training import train_ngram as train_ngram
    from morphlm.scoring.generation import GenerationOptions as GenerationOptions
    from morphlm.scoring.generation import generate as generate
    from morphlm.scoring.loading import load as load
    from morphlm.scoring.mixing import mix as mix
    from morphlm.scoring.prediction import next_words as next_words
    from morphlm.scoring.rescoring import Rescorer as Rescorer
    from morphlm.scoring.rescoring import RescoringOptions as RescoringOptions
    from morphlm.scoring.rescoring import rescore as rescore
    from morphlm.scoring.spelling import train_spelling as train_spelling
    from morphlm.segmentation.segmenter import MorphemeSegmenter as MorphemeSegmenter
    from morphlm.segmentation.segmenter import train_segmenter as train_segmenter
    from morphlm.text.datasets import get_dataset as get_dataset
    from morphlm.text.prepare import PrepareOptions as PrepareOptions
    from morphlm.text.prepare import prepare_lines as prepare_lines
    from morphlm.training.pipeline import train as train
    from morphlm.vectors.export import export_vectors as export_vectors
    from morphlm.vectors.keyed import KeyedVectors as KeyedVectors
    from morphlm.vectors.reading import load_vectors as load_vectors
    from morphlm.vectors.similarity import evaluate_similarity as evaluate_similarity
    from morphlm.vectors.similarity import read_pairs as read_pairs
    from morphlm.vectors.vectors import WordVectors as WordVectors
    from morphlm.vocabulary.corpus import read_corpus as read_corpus
    from morphlm.vocabulary.vocabulary import Vocabulary as Vocabulary
    from morphlm.vocabulary.vocabulary import load_vocabulary as load_vocabulary

kernel_cache.discard_stale()  # before any kernel is imported

# Imported on first use: the compiler behind the kernels takes half a second to load.
_LAZY = {
    "GenerationOptions": "morphlm.scoring.generation",
    "KeyedVectors": "morphlm.vectors.keyed",
    "LanguageModel": "morphlm.language_model.base",
    "MorphemeSegmenter": "morphlm.segmentation.segmenter",
    "NgramModel": "morphlm.ngram.model",
    "Partition": "morphlm.classes.partition",
    "Perplexity": "morphlm.language_model.perplexity",
    "PrepareOptions": "morphlm.text.prepare",
    "Rescorer": "morphlm.scoring.rescoring",
    "RescoringOptions": "morphlm.scoring.rescoring",
    "Vocabulary": "morphlm.vocabulary.vocabulary",
    "WordVectors": "morphlm.vectors.vectors",
    "cluster": "morphlm.classes.exchange",
    "evaluate_similarity": "morphlm.vectors.similarity",
    "export_vectors": "morphlm.vectors.export",
    "generate": "morphlm.scoring.generation",
    "get_dataset": "morphlm.text.datasets",
    "load": "morphlm.scoring.loading",
    "load_vectors": "morphlm.vectors.reading",
    "load_vocabulary": "morphlm.vocabulary.vocabulary",
    "mix": "morphlm.scoring.mixing",
    "next_words": "morphlm.scoring.prediction",
    "prepare_lines": "morphlm.text.prepare",
    "read_corpus": "morphlm.vocabulary.corpus",
    "read_pairs": "morphlm.vectors.similarity",
    "rescore": "morphlm.scoring.rescoring",
    "train": "morphlm.training.pipeline",
    "train_ngram": "morphlm.ngram.training",
    "train_segmenter": "morphlm.segmentation.segmenter",
    "train_spelling": "morphlm.scoring.spelling",
}

__all__ = [
    "ConfigError",
    "FetchError",
    "FormatError",
    "GenerationOptions",
    "InputError",
    "KeyedVectors",
    "LanguageModel",
    "MorphemeSegmenter",
    "MorphlmError",
    "NgramModel",
    "Partition",
    "Perplexity",
    "PrepareOptions",
    "Rescorer",
    "RescoringOptions",
    "TrainingError",
    "Vocabulary",
    "WordVectors",
    "__version__",
    "cluster",
    "evaluate_similarity",
    "export_vectors",
    "generate",
    "get_dataset",
    "load",
    "load_vectors",
    "load_vocabulary",
    "mix",
    "next_words",
    "prepare_lines",
    "read_corpus",
    "read_pairs",
    "rescore",
    "train",
    "train_ngram",
    "train_segmenter",
    "train_spelling",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'morphlm' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)
