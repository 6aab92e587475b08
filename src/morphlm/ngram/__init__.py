"""Modified Kneser-Ney: counting, discounts, estimation, ARPA files, fast queries."""
