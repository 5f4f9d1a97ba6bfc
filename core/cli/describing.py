"""What a model takes, in words for the command line: ``plaidwork models MODEL``."""

from __future__ import annotations

import textwrap

from plaidwork.core.contract.spec import Hyperparameter, Input, ModelSpec
from plaidwork.core.session.offers import meant_for

_WIDE = 100


def described(spec: ModelSpec) -> str:
    """Name and purpose of a model, its inputs and its settings with range, default and meaning."""
    plain = [setting for setting in spec.hyperparameters if not setting.advanced]
    advanced = [setting for setting in spec.hyperparameters if setting.advanced]
    files = " ".join(f"--input {item.name}=FILE" for item in spec.inputs if item.required)
    parts = [
        f"{spec.title} ({spec.id} {spec.version})\n{textwrap.fill(spec.summary.replace('**', ''), _WIDE)}",
        f"plaidwork fit {spec.id} {files} --out mine.plaidwork",
        _part("Inputs, with --input NAME=FILE", [(item.name, _input(item)) for item in spec.inputs]),
        _part("Settings, with --set NAME=VALUE", [(one.name, _setting(one)) for one in plain]),
        _part("Advanced settings", [(one.name, _setting(one)) for one in advanced]),
    ]
    return "\n\n".join(part for part in parts if part)


def _part(title: str, entries: list[tuple[str, str]]) -> str:
    if not entries:
        return ""
    wide = max(len(name) for name, _ in entries) + 4
    lines = [
        textwrap.fill(text, _WIDE, initial_indent=f"  {name}".ljust(wide), subsequent_indent=" " * wide)
        for name, text in entries
    ]
    return "\n".join([f"{title}:", *lines])


def _input(item: Input) -> str:
    needed = "" if item.required else " (optional)"
    several = " Repeat it for more." if item.many else ""
    return f"{item.title}{needed}. {item.doc}{several} {meant_for(item)}".strip()


def _setting(one: Hyperparameter) -> str:
    allowed = ", ".join(choice.value for choice in one.choices) if one.kind == "choice" else one.range_text
    default = str(one.default).lower() if one.kind == "bool" else str(one.default)
    usual = f"usual: {default} {one.unit}".strip() if default else ""
    rule = "; ".join(part for part in (allowed, usual) if part)
    return f"{one.title}{f' ({rule})' if rule else ''}. {one.doc}".strip()
