"""What a kind of model of one's own is made of; see docs/extending.md."""

from morphlm.errors import ConfigError, FormatError, InputError, StateError, WordIdError
from morphlm.kinds import ModelKind, register
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.language_model.schema import TRAINING
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.schema import (
    Anything,
    ArtefactSchema,
    Boolean,
    Contents,
    Integer,
    JsonText,
    ListOf,
    MapOf,
    Number,
    Record,
    String,
    Tensor,
    Text,
    nullable,
    settings_record,
)
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
    "TRAINING",
    "UNK_ID",
    "VOCABULARY_FILE",
    "Anything",
    "ArtefactSchema",
    "Boolean",
    "ConfigError",
    "Contents",
    "FormatError",
    "InputError",
    "Integer",
    "JsonText",
    "LanguageModel",
    "ListOf",
    "MapOf",
    "ModelFiles",
    "ModelKind",
    "Number",
    "Record",
    "Settings",
    "StateError",
    "String",
    "Tensor",
    "Text",
    "TrainingJob",
    "UnknownContexts",
    "Vocabulary",
    "WordIdError",
    "check_self_test",
    "nullable",
    "parse_vocabulary",
    "register",
    "setting",
    "settings_record",
    "write_model",
]
