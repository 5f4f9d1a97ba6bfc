"""Parameter searches: a grid of settings set up, run, ranked and picked from."""
