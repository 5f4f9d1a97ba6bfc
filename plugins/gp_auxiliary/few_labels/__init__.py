"""Classification where most samples have no label."""
