"""The public names of scoring that `morphlm` itself does not have; each is imported when it is first used."""

from .mixing import mix_and_test as mix_and_test
from .prediction import Predictor as Predictor
from .spelled import SpelledModel as SpelledModel
from .streaming import LineScore as LineScore
from .streaming import TextScorer as TextScorer
from .streaming import score_lines as score_lines
