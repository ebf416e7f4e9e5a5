"""Censuses of tensors: bit layouts, tensor files, counting, and what the counts say. Only what counts needs NumPy."""
