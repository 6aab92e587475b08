"""The search for the best translation of a sentence."""
