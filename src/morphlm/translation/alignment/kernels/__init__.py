"""Compiled loops of word alignment: arrays in, arrays out."""
