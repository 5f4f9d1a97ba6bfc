"""Words and their forms, for headlines, axes and read-outs."""


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def plural(word: str) -> str:
    """Several of what the word names; words in the plural stay."""
    return word if word.endswith("s") else f"{word}s"
