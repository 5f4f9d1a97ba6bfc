"""Numerical kernels: numpy and Numba alone."""
