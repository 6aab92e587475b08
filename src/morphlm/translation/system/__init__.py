"""A translation system: its directory, how it is built and tuned, and what it writes."""
