"""A small language of our own, made from a seed: text, its translation, and the truth about both."""

from morphlm.text.datasets.generated.config import GeneratedConfig
from morphlm.text.datasets.generated.grammar import GeneratedSentence, generate_sentences

__all__ = ["GeneratedConfig", "GeneratedSentence", "generate_sentences"]
