"""Pages of the models: what is made from their declarations, so that it never goes stale."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "models"
PLACES = ("about", "inputs", "settings", "views", "traces", "citation", "notes")
"""Places of a page that are filled, each written ``<!-- name -->`` in a line of its own."""

_HOW = {
    "mcmc": "by sampling (Markov chain Monte Carlo)",
    "variational": "by a variational approximation",
    "optimise": "by optimisation",
}


def specs() -> list[Any]:
    """The declarations of the built-in models, by title."""
    from plaidwork.core.plugins.registry import registry

    return sorted(registry().specs(), key=lambda spec: spec.title)


def own_page(spec: Any) -> Path:
    """Where the page of a model lies that somebody has written."""
    return PAGES / f"{spec.id}.md"


def without_page() -> list[str]:
    """Titles of the models that only have the page that is made from their declaration."""
    return [spec.title for spec in specs() if not own_page(spec).exists()]


def notes() -> Iterator[tuple[str, Path]]:
    """Folder and file of the notes that lie beside the models."""
    return ((path.parent.name, path) for path in sorted(ROOT.glob("plugins/*/NOTES.md")))


def notes_title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def bare_page(spec: Any) -> str:
    """The page of a model of which nobody has written one."""
    parts = [f"# {spec.title}", "<!-- about -->"]
    if spec.help:
        parts += ["## What it assumes", spec.help]
    for name, title in (
        ("inputs", "Data"), ("settings", "Settings"), ("views", "Pictures"), ("traces", "While it runs"),
        ("citation", "How to cite"), ("notes", "What was checked"),
    ):  # fmt: skip
        parts += [f"## {title}", f"<!-- {name} -->"]
    return "\n\n".join(parts) + "\n"


def filled(text: str, spec: Any) -> str:
    """The page with its places filled."""
    made = {
        "about": _about, "inputs": _inputs, "settings": _settings, "views": _views, "traces": _traces,
        "citation": _citation, "notes": _notes,
    }  # fmt: skip
    for name in PLACES:
        text = text.replace(f"<!-- {name} -->", made[name](spec))
    return text


def list_of_models() -> str:
    """A table of all models with what each finds."""
    rows = [
        f"| [{spec.title}]({spec.id}.md) | {cell(spec.summary)} | {_HOW[spec.algorithm]} |"
        for spec in specs()
    ]
    return "\n".join(["| Model | What it finds | Fitted |", "|---|---|---|", *rows])


def cell(text: str) -> str:
    """A text inside a table."""
    return re.sub(r"\s+", " ", text).replace("|", r"\|").replace("<", "&lt;").replace("$", r"\$")


def value_text(value: Any) -> str:
    """A value as it is typed."""
    match value:
        case bool():
            return "on" if value else "off"
        case "" | ():
            return "empty"
        case float():
            return f"`{value:g}`"
        case tuple():
            return f"`{', '.join(f'{one:g}' for one in value)}`"
        case _:
            return f"`{value}`"


def _about(spec: Any) -> str:
    return f"{spec.summary}\n\nName on the command line: `{spec.id}`. Version {spec.version}. Fitted {_HOW[spec.algorithm]}."


def _inputs(spec: Any) -> str:
    from plaidwork.core.session.offers import meant_for

    rows = []
    for item in spec.inputs:
        needs = "needed" if item.required else "optional"
        if item.many:
            needs += ", several matrices"
        if item.missing:
            needs += ", gaps allowed"
        rows.append(
            f"| {cell(item.title)} (`{item.name}`) | {needs} | {cell(f'{item.doc} {meant_for(item)}'.strip())} |"
        )
    return "\n".join(["| Input | | What it holds |", "|---|---|---|", *rows])


def _settings(spec: Any) -> str:
    groups: dict[str, list[Any]] = {}
    for setting in spec.hyperparameters:
        groups.setdefault("Advanced" if setting.advanced else setting.group or "Model", []).append(setting)
    parts = [f"Every setting with its default. On the command line: `--set NAME=VALUE`. {_schedule(spec)}"]
    for title, settings in sorted(groups.items(), key=lambda item: item[0] == "Advanced"):
        rows = [_setting(setting) for setting in settings]
        parts.append(
            "\n".join(
                [
                    f"### {title}",
                    "",
                    "| Setting | Default | Meaning and advice |",
                    "|---|---|---|",
                    *rows,
                ]
            )
        )
    return "\n\n".join(parts)


def _schedule(spec: Any) -> str:
    plan = spec.default_schedule
    if spec.algorithm == "mcmc":
        if plan.budget:
            return f"{plan.chains} chains run until they have settled, for about {plan.budget:g} seconds at most; both can be changed."
        return f"{plan.chains} chain{'s' * (plan.chains > 1)} of {plan.draws} draws after {plan.warmup} sweeps of warm-up; all can be changed."
    return f"{plan.chains} restart{'s' * (plan.chains > 1)} of {plan.max_sweeps} sweeps at most; the best one is shown."


def _setting(setting: Any) -> str:
    words = [setting.doc]
    if setting.choices:
        words.append("; ".join(map(_choice, setting.choices)) + ".")
    if setting.range_text:
        words.append(f"Range: {setting.range_text}.")
    if setting.when:
        told = [f"`{name}` is {_either(value)}" for name, value in setting.when.items()]
        words.append(f"Matters where {' and '.join(told)}.")
    unit = f" {setting.unit}" if setting.unit else ""
    text = " ".join(f"{word.rstrip('.')}." for word in words if word)
    return f"| {cell(setting.title)}<br>`{setting.name}` | {cell(value_text(setting.default))}{cell(unit)} | {cell(text)} |"


def _choice(choice: Any) -> str:
    told = choice.doc.rstrip(".")
    return f"`{choice.value}`: {choice.label}" + (f" ({told})" if told else "")


def _either(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return " or ".join(value_text(one) for one in values)


def _views(spec: Any) -> str:
    from plaidwork.core.contract.view_kinds import VIEW_KINDS

    rows = []
    for view in dict.fromkeys((view.group, view.title, view.kind) for view in spec.views):
        group, title, kind = view
        name = f"{group}: {title}" if group else title
        line = VIEW_KINDS[kind].doc if kind in VIEW_KINDS else "a view of the plugin's own"
        rows.append(f"| {cell(name)} | {cell(line)} | [how to read it](../reading-pictures.md#{kind}) |")
    return "\n".join(["| Picture | What it is | |", "|---|---|---|", *rows])


def _traces(spec: Any) -> str:
    rows = [
        f"| {cell(one.title)}{f' ({cell(one.unit)})' if one.unit else ''} | {cell(one.hint)} |"
        for one in spec.traces
    ]
    return "\n".join(["| Trace | How to read it |", "|---|---|", *rows])


def _citation(spec: Any) -> str:
    lines = [f"- {line}" for line in spec.citation.splitlines() if line.strip()]
    return "\n".join(lines) or "The model names no publication."


def _notes(spec: Any) -> str:
    from plaidwork.core.plugins.registry import registry

    folder = type(registry().model(spec.id)).__module__.split(".plugins.")[-1].split(".")[0]
    if folder not in dict(notes()):
        return "The model has no notes on its checks yet."
    return f"Formulas, differences from the papers, tests and measured speed: [notes](notes/{folder}.md)."
