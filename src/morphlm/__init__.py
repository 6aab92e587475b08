"""Morphology-aware language models and word vectors, learned from plain text on an ordinary machine.

    import morphlm

    model = morphlm.learn("novel.txt", "novel").model   # or: morphlm.load("novel")
    model.perplexity("other.txt")                       # of a text
    model.score(model.begin(), "word")                  # word by word, as a decoder asks
    model.vectors.neighbours("word")                    # also of words never seen

The main names, by subject:

    models       learn, load, train, train_kinds, train_ngram, tune, mix, add_cache, LanguageModel
    scoring      Perplexity, next_words, generate, rescore, train_spelling
    vectors      WordVectors, KeyedVectors, load_vectors, export_vectors, evaluate_similarity, read_pairs
    text         get_dataset, list_datasets, prepare_files, prepare_lines, make_vocabulary, Vocabulary
    morphemes    train_segmenter, MorphemeSegmenter
    classes      train_classes, read_given_classes, Partition
    errors       MorphlmError and below it InputError, FormatError, ConfigError, TrainingError, ...
    packages     analysis, experiments, extension, report, scoring, segmentation, translation

Messages go to the logger `morphlm` of `logging`; the long calls take `progress=`.
"""

from __future__ import annotations

import lazy_loader

# The names are those of __init__.pyi. The compiler behind the kernels takes half a second to load, so it waits.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
