"""The paper's analyses: the numbers behind its tables and figures, for any models and texts."""
