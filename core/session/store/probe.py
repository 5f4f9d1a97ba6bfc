"""``python -m plaidwork.core.session.store.probe FILE``: reads a session file in a process with limits, and says what is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from plaidwork.core.errors import SessionError
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import content_size, load


def _limit(total: int) -> None:
    """Bound memory (what is in use, 1 GiB, and thrice the content) and time of this process, where it can be."""
    try:
        import resource
    except ImportError:  # Windows
        return
    in_use = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _LINUX else 4 << 30
    )
    bound = in_use + (1 << 30) + 3 * total
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


_LINUX = sys.platform == "linux"


def _main(path: Path) -> int:
    try:
        _limit(content_size(path))
        load(path, Session, probed=True)
    except SessionError as error:
        print(json.dumps({"message": error.message, "hint": error.hint}))
        return 3
    except MemoryError:
        print(json.dumps({"message": f"“{path.name}” is damaged: it asks for too much memory.", "hint": ""}))
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1])))
