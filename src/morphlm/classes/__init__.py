"""The partition of the vocabulary into classes."""
