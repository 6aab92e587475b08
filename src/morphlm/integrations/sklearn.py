"""Features of texts for scikit-learn: vectors and perplexities, from a model of any kind.

The class derives from one of scikit-learn, which is imported when the class is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morphlm.extras import import_package

if TYPE_CHECKING:
    from morphlm.integrations.sklearn_features import SentenceFeatures

__all__ = ["SentenceFeatures"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    features = import_package(
        "morphlm.integrations.sklearn_features", "scikit-learn", "features of texts for pipelines need"
    )
    return getattr(features, name)
