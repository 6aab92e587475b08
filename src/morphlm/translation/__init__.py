"""Hierarchical phrase-based translation, with the language models of this package inside the search."""

from __future__ import annotations

import lazy_loader

# The names are those of __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
