"""Finds visible texts in which a number is followed by a noun in the plural that would stay so for one: “1 chains”."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

NOUNS = [
    "analyses",
    "annotations",
    "arrays",
    "axes",
    "bits",
    "blocks",
    "bytes",
    "calls",
    "categories",
    "cells",
    "chains",
    "changes",
    "characters",
    "classes",
    "clusters",
    "columns",
    "components",
    "copies",
    "counts",
    "curves",
    "datasets",
    "dimensions",
    "dims",
    "documents",
    "draws",
    "edges",
    "effects",
    "entries",
    "epochs",
    "errors",
    "estimates",
    "examples",
    "factors",
    "features",
    "files",
    "fits",
    "folds",
    "genes",
    "genotypes",
    "groupings",
    "groups",
    "images",
    "individuals",
    "inputs",
    "intervals",
    "items",
    "iterations",
    "jobs",
    "labels",
    "levels",
    "lines",
    "links",
    "logs",
    "marks",
    "matches",
    "matrices",
    "members",
    "models",
    "names",
    "neighbours",
    "nodes",
    "numbers",
    "objects",
    "observations",
    "pages",
    "pairs",
    "parameters",
    "parts",
    "passages",
    "people",
    "permutations",
    "pictures",
    "pixels",
    "places",
    "planes",
    "plugins",
    "points",
    "positions",
    "processes",
    "quantities",
    "raters",
    "ratings",
    "records",
    "replicates",
    "results",
    "restarts",
    "rows",
    "runs",
    "samples",
    "seeds",
    "sessions",
    "sets",
    "settings",
    "sheets",
    "simulations",
    "sizes",
    "solutions",
    "stages",
    "starts",
    "steps",
    "studies",
    "subjects",
    "sweeps",
    "tables",
    "terms",
    "tests",
    "texts",
    "thirds",
    "threads",
    "tokens",
    "topics",
    "traces",
    "trials",
    "trips",
    "values",
    "variables",
    "views",
    "weights",
    "words",
    "workers",
    "years",
]
"""What the program counts, in the plural."""

_PLURAL = re.compile(rf" (?:[a-z\-]+ ){{0,2}}?(?:{'|'.join(NOUNS)})\b")
_NO_ADJECTIVES = re.compile(
    r" (?:is|are|was|were|has|have|had|holds?|needs?|names?|of|in|and|or|with|for|to|from|does|differs?|occurs?|goes|"
    r"gives|counts|has|as|by|at|on|than|times|that|which|if|because|without|between|per|more than|the|no|its|their|"
    r"not|but|nor|into|came|became|allows|leaves|raises|marks|links|reads|means|sets|values) "
)
_WORDS = {
    "title",
    "name",
    "names",
    "path",
    "label",
    "word",
    "words",
    "what",
    "text",
    "kind",
    "of",
    "at",
    "titles",
}


def wrong_counts(source: str) -> Iterator[tuple[int, str]]:
    """Line and words of each number in an f-string that a noun in the plural, or a word with an s, follows; constants in
    capitals, which are never 1, numbers with decimals and texts are left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                if isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant):
                    yield from _judged(value, str(after.value))
            for value, gap, word, end in zip(
                node.values, node.values[1:], node.values[2:], node.values[3:], strict=False
            ):
                ends = isinstance(end, ast.Constant) and re.match(r"s\b", str(end.value))
                if ends and _is_blank(gap) and isinstance(value, ast.FormattedValue) and _is_count(value):
                    yield value.lineno, f"{{{ast.unparse(value.value)}}} {{{ast.unparse(word)}}}s"


def _is_blank(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value == " "


def _judged(value: ast.FormattedValue, after: str) -> Iterator[tuple[int, str]]:
    if not _is_count(value):
        return
    found = _PLURAL.match(after)
    if found is not None and not _NO_ADJECTIVES.match(after):
        yield value.lineno, f"{{{ast.unparse(value.value)}}}{found.group()}"


def _is_count(value: ast.FormattedValue) -> bool:
    """Whether a number, perhaps 1, may be shown: not text, not a constant, not a fraction."""
    if value.conversion != -1 or (value.format_spec is not None and "." in ast.unparse(value.format_spec)):
        return False
    shown = value.value
    if isinstance(shown, ast.Call):
        name = shown.func.id if isinstance(shown.func, ast.Name) else getattr(shown.func, "attr", "")
        return name in {"format_count", "len", "int", "sum", "min", "max"} and not (
            name == "format_count" and _constant(shown.args[0])
        )
    if isinstance(shown, ast.Constant | ast.IfExp | ast.JoinedStr) or _constant(shown):
        return False
    last = shown.attr if isinstance(shown, ast.Attribute) else getattr(shown, "id", "")
    return last not in _WORDS


def _constant(shown: ast.expr) -> bool:
    name = shown.attr if isinstance(shown, ast.Attribute) else getattr(shown, "id", "")
    return bool(name) and name == name.upper()


def by_hand(source: str) -> Iterator[tuple[int, str]]:
    """Line and words of each choice between a word and its plural, or between endings, by whether a number is 1."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.IfExp) and isinstance(node.test, ast.Compare)):
            continue
        one = node.test.comparators[0]
        texts = [part.value for part in (node.body, node.orelse) if isinstance(part, ast.Constant)]
        if len(texts) == 2 and isinstance(one, ast.Constant) and one.value == 1 and _forms(*map(str, texts)):
            yield node.lineno, ast.unparse(node)


def _forms(first: str, other: str) -> bool:
    pair = {first, other}
    if pair in ({"is", "are"}, {"has", "have"}, {"was", "were"}, {"it", "them"}, {"does", "do"}):
        return True
    short, long = sorted(pair, key=len) if len(pair) == 2 else ("", "")
    return long in {f"{short}s", f"{short}es"} or (long.startswith("s ") and short.startswith(" "))
