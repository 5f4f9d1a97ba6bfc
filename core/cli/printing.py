"""All that the commands print. Text of a file cannot steer the terminal: what would is shown as symbols."""

from __future__ import annotations

import sys
from typing import Any

from plaidwork.core.quoting import json_text, lines


def tell(text: str, *, flush: bool = False) -> None:
    """A line, or several, on stdout."""
    print(lines(text), flush=flush)


def warn(text: str) -> None:
    """A line, or several, on stderr."""
    print(lines(text), file=sys.stderr)


def tell_json(record: Any, indent: int | None = None, *, flush: bool = False) -> None:
    """JSON on stdout, in one line without ``indent``."""
    print(json_text(record, indent), flush=flush)


def rewrite(text: str) -> None:
    """Write over the line on stderr, which is a terminal."""
    sys.stderr.write(f"\r\x1b[K{lines(text)}")
    sys.stderr.flush()
