"""What a kind of model of one's own is made of; see docs/extending.md."""

from morphlm.errors import ConfigError, FormatError, InputError, StateError, WordIdError
from morphlm.kinds import ModelKind, register
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.settings import Settings, setting
from morphlm.training.job import TrainingJob
from morphlm.vocabulary.vocabulary import (
    BEGIN_ID,
    END_ID,
    UNK_ID,
    VOCABULARY_FILE,
    Vocabulary,
    parse_vocabulary,
)

__all__ = [
    "BEGIN_ID",
    "END_ID",
    "UNK_ID",
    "VOCABULARY_FILE",
    "ConfigError",
    "FormatError",
    "InputError",
    "LanguageModel",
    "ModelFiles",
    "ModelKind",
    "Settings",
    "StateError",
    "TrainingJob",
    "UnknownContexts",
    "Vocabulary",
    "WordIdError",
    "check_self_test",
    "parse_vocabulary",
    "register",
    "setting",
    "write_model",
]
