"""Compiled loops of the log-bilinear models: arrays in, arrays out; one file per stage of the training step."""
