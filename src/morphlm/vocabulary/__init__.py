"""Words and their counts, singleton pruning with rate kappa, and text as arrays of ids."""
