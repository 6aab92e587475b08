"""Using trained models of any kind."""
