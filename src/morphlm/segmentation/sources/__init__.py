"""Sources of mu: files of Morfessor and FlatCat, sentencepiece, character n-grams, CoNLL-U, a table of one's own.

Each gives a Segmentation, where the pieces joined are the word, or a Factorisation, which may say anything of a word.
"""
