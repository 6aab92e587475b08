"""What every model is: the interface, perplexity and the signature of every number."""
