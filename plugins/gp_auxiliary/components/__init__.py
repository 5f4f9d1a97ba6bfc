"""Principal components of zeros and ones."""
