"""Models in programs in C++ and C: the headers, their library and two examples, which are data of this package."""

from __future__ import annotations

from pathlib import Path


def get_include() -> str:
    """The folder of `morphlm.hpp` and `morphlm.h`, for `g++ -I$(python -c 'import morphlm; print(...)')`.

    Beside it are `morphlm.cc` and `CMakeLists.txt`, which make the library for C, and examples.
    """
    return str(Path(__file__).parent / "include")
