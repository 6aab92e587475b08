"""Hypothesis strategies that several test modules share."""

from __future__ import annotations

from hypothesis import strategies as st

# Few words, so that n-grams repeat; some beyond ASCII.
WORDS = ["a", "b", "pro", "novou", "školu", "ж", "ნ"]

tokens = st.lists(st.sampled_from(WORDS), max_size=7)
texts = st.lists(tokens, min_size=1, max_size=12).filter(any)
