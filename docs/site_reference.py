"""References made from the code: every command with its options, every function and class that scripts may use."""

from __future__ import annotations

import argparse
import inspect
import pkgutil
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any


def commands() -> str:
    """The page of all commands, as the program itself says them."""
    from plaidwork.core.cli.options import command_parser

    head = [
        "# All commands and options",
        "Made from the program. What the options are for, with examples: [Command line](../command-line.md).",
    ]
    return "\n\n".join([*head, *_told(command_parser(), "plaidwork", 1)]) + "\n"


def _told(parser: argparse.ArgumentParser, name: str, level: int) -> Iterator[str]:
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if level > 1:
        yield f"{'#' * level} `{name}`"
        yield parser.description or ""
        if not below:
            yield _options(parser)
    for action in below:
        for word, leaf in action.choices.items():
            yield from _told(leaf, f"{name} {word}", level + 1)


def _options(parser: argparse.ArgumentParser) -> str:
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        value = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
        value = "|".join(map(str, action.choices)) if action.choices and not action.metavar else value
        word = ", ".join(action.option_strings)
        shown = f"{word} {value}".strip() if word else str(value)
        text = (action.help or "") % {"default": action.default, "prog": parser.prog}
        rows.append(f"| `{shown.replace('|', ' or ')}` | {_cell(text)} |")
    return "\n".join(["| Argument | Meaning |", "|---|---|", *rows])


def interface() -> list[ModuleType]:
    """``plaidwork.core.api`` and its extensions: what plugins may import."""
    from plaidwork import core

    names = [found.name for found in pkgutil.iter_modules(core.__path__) if found.name.startswith("api")]
    return [import_module(f"{core.__name__}.{name}") for name in names]


def python() -> str:
    """The page of what ``plaidwork.core`` and the modules for plugins offer, by their docstrings."""
    from plaidwork import core

    parts = [
        "# All functions and classes",
        "Made from the docstrings. With examples: [Python](../python.md), [Writing a plugin](../plugins.md).",
    ]
    told: set[int] = set()
    for module in (core, *interface()):
        parts += [f"## `{module.__name__}`", _first(inspect.getdoc(module))]
        for name in sorted(module.__all__, key=str.lower):
            thing = getattr(module, name)
            if (inspect.isclass(thing) or inspect.isroutine(thing)) and id(thing) not in told:
                told.add(id(thing))
                parts += [f"### `{name}`", *_thing(name, thing)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _thing(name: str, thing: Any) -> Iterator[str]:
    if inspect.isroutine(thing):
        yield _signature(name, thing)
    yield _docstring(thing)
    if not inspect.isclass(thing):
        return
    members = [
        (word, member)
        for word, member in vars(thing).items()
        if not word.startswith("_")
        and inspect.getdoc(member)
        and (inspect.isroutine(member) or isinstance(member, property | classmethod | staticmethod))
    ]
    if members:
        rows = [f"| `{word}` | {_cell(_first(inspect.getdoc(member)))} |" for word, member in members]
        yield "\n".join(["| Member | What it is |", "|---|---|", *rows])


def plain_signature(thing: Any) -> str:
    """The parameters with their defaults, without types. Raises ``ValueError`` where Python does not know them."""
    signature = inspect.signature(thing)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _signature(name: str, thing: Any) -> str:
    """The call, without types, which the docstring tells in words."""
    try:
        told = plain_signature(thing)
    except ValueError:
        return ""
    return f"```text\n{name}{re.sub(r' at 0x[0-9a-f]+', '', told)}\n```"


def _docstring(thing: Any) -> str:
    """Its paragraphs as text, its sections (Parameters, Raises, ...) as lists; what has columns stays as it stands."""
    paragraphs = (inspect.getdoc(thing) or "").split("\n\n")
    return "\n\n".join(_paragraph(one.strip("\n")) for one in paragraphs if one.strip())


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if len(lines) > 2 and re.fullmatch("-{3,}", lines[1].strip()):
        return f"**{lines[0].strip()}**\n\n{_entries(lines[2:])}"
    if any(line[:1].isspace() or line.startswith(("- ", "* ", ">>>")) for line in lines):
        return f"```text\n{text}\n```"
    return _words(text)


def _entries(lines: Sequence[str]) -> str:
    """``name : meaning`` line by line, with lines that go on further in, as a list."""
    entries: list[str] = []
    for line in lines:
        if line[:1].isspace() and entries:
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line)
    parted = [entry.partition(" : ") for entry in entries]
    return "\n".join(
        f"- `{name.strip()}`: {_words(text)}" if text else f"- {_words(name)}" for name, _, text in parted
    )


def _first(text: str | None) -> str:
    return _words((text or "").partition("\n\n")[0])


def _words(text: str) -> str:
    """A paragraph of a docstring in Markdown."""
    text = re.sub(r":\w+:`[~.]?([^`]+)`", r"`\1`", re.sub(r"\s+", " ", text))
    parts = re.split(r"(``[^`]+``|`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([<*_$\[\]])", r"\\\1", part) for part in parts)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", r"\|").replace("<", "&lt;")
