"""Compiled loops of the log-bilinear models: arrays in, arrays out; one file a stage of the training step."""
