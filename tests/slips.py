"""Finds slips of writing in texts of the program: doubled words and stops, wrong articles, spaces in the wrong place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_SLIP = re.compile(
    r"(?<!\.)\.\.(?!\.)"  # "2.."
    r"|[a-z,.] {2,}[a-z]"  # others set names, signs and numbers apart
    r"| [,.;:](?:\s|$)"
    r"|\b(the|of|is|to|and|a|in|that|are|be|with|for) \1\b"
    r"|\ba [aeio][a-z]|\ban [bcdfgjklmnpqrtvwz][a-z]"
)


def slips(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each; what is put into a text is ``{}``, and docstrings are not looked at."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    within = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare | within:
            text = node.value
        else:
            continue
        if " " in text.strip() and _SLIP.search(text):
            yield node.lineno, text
