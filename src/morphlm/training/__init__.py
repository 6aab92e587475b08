"""Training the log-bilinear models: minibatches, the loop with early stopping, checkpoints, and the whole chain."""
