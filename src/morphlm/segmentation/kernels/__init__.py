"""Compiled loops of the segmenter: a table of letter strings, the baseline search, the categories, the best paths."""
