"""Processes as Linux tells of them."""

from pathlib import Path


def children_of(pid):
    """Processes that this one or a thread of it has started."""
    try:
        found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return sorted({*found, *(int(word) for path in threads for word in path.read_text().split())})


def is_alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
