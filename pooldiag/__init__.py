"""Finds out which mechanism turns a test binary red, and says no more than its runs carry."""

__version__ = "0.1.0"
