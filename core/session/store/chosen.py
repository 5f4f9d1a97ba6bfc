"""What a run keeps of what was looked at and named: nothing of it changes a result, so what is not of its form is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaidwork.core.contract.view_kinds import VIEW_KINDS
from plaidwork.core.findings.unlocking import ACTION

MOST = 100_000
"""Items of one dim that may have names: a list is made that is as long as the last of them is far."""


def stored_settings(found: Any) -> dict[str, Any]:
    """``view_settings`` of a run, or of one of its analyses, as its views take them: ``selection``, ``choices`` by view, ``analyses`` by id,
    and by kind of view and title what else a view keeps."""
    kept: dict[str, Any] = {}
    for name, value in _entries(found).items():
        if name == ACTION:
            records = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
            kept |= {name: records} if records else {}
        elif name == "analyses":
            kept[name] = {key: stored_settings(one) for key, one in _entries(value).items()}
        elif name == "choices":
            kept[name] = {key: one for key, one in _entries(value).items() if isinstance(one, dict)}
        elif isinstance(value, dict) or name not in ("selection", *VIEW_KINDS):
            kept[name] = value  # who takes something of it looks at it
    return kept


def stored_names(found: Any) -> dict[str, dict[str, str]]:
    """``item_names`` of a run: names by dim and number."""
    kept = {
        dim: {key: " ".join(name.split()) for key, name in _entries(names).items() if _named_well(key, name)}
        for dim, names in _entries(found).items()
    }
    return {dim: names for dim, names in kept.items() if names}


def _named_well(key: str, name: Any) -> bool:
    number = key.isascii() and key.isdecimal() and len(key) < 7
    return (
        number and str(int(key)) == key and int(key) < MOST and isinstance(name, str) and bool(name.strip())
    )


def _entries(found: Any) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
