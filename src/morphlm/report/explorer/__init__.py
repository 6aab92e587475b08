"""The explorer: a page on this machine on which models can be asked, and the same operations as a JSON API."""
