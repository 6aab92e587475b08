"""Compiled loops of the caches."""
