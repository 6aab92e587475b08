"""The public names of the folder; each is imported when it is first used."""

from .evaluation import BoundaryScores as BoundaryScores
from .evaluation import evaluate as evaluate
from .factors import Factors as Factors
from .factors import build_factors as build_factors
from .gold import Gold as Gold
from .gold import read_gold as read_gold
from .morphemes import Morpheme as Morpheme
from .morphemes import Segmentation as Segmentation
from .segmenter import MorphemeSegmenter as MorphemeSegmenter
from .segmenter import SegmenterConfig as SegmenterConfig
from .segmenter import train_segmenter as train_segmenter
from .source_spec import as_factorisation as as_factorisation
from .source_spec import choose_source as choose_source
from .sources.conllu import read_conllu as read_conllu
from .sources.factorisation import Factorisation as Factorisation
from .sources.factorisation import RestorableWordFactors as RestorableWordFactors
from .sources.factorisation import WordFactors as WordFactors
from .sources.morfessor import read_morfessor as read_morfessor
from .sources.ngrams import character_ngrams as character_ngrams
from .sources.pieces import train_pieces as train_pieces
from .sources.registry import FactorSource as FactorSource
from .sources.registry import register_factor_source as register_factor_source
from .sources.table import read_table as read_table
