"""ARPA files in and out. Numbers in the file are decimal logarithms, ours are natural ones."""
