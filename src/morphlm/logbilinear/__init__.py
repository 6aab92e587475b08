"""The log-bilinear family of the paper: configuration, parameters, one exact training step, and the language model."""
