"""Tests of pages have a browser."""

from tests.browser import browser, chromium

__all__ = ["browser", "chromium"]
