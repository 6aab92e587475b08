"""Morphology-aware language models and word vectors, learned from plain text on an ordinary machine."""

from __future__ import annotations

import lazy_loader

# The names are those of __init__.pyi. The compiler behind the kernels takes half a second to load, so it waits.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
