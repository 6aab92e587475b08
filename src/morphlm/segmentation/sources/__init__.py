"""Sources of mu: files of Morfessor and FlatCat, sentencepiece, character n-grams, CoNLL-U, a table of one's own.

Each gives a Segmentation, where the pieces joined are the word, or a Factorisation, which may say anything of a word.
"""

from morphlm.segmentation.sources.conllu import read_conllu
from morphlm.segmentation.sources.factorisation import Factor, Factorisation, from_mapping, from_segmentation
from morphlm.segmentation.sources.morfessor import read_morfessor
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.segmentation.sources.pieces import PieceAnalyser, train_pieces
from morphlm.segmentation.sources.table import read_table

__all__ = [
    "Factor",
    "Factorisation",
    "PieceAnalyser",
    "character_ngrams",
    "from_mapping",
    "from_segmentation",
    "read_conllu",
    "read_morfessor",
    "read_table",
    "train_pieces",
]
