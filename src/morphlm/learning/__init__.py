"""From raw text to the model to use: read, divide, choose by the development text, train, mix, evaluate, describe."""
