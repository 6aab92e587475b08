"""Two directions of alignment joined to one: the links of both, of either, or something between."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from morphlm.arrays import starts_of
from morphlm.errors import ConfigError
from morphlm.threads import available_cores, workers
from morphlm.translation.alignment.kernels import symmetry
from morphlm.translation.alignment.links import Alignments, check_same_pairs

Method = Literal["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]
METHODS: tuple[Method, ...] = get_args(Method)

_SMALLEST_PIECE = 256  # pairs


def symmetrise(
    forward: Alignments, backward: Alignments, method: Method = "grow-diag-final-and", *, threads: int | None = None
) -> Alignments:
    """Join `forward`, in which each target word chose its source word, with the `backward` direction, by a `method`.

    grow-diag begins with the intersection and adds neighbours that are in the union and link a word without a link;
    -final adds other links of the union of such words, -final-and only those of two words without a link.
    """
    check_same_pairs(forward, backward, "the two alignments")
    if method not in METHODS:
        raise ConfigError(f"there is no method {method!r}; take one of {', '.join(METHODS)}")
    forward_links, backward_links = (
        symmetry.LinkArrays(links.starts, links.source, links.target) for links in (forward, backward)
    )
    code = METHODS.index(method)
    counts = np.zeros(len(forward), np.int64)
    source, target = (np.empty(len(forward.source) + len(backward.source), np.int32) for _ in range(2))
    joined = symmetry.LinkArrays(forward.starts + backward.starts, source, target)
    with workers(threads or available_cores()) as pool:
        pool.run_ranges(
            lambda begin, end: symmetry.join_links(forward_links, backward_links, begin, end, code, counts, joined),
            len(forward),
            _SMALLEST_PIECE,
        )
    starts = starts_of(counts)
    kept = np.arange(starts[-1]) + np.repeat((joined.starts - starts)[:-1], counts)
    return Alignments(starts, source[kept], target[kept])
