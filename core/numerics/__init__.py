"""Array kernels shared by models and summaries: numba and numpy, nothing else."""
