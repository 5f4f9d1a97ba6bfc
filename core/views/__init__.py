"""Views that are pictures: each module has the name of its kind and a function ``load(sources, choices) -> Picture``."""
