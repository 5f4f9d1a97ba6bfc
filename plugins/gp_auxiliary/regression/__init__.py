"""Gaussian process regression: numbers instead of classes, with the covariances and moves of the classifiers."""
