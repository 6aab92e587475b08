"""Writing ARPA files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from morphlm.arrays import release_pages
from morphlm.errors import ConfigError
from morphlm.files import atomic_writer
from morphlm.ngram import kernels
from morphlm.ngram.trie import NgramTrie
from morphlm.progress import progress_bar
from morphlm.vocabulary.vocabulary import Vocabulary

_BUFFER_BYTES = 1 << 22


def write_arpa(path: str | Path, trie: NgramTrie, vocabulary: Vocabulary) -> None:
    """Write the model in ARPA format, compressed if the name says so."""
    if trie.has_members:
        raise ConfigError(
            "this model was extended by words that share the probability of UNK after every context, which an ARPA "
            "file cannot say; export it as a compiled file, or write the model that was extended"
        )
    forms = np.frombuffer("".join(vocabulary.words).encode(), np.uint8)
    lengths = np.array([len(word.encode()) for word in vocabulary.words], np.int64)
    form_starts = np.concatenate([[0], np.cumsum(lengths)])
    starts = np.concatenate([[0], np.cumsum(trie.sizes)])
    longest = int(lengths.max())
    buffer = np.empty(max(_BUFFER_BYTES, 4 * trie.order * (longest + 64)), np.uint8)
    source = kernels.ArpaSource(
        trie.first_child, trie.words, trie.logprob, trie.backoff, forms, form_starts, longest
    )  # fmt: skip
    with atomic_writer(path) as file, progress_bar("writing ARPA", int(starts[-1]), "n-gram") as bar:
        counts = "".join(f"ngram {n}={size}\n" for n, size in enumerate(trie.sizes, 1))
        file.write(f"\\data\\\n{counts}".encode())
        for n in range(1, trie.order + 1):
            file.write(f"\n\\{n}-grams:\n".encode())
            node, end = int(starts[n - 1]), int(starts[n])
            ancestors = starts[:n].copy()
            while node < end:
                used, following = kernels.write_arpa_lines(buffer, node, end, ancestors, source)
                file.write(buffer[:used].tobytes())
                bar.update(following - node)
                node = following
                for array in trie.arrays:
                    release_pages(array)  # a trie that was counted on disk may be larger than memory
        file.write(b"\n\\end\\\n")
