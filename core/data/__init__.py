"""Data as they are fitted: datasets, readers of files, joining, transforming, turning."""
