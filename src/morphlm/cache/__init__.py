"""Caches: words of the text before a sentence are likely to come again in it."""
