"""Rules with gaps, found for each sentence in the training text."""
