"""What chains keep, and what can be said of it: convergence, summaries, orders."""
