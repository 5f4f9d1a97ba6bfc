"""Loops over cells, rows and samples; numpy and numba only."""
