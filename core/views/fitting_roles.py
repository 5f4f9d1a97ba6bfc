"""Whether the results of a run are such as the roles of a view need: numbers, texts or tables of shapes that fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.contract.view_roles import Role, Shape
from plaidwork.core.draws.counting import counted

Letters = dict[str | int, int]


def misfit_of(view: View, results: Mapping[str, Any]) -> str:
    """What of the results does not fit a view, as a sentence; empty when all do. Those that are not there are passed over."""
    kind, letters = VIEW_KINDS.get(view.kind), Letters()
    for role in kind.roles if kind is not None else ():
        source = view.source.get(role.name, "")
        if source in results and (fault := role_fault(role, source, results[source], letters)):
            return fault
    return ""


def role_fault(role: Role, source: str, found: Any, letters: Letters) -> str:
    """What is wrong with what a role of a view is given, as a sentence; ``letters`` are lengths of the view so far, and are added to."""
    if isinstance(found, Table):
        if not role.table:
            return f"“{source}” is a table; {role.name} needs numbers."
        if len(found.columns) < role.min_columns:
            return f"“{source}” has {counted(len(found.columns), 'column')}, needs {role.min_columns}."
        return ""
    if not isinstance(found, Result) or not role.array:
        kind = "text" if isinstance(found, str) else type(found).__name__
        return f"“{source}” is {kind}; {role.name} needs {'a table' if role.table else 'numbers'}."
    held = found.held
    if not role.text and held.dtype.kind not in "biuf":
        return f"“{source}” holds {held.dtype}; {role.name} needs numbers."
    if role.shapes and not any(_fits(shape, held.shape, letters) for shape in role.shapes):
        wanted = " or ".join(_shape_text(shape, letters) for shape in role.shapes)
        return f"“{source}” has shape {held.shape}; {role.name} needs {wanted}."
    return ""


def _fits(shape: Shape, found: tuple[int, ...], letters: Letters) -> bool:
    if len(shape) != len(found):
        return False
    bound = dict(letters)
    for want, n in zip(shape, found):
        if (want if isinstance(want, int) else bound.setdefault(want, n)) != n:
            return False
    letters.update(bound)
    return True


def _shape_text(shape: Shape, letters: Letters) -> str:
    return (
        "("
        + ", ".join(str(letters.get(item, item)) for item in shape)
        + ("," if len(shape) == 1 else "")
        + ")"
    )
