"""Grades by several raters."""
