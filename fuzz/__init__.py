"""Fuzzing of every reader: targets, mutations, and `python -m fuzz.run` (`make fuzz`)."""
