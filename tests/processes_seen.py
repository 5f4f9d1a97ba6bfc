"""Processes as Linux tells of them."""

from pathlib import Path


def children_of(pid):
    """Processes that this one or a thread of it has started; none of one that is gone."""
    listed = (_words(path) for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return sorted({int(word) for words in listed for word in words})


def _words(path):
    try:
        return path.read_text().split()
    except OSError:  # the thread has ended meanwhile
        return ()


def is_alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
