"""One short file a command; parses, calls, prints."""
