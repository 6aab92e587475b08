"""The package's stages put together: the demo."""
