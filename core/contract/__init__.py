"""What a model and its host promise each other: declarations, what passes between them, whose fault it is."""
