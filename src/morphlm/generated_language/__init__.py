"""An artificial language, generated from a seed: text, its translation, and the gold analyses of both.

No part of the models: tests and demos train on it, and `morphlm data get generated` writes it as a data set. It has
prefixes, suffixes, compounds, agreement and a long tail of rare forms. Read `paradigms` and `sounds` (fixed tables)
first, then `lexicon` (stems), `morphology` (word forms), `choice`, `phrases` and `grammar` (sentences), and at last
`segmentation` and `similarity` (gold tables) and `writing`.
"""

from morphlm.generated_language.config import GeneratedConfig
from morphlm.generated_language.grammar import GeneratedSentence, generate_sentences
from morphlm.generated_language.morphology import Word
from morphlm.generated_language.segmentation import gold_segmentation
from morphlm.generated_language.similarity import SimilarityPair, gold_similarity
from morphlm.generated_language.writing import write_generated

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
