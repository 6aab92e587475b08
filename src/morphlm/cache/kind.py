"""The records of caches among the kinds of models."""

from __future__ import annotations

from morphlm.kinds import ModelKind


def _cache(name: str, description: str, *, needs_classes: bool = False, needs_factors: bool = False) -> ModelKind:
    return ModelKind(
        name=name,
        description=description,
        read="morphlm.cache.model:cache_from_files",
        schema="morphlm.cache.schema:CACHE",
        train="morphlm.training.cache:train_cache",
        options="morphlm.cache.config:CacheOptions",
        modules=("morphlm.cache", "morphlm.training.cache"),
        needs_classes=needs_classes,
        needs_factors=needs_factors,
        stands_alone=False,
        family="cache",
        cost="morphlm.cache.cost:estimate_cost",
    )


CACHE = _cache("cache", "Words of the text before the sentence, with decaying weights; to be mixed with other models.")
CLASS_CACHE = _cache("class-cache", "The same by classes: a word raises those of its class.", needs_classes=True)
MORPHEME_CACHE = _cache(
    "morpheme-cache", "The same by morphemes: a stem seen lately raises its other forms.", needs_factors=True
)
FROZEN = ModelKind(
    name="frozen-cache",
    description="A cache that is fixed by a text, made by `after_text` and `morphlm export --after`.",
    read="morphlm.ngram.model:ngram_from_files",
    schema="morphlm.ngram.schema:NGRAM",
    decoder_scorer="morphlm.ngram.batch_scorer:NgramScorer",
)
NEURAL = ModelKind(
    name="neural-cache",
    description="A log-bilinear model with a neural cache, made by `morphlm cache`.",
    read="morphlm.cache.neural:neural_cache_from_files",
    schema="morphlm.cache.schema:NEURAL_CACHE",
    has_vectors=True,
)
KINDS = (CACHE, CLASS_CACHE, MORPHEME_CACHE, FROZEN, NEURAL)
