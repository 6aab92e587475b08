"""What a person looks at: pictures of the analyses, the report in one HTML file, and the explorer's page."""

from __future__ import annotations

import lazy_loader

# The names are those of __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
