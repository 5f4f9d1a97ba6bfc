"""Words and their forms, for headlines, axes and read-outs."""

import re


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def headed(name: str) -> str:
    """A name at the head of a line: a capital for what is only numbered (“Factor 2”), names of the data as they are."""
    return capital(name) if re.fullmatch(r"[a-z ]+ \d+", name) else name
