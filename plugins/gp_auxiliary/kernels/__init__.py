"""Numerical core of the Gaussian process models: numpy and numba only."""
