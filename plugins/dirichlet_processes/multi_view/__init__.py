"""Clusters of samples in each of several views, and how far these depend on each other (see NOTES.md, “Several views”)."""
