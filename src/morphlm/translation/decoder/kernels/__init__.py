"""Compiled loops of the decoder: matching, combining words, cube pruning, recombination."""
