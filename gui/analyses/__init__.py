"""Work beyond the fit: choose an analysis, answer what it asks, look at what it found."""
