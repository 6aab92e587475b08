"""An artificial language, generated from a seed: text, its translation, and the gold analyses of both.

No part of the models: tests and demos train on it, and `morphlm data get generated` writes it as a data set. It has
prefixes, suffixes, compounds, agreement and a long tail of rare forms. Read `paradigms` and `sounds` (fixed tables)
first, then `lexicon` (stems), `morphology` (word forms), `choice`, `phrases` and `grammar` (sentences), and at last
`segmentation` and `similarity` (gold tables) and `writing`.
"""

from morphlm_generated.config import GeneratedConfig
from morphlm_generated.grammar import GeneratedSentence, generate_sentences
from morphlm_generated.morphology import Word
from morphlm_generated.segmentation import gold_segmentation
from morphlm_generated.similarity import SimilarityPair, gold_similarity
from morphlm_generated.writing import write_generated

__all__ = [
    "GeneratedConfig",
    "GeneratedSentence",
    "SimilarityPair",
    "Word",
    "generate_sentences",
    "gold_segmentation",
    "gold_similarity",
    "write_generated",
]
