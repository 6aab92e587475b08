"""Hierarchical phrase-based translation, with the language models of this package inside the search."""
