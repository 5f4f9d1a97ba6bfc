"""Visible texts of the program, found in its sources, and the file of their translations.

``python installer/texts.py`` brings ``resources/translations/plaidwork_LANGUAGE.ts`` (Qt Linguist's format) up to date: new texts come in
without a translation, those that are gone leave. What is put into a text is ``%1`` to ``%9``; a text with a number or a choice
between words in it stands there once for each, so that a translator sees whole sentences.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path

from plaidwork.core.draws.counting import plural

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"

_NOT_SHOWN = re.compile(
    r"core/(cli|checks|contract|numerics|plugins/scaffold)|/kernels|gui/(style/|garbage|smoke|fonts)"
    r"|core/hdf5/(schema|layout)|core/(kernel_cache|subprocesses)"
)
"""Rooms that speak to a terminal or to authors of models, or not at all."""
_FOR_AUTHORS = {
    "ValueError", "TypeError", "PictureError", "AssertionError", "KeyError", "NotImplementedError", "RuntimeError", "AttributeError",
    "ContractError", "IndexError",
}  # fmt: skip
_NOT_TEXT = {
    "compile", "search", "fullmatch", "match", "sub", "split", "getLogger", "debug", "warning", "exception", "getattr", "import_module",
    "Literal", "cast", "TypeVar", "setObjectName", "setProperty", "einsum", "startswith", "endswith", "encode", "decode", "strftime",
    "strptime", "removeprefix", "removesuffix", "findall", "finditer", "callback", "njit", "partition", "rpartition",
}  # fmt: skip
_LABELS = {
    "label",
    "title",
    "text",
    "plural",
    "unit",
    "word",
    "note",
    "axis_label",
    "ends_title",
    "noun",
    "one",
    "several",
}
_LABELLED = {
    "Axis",
    "Key",
    "Ramp",
    "between",
    "Choice",
    "Chip",
    "counted",
    "plural",
    "named",
    "agree",
    "Column",
    "Facts",
    "Listing",
    "Label",
    "button",
}
_LABEL = re.compile(r"[a-zαβγδ][\w’-]+…?")
_MOST_WAYS = 12
_BRACES = re.compile(r"\{\w*\}")
_TEXT = re.compile(r"[^\W\d_]{2,}.*\s.*[^\W\d_]{2,}|[^\W\d_]{2,}\s|\s[^\W\d_]{2,}", re.DOTALL)
_ONE_WORD = re.compile(r"[A-Z][a-z]+(?:[-’][\w]+)*[…:.]?")
_CODE = re.compile(
    r"^[a-z_.]+=|^<|^\$|^--|^\w+\.\w+\(|^[A-Z0-9_ ]+$|^[#.][\w-]+ *\{|\bimport \w|^https?:|^\s*[{}]|font-|^--?\w"
)


def visible(source: str) -> Iterator[tuple[int, str]]:
    """Line and text, with its places, of each that is shown."""
    tree = ast.parse(source)
    skipped, labels = set(_hidden(tree)), set(_labels(tree))
    for node in _walk(tree, skipped):
        for text in _texts(node):
            bare = text.strip()
            if _is_text(bare) or (id(node) in labels and _LABEL.fullmatch(bare)):
                yield node.lineno, bare


def _walk(node: ast.AST, skipped: set[int]) -> Iterator[ast.AST]:
    """Texts and what makes them, the outermost ones only."""
    for child in ast.iter_child_nodes(node):
        if id(child) in skipped:
            continue
        if isinstance(child, ast.JoinedStr) or _is_string(child) or _is_call(child, "counted", "agree"):
            yield child
            yield from _inside(child, skipped)
        else:
            yield from _walk(child, skipped)


def _inside(node: ast.AST, skipped: set[int]) -> Iterator[ast.AST]:
    """Texts in what is put into a text: arguments, and choices that were too many to write out."""
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _walk(ast.Expression(part.value), skipped)
    elif isinstance(node, ast.Call):
        for argument in node.args:
            if not _is_string(argument):
                yield from _walk(ast.Expression(argument), skipped)


def _hidden(tree: ast.AST) -> Iterator[int]:
    """Nodes whose strings nobody sees: docstrings, keys, types, messages to authors."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and _is_string(node.value):
            yield id(node.value)
        elif isinstance(node, ast.Subscript):
            yield id(node.slice)
        elif isinstance(node, ast.Compare):
            yield from (id(part) for part in [node.left, *node.comparators])
        elif (
            isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _name(node.exc) in _FOR_AUTHORS
        ):
            yield id(node.exc)
        elif isinstance(node, ast.Call) and _name(node) in _NOT_TEXT:
            yield id(node)
        elif isinstance(node, ast.Assert) and node.msg is not None:
            yield id(node.msg)
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            yield id(node.value)
        elif isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation is not None:
            yield id(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield id(node.returns)


def _labels(tree: ast.AST) -> Iterator[int]:
    """Texts that are shown though they may be one small word: of axes, legends, choices, buttons."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (id(word.value) for word in node.keywords if word.arg in _LABELS)
            if _name(node) in _LABELLED and node.args:
                yield from map(id, node.args[:2])


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_call(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and _name(node) in names


def _is_text(text: str) -> bool:
    if _CODE.search(text) or not re.search("[a-z]", text):
        return False
    words = re.sub(r"%\d", "", text)
    return bool(_TEXT.search(text) and re.search(r"[^\W\d_]{2,}", words)) or bool(_ONE_WORD.fullmatch(text))


def _texts(node: ast.AST) -> Iterator[str]:
    """A text once for every way to read it: one or several, one word or the other."""
    choices: dict[str, int] = {}
    _count_choices(node, choices)
    names = sorted(choices)
    while names and 2 ** len(names) > _MOST_WAYS:
        names.pop()
    seen = set()
    for ways in itertools.product((0, 1), repeat=len(names)):
        text = _numbered(_written(node, dict(zip(names, ways, strict=True))))
        if text not in seen:
            seen.add(text)
            yield text


def _count_choices(node: ast.AST, choices: dict[str, int]) -> None:
    if isinstance(node, ast.JoinedStr):
        for part in node.values:
            _count_choices(part.value if isinstance(part, ast.FormattedValue) else part, choices)
    elif _is_counted(node):
        choices[_of_number(node)] = 1
    elif isinstance(node, ast.IfExp) and _has_words(node):
        choices[ast.unparse(node.test)] = 1
        _count_choices(node.body, choices)
        _count_choices(node.orelse, choices)


def _is_counted(node: ast.AST) -> bool:
    if _is_call(node, "counted"):
        return len(node.args) >= 2 and all(map(_is_string, node.args[1:]))
    return _is_call(node, "agree") and len(node.args) == 3 and all(map(_is_string, node.args[1:]))


def _of_number(node: ast.AST) -> str:
    return f"number {ast.unparse(node.args[0])}"


def _has_words(node: ast.AST) -> bool:
    return any(
        _is_string(side) or isinstance(side, ast.JoinedStr) or _is_counted(side)
        for side in (node.body, node.orelse)
    )


def _written(node: ast.AST, ways: Mapping[str, int]) -> str:
    """The text in one way; ``\\0`` and an expression and ``\\1`` for what is put in."""
    if _is_string(node):
        return _BRACES.sub(lambda found: f"\0{found.group()}\1", node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            _written(part.value, ways) if isinstance(part, ast.FormattedValue) else part.value
            for part in node.values
        )
    if _is_counted(node) and _of_number(node) in ways:
        one = node.args[1].value
        several = node.args[2].value if len(node.args) > 2 else plural(one)
        word = several if ways[_of_number(node)] else one
        return word if _is_call(node, "agree") else f"{_place(node.args[0])} {word}"
    if isinstance(node, ast.IfExp) and ast.unparse(node.test) in ways and _has_words(node):
        return _written(node.orelse if ways[ast.unparse(node.test)] else node.body, ways)
    return _place(node)


def _place(node: ast.AST) -> str:
    return f"\0{ast.unparse(node)}\1"


def _numbered(text: str) -> str:
    """Places as ``%1`` to ``%9``; the same expression has the same one."""
    known: dict[str, str] = {}

    def place(found: re.Match[str]) -> str:
        return known.setdefault(found.group(), f"%{min(len(known) + 1, 9)}")

    return re.sub("\0.*?\1", place, text, flags=re.DOTALL)


def texts_of_program() -> dict[str, str]:
    """Each visible text and the file that it is in first."""
    found: dict[str, str] = {}
    for room in ("gui", "core", "plugins"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not _NOT_SHOWN.search(name):
                for _, text in visible(path.read_text(encoding="utf-8")):
                    found.setdefault(text, name)
    return found


def all_texts() -> dict[str, str]:
    """Those in the sources, of the examples, and words that only the running program puts together."""
    found = texts_of_program()
    for path in sorted((ROOT / "resources" / "examples").glob("*/example.json")):
        example = json.loads(path.read_text(encoding="utf-8"))
        for text in (example["title"], example["line"], example.get("size", "")):
            if text:
                found.setdefault(text, path.relative_to(ROOT).as_posix())
    for text in (FOLDER / "put_together.txt").read_text(encoding="utf-8").splitlines():
        found.setdefault(text, "put together")
    return found


def read(path: Path) -> dict[str, str]:
    """Translations in a file by their sources; those that nobody has translated are empty."""
    if not path.exists() or not path.stat().st_size:
        return {}
    return {
        message.findtext("source", ""): message.findtext("translation", "")
        for message in ET.parse(path).getroot().iter("message")
    }


def write(path: Path, language: str, texts: Mapping[str, str], translations: Mapping[str, str]) -> None:
    """All texts, by the file that each is in, with the translations that are known."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    by_file: dict[str, list[str]] = {}
    for text, name in texts.items():
        by_file.setdefault(name, []).append(text)
    for name in sorted(by_file):
        context = ET.SubElement(root, "context")
        ET.SubElement(context, "name").text = name
        for text in by_file[name]:
            message = ET.SubElement(context, "message")
            ET.SubElement(message, "source").text = text
            told = ET.SubElement(message, "translation")
            told.text = translations.get(text, "")
            if not told.text:
                told.set("type", "unfinished")
    ET.indent(root, " ")
    body = ET.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n', encoding="utf-8")


def main() -> None:
    texts = all_texts()
    for path in sorted(FOLDER.glob("plaidwork_*.ts")):
        known = read(path)
        write(path, path.stem.removeprefix("plaidwork_"), texts, known)
        missing = sum(not known.get(text) for text in texts)
        sys.stdout.write(f"{path.name}: {len(texts)} texts, {missing} without a translation\n")


if __name__ == "__main__":
    main()
