"""Topics of documents by a hierarchical Dirichlet process (see NOTES.md, “Topics”)."""
