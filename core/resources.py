"""Where the files lie that come with the program: examples, templates, word lists."""

from __future__ import annotations

from pathlib import Path

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
