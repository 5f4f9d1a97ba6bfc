"""A session and its file; a fit in one call; exports and recovery."""
