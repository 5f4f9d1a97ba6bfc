"""A fit: its plan, the engine, chains, who runs them, and the run they make."""
