"""Which words of two parallel sentences translate one another: fast_align's model, both directions, joined."""
