"""The public names of scoring that `morphlm` itself does not have; each is imported when it is first used."""

from .caching import Cached as Cached
from .caching import add_and_test as add_and_test
from .generation import Generated as Generated
from .kbest import Columns as Columns
from .kbest import read_weights as read_weights
from .mixing import Mixed as Mixed
from .mixing import mix_and_test as mix_and_test
from .mixture import MixtureModel as MixtureModel
from .prediction import Continuations as Continuations
from .prediction import Prediction as Prediction
from .prediction import Predictor as Predictor
from .prediction import predict_lines as predict_lines
from .prediction import predict_texts as predict_texts
from .rescoring import Rescored as Rescored
from .rescoring import feature_names as feature_names
from .spelled import SpelledModel as SpelledModel
from .streaming import LineScore as LineScore
from .streaming import TextScorer as TextScorer
from .streaming import TokenScore as TokenScore
from .streaming import score_lines as score_lines
