"""Classification: two or more classes, ordered ones, and the quick look."""
