"""How good translations are: BLEU and chrF, and whether two systems differ by more than chance."""
