"""What the columns beside the texts are for, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaidwork.core.data.importers.base import Issue
from plaidwork.core.data.text.documents import MISSING_TEXT, Documents
from plaidwork.core.data.text.options import ROLES
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

MANY_GROUPS = 20


def split_level(key: str, table: Mapping[str, np.ndarray]) -> tuple[str, str | None]:
    """``rating=Liberal`` as title and level; a title that is there as it stands has no level."""
    if key in table:
        return key, None
    places = [i for i, letter in enumerate(key) if letter == "="]
    for index in reversed(places):
        if key[:index].strip() in table:
            return key[:index].strip(), key[index + 1 :].strip()
    return key, None


def levels(column: np.ndarray) -> tuple[str, ...]:
    """The different entries of a column as texts, missing ones left out, sorted (numbers by size)."""
    if column.dtype.kind in "biuf":
        known = column[np.isfinite(column.astype(float))]
        return tuple(f"{value:g}" for value in np.unique(known))
    return tuple(sorted({str(item) for item in column if str(item).strip().lower() not in MISSING_TEXT}))


def is_absent(column: np.ndarray) -> np.ndarray:
    """(N,) bool, missing entries of a column."""
    if column.dtype.kind in "biuf":
        return ~np.isfinite(column.astype(float))
    return np.array([str(item).strip().lower() in MISSING_TEXT for item in column], dtype=bool)


def role_issues(documents: Documents, roles: Mapping[str, str], kept: np.ndarray) -> list[Issue]:
    """What is wrong with the roles, for the documents that are ``kept`` (N,) bool; an ``error`` forbids the import."""
    found: list[Issue] = []
    outcomes = [key for key, role in roles.items() if role == "outcome"]
    if len(outcomes) > 1:
        found.append(Issue("error", "More than one column is the outcome", ", ".join(outcomes)))
    for key, role in roles.items():
        if role not in ROLES and role != "text":
            found.append(Issue("error", f"“{role}” is no role of a column", f"Known: {', '.join(ROLES)}"))
            continue
        title, level = split_level(key, documents.table)
        if title not in documents.table:
            if role not in ("text", "name", "skip"):
                known = ", ".join(list(documents.table)[:10]) or "none"
                found.append(
                    Issue("error", f"There is no column “{title}” to be the {role}", f"Columns: {known}")
                )
            continue
        column = documents.table[title]
        if role == "outcome":
            found += _outcome_issues(documents, title, level, kept)
        elif role in ("group", "cluster", "covariate") and kept.any():
            found += _levels_issues(title, role, column[kept])
    return found


def _outcome_issues(documents: Documents, title: str, level: str | None, kept: np.ndarray) -> list[Issue]:
    column = documents.table[title]
    known = levels(column[kept])
    if level is not None:
        if level not in known:
            shown = ", ".join(f"“{item}”" for item in known[:5])
            return [Issue("error", f"“{level}” does not occur in “{title}”", f"It has {shown}")]
        if len(known) < 2:
            return [_constant(title, known[0], int(kept.sum()))]
        return []
    if column.dtype.kind not in "biuf":
        shown = " and ".join(f"“{item}”" for item in known) if len(known) == 2 else f"“{(known or ('',))[0]}”"
        hint = (
            f"Use “{title}={known[-1]}” to count “{known[-1]}” as 1" if 1 < len(known) <= MANY_GROUPS else ""
        )
        detail = f"Found {shown}. {hint}" if hint else f"Found {shown}. An outcome needs numbers"
        return [Issue("error", f"The outcome “{title}” is text", detail)]
    if len(known) < 2 and kept.any():
        return [_constant(title, known[0] if known else "missing", int(kept.sum()))]
    absent = np.flatnonzero(is_absent(column) & kept)
    if len(absent):
        verb = agree(len(absent), "has", "have")
        return [
            Issue(
                "warning",
                f"{counted(len(absent), 'document')} {verb} no outcome",
                f"First: {documents.location(int(absent[0]))}",
                row=int(documents.rows[absent[0]]) if len(documents.rows) else 0,
                fix=("Leave them out", "missing_outcome", "drop"),
            )
        ]
    return []


def _constant(title: str, value: str, size: int) -> Issue:
    return Issue(
        "error",
        f"The outcome “{title}” is constant",
        f"It is {value} in all {counted(size, 'document')}; choose another",
    )


def _levels_issues(title: str, role: str, column: np.ndarray) -> list[Issue]:
    known = levels(column)
    if len(known) < 2:
        value = known[0] if known else "missing"
        return [Issue("error", f"The {role} “{title}” is constant", f"It is {value} in all documents")]
    if role == "group" and len(known) > MANY_GROUPS:
        return [
            Issue(
                "warning",
                f"The group “{title}” has {counted(len(known), 'value')}",
                "Few documents are left in each",
            )
        ]
    if role == "cluster" and len(known) == len(column):
        return [Issue("info", f"Every document is a cluster of its own in “{title}”", "It changes nothing")]
    return []


def checked_roles(documents: Documents, roles: Mapping[str, str], kept: np.ndarray) -> list[Issue]:
    """The issues that are no errors. Raises ``DataError`` for the first that is."""
    found = role_issues(documents, roles, kept)
    for issue in found:
        if issue.severity == "error":
            raise DataError(f"{documents.source.file}: {issue.message}.", f"{issue.detail}.")
    return found
