"""Word and morpheme vectors of a trained model: composing, neighbours, word similarity, files of other tools."""
