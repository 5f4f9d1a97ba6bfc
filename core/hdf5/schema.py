"""Names, version and constants of the session file."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import numpy as np

from plaidwork.core.pieces import json_text

FORMAT = "plaidwork-session"
VERSION = (1, 1)
MIN_READER = (1, 0)
LINKED = (1, 1)
"""What reads a file some of whose data are in files of their own."""
SUFFIX = ".plaidwork"
LIBVER = ("earliest", "v110")
MAX_CHUNK = 1 << 20

ROOT_ATTRS = {
    "format",
    "format_version",
    "min_reader",
    "uuid",
    "name",
    "created",
    "modified",
    "app_version",
}
ROOT_GROUPS = {"data", "runs", "views", "notes", "provenance", "checksums"}
RUN_ATTRS = {
    "model",
    "model_version",
    "state_version",
    "title",
    "status",
    "seed",
    "chains",
    "holdout",
    "created",
    "cpu_seconds",
    "data_hash",
    "results_draws",
    "order",
}
RUN_PARTS = {
    "params",
    "schedule",
    "goal",
    "inputs",
    "declaration",
    "environment",
    "view_settings",
    "item_names",
    "item_notes",
    "notes",
    "log",
    "inference",
    "ragged",
    "scales",
    "traces",
    "checkpoint",
    "results",
    "analyses",
}
INFERENCE_GROUPS = {"posterior", "warmup_sample_stats", "sample_stats"}
DATA_PARTS = {"X", "obs", "var", "uns"}
DATA_ATTRS = {"encoding-type", "encoding-version", "order", "name"}
PROVENANCE_PARTS = {"history", "environment", "studies"}
NOTES_PARTS = {"session"}
SCALE_ATTRS = {"DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_Netcdf4Dimid", "DIMENSION_LABELS"}


def version_text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def parse_version(text: Any) -> tuple[int, int]:
    """``"1.0"`` as (1, 0). Raises ``ValueError``."""
    match = re.fullmatch(r"(\d{1,6})\.(\d{1,6})", str(text))
    if not match:
        raise ValueError(f"format version is {text!r}, expected a text such as '1.0'")
    return int(match[1]), int(match[2])


def link_name(name: str) -> str:
    """A name for a link in the file: ``/``, control characters and leading dots are percent-encoded."""
    text = "".join(
        quote(c, safe="", errors="surrogatepass") if c in "/%" or not c.isprintable() else c for c in name
    )
    if text.startswith("."):
        text = "%2E" + text[1:]
    if len(text.encode()) > 200:  # the gate allows 255 bytes
        import hashlib

        text = (
            text.encode()[:160].decode(errors="ignore") + "~" + hashlib.sha256(name.encode()).hexdigest()[:16]
        )
    return text or "%"


def to_json(value: Any) -> str:
    """JSON text; non-ASCII stays readable unless it could not be stored as UTF-8."""
    text = json_text(value, _plain, ascii_only=False)
    return text if storable(text) else json_text(value, _plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "items"):
        return dict(value.items())
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def storable(text: str) -> bool:
    """Whether HDF5 can hold the text as it is (no zero character, no lone surrogate)."""
    if "\0" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
