"""Weights that make translations good: statistics of BLEU, minimum error rate training, and tests of differences."""
