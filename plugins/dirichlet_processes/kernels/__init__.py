"""Numerical kernels of the mixtures: numpy and numba alone."""
