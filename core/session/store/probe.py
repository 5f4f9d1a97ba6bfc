"""``python -m plaidwork.core.session.store.probe FILE SECONDS [--any-size]``: reads a session file in a process with limits.

What is wrong with it is printed as JSON.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from plaidwork.core.errors import LimitError, SessionError
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import content_size, load

_LINUX = sys.platform == "linux"
_ROOM = 1 << 30


def _bound_memory(total: int) -> None:
    """Bound memory to what is in use, 1 GiB, and thrice the content, where it can be."""
    try:
        import resource
    except ImportError:  # Windows
        return
    in_use = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if _LINUX else 4 << 30
    )
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    bound = in_use + _ROOM + 3 * total
    resource.setrlimit(
        resource.RLIMIT_AS, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard)
    )


def _bound_time(seconds: float) -> None:
    """Bound the time of the processor, and let nothing be written."""
    try:
        import resource
    except ImportError:
        return
    for kind, bound in (
        (resource.RLIMIT_CPU, math.ceil(seconds)),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard))


def _main(path: Path, seconds: float, any_size: bool) -> int:
    try:
        _bound_time(seconds)
        _bound_memory(0)
        _bound_memory(content_size(path, any_size=any_size))
        load(path, Session, any_size=any_size, probed=True)
    except SessionError as error:
        found = {"message": error.message, "hint": error.hint, "limit": isinstance(error, LimitError)}
        print(json.dumps(found))
        return 3
    except MemoryError:
        text = f"“{path.name}” is damaged: it asks for too much memory."
        print(json.dumps({"message": text, "hint": "", "limit": False}))
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1]), float(sys.argv[2]), "--any-size" in sys.argv[3:]))
