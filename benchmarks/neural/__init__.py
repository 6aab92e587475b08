"""Neural language models on the same text, vocabulary and CPU seconds: what ours are measured against."""
