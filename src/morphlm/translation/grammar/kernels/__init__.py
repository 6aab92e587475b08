"""Compiled loops of the grammar: finding patterns in the text, extracting rules from what was found, counting them."""
