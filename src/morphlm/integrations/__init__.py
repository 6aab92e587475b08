"""Adapters for other packages, a module each; none of those packages is needed until a module is used."""
