"""A server that translates: operations without HTTP, the JSON interface, and how it starts."""
