"""Numba kernels of the plaid models: numpy and numba only, one signature each."""
