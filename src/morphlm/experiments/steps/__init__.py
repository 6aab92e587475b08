"""The kinds of steps of an experiment, a class in a module of its own for each."""
