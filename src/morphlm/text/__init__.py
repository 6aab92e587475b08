"""Reading, preparing and fetching text."""
