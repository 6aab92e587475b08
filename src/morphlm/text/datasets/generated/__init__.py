"""A small language of our own, made from a seed: text, its translation, and the truth about both.

It has prefixes, suffixes, compounds, agreement and a long tail of rare forms, in any amount. Tests use it, and so does
whoever has nothing else to try the package on.
"""

from morphlm.text.datasets.generated.config import GeneratedConfig
from morphlm.text.datasets.generated.grammar import GeneratedSentence, generate_sentences
from morphlm.text.datasets.generated.morphology import Word
from morphlm.text.datasets.generated.segmentation import gold_segmentation
from morphlm.text.datasets.generated.similarity import SimilarityPair, gold_similarity
from morphlm.text.datasets.generated.writing import write_generated

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
