"""Censuses of tensors: bit layouts, counting, and what the counts say. `counting` alone needs NumPy."""
