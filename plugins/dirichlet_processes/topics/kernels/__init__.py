"""Numba kernels of the topic model."""
