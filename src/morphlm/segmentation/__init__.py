"""Labelled morphemes: every word as its surface form plus prefixes, stems and suffixes, and mu as a sparse matrix."""
