"""Capital letters for translations in small letters, learned from text of the target language."""
