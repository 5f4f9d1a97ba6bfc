"""Blocks of counts and of links: Poisson and 0/1 likelihoods with degrees of rows and columns."""
