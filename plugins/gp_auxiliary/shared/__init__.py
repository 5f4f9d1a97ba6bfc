"""What all Gaussian process models here share: covariances, their roots, evidence, moves of hyperparameters."""
