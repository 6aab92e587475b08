"""The demo, and the paper's experiments: recipes, their steps and reports."""
