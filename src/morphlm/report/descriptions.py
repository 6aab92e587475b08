"""What a model is, in one plain sentence, for people who do not know the names of kinds."""

from __future__ import annotations

from morphlm.kinds import find_kind
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.report.models import has_cache
from morphlm.report.numbers import whole
from morphlm.scoring.mixture import MixtureModel

NEW_WORDS = {  # by whether contexts and outputs are sums of morphemes
    (True, True): "Words share the vectors of their morphemes, so it also understands words that it has never seen.",
    (True, False): "The words before share the vectors of their morphemes, so it can read words never seen.",
    (False, True): "The words it predicts share the vectors of their morphemes.",
    (False, False): "Every word has a vector of its own; it knows nothing of their parts.",
}


def describe_model(model: LanguageModel) -> str:
    """One or two sentences on what the model does."""
    if isinstance(model, MixtureModel):
        return _mixture(model)
    if isinstance(model, LogBilinearModel):
        return _logbilinear(model)
    if model.kind in ("mkn", "arpa"):
        return _ngram(model)
    kind = find_kind(model.kind)
    return f"A model of the kind {model.kind}." if kind is None else kind.description


def _ngram(model: LanguageModel) -> str:
    how = "with modified Kneser-Ney smoothing" if model.kind == "mkn" else "read from an ARPA file"
    return f"An n-gram model {how}: it counts which words follow {_words_before(model)}, and knows no vectors."


def _words_before(model: LanguageModel) -> str:
    before = model.order - 1
    return {0: "each other", 1: "the word before"}.get(before, f"the {before} words before")


def _logbilinear(model: LogBilinearModel) -> str:
    config = model.config
    wide = f", and what the last {whole(config.wide)} words are about," if config.wide else ""
    steps = ""
    if model.partition is not None:
        steps = f", first its class ({whole(model.partition.classes)} classes), then the word"
    factors = NEW_WORDS[config.context_factors, config.output_factors]
    return f"A log-bilinear model: the vectors of {_words_before(model)}{wide} predict the next one{steps}. {factors}"


def _mixture(model: MixtureModel) -> str:
    parts = [component.name for component in model.components]
    names = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    weights = "weighted by how much each can be trusted in the context" if model.weights_by == "context" else "weighted"
    caches = " It learns from the text before each sentence." if has_cache(model) else ""
    return f"A mixture of {names}: their probabilities are added up, {weights}.{caches}"
