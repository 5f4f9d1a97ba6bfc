"""What is concluded from a run: names, fitted values, analyses."""
