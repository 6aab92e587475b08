"""Modified Kneser-Ney in bounded memory: sorted runs on disk, merged, with the numbers of the way in memory."""
