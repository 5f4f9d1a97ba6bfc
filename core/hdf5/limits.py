"""How large a file may be that is opened: bounds that grow with the memory of the computer."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

MIB = 1 << 20
_GIB = 1 << 30
_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Limits:
    """Bounds of what is opened; sizes in bytes.

    ``objects``, ``dataset``, ``total``, ``ratio`` and ``texts`` may be raised by the user (:meth:`raised`): what is beyond them costs
    memory and time. The others no honest file comes near.
    """

    objects: int = 200_000
    depth: int = 64
    name: int = 255
    dataset: int = 2 * _GIB
    """An array, as large as it is in memory."""
    total: int = 8 * _GIB
    """All arrays and texts together."""
    ratio: float = 200.0
    """Times that an array may grow when it is read; deflate reaches 1,032."""
    ratio_from: int = 256 * MIB
    """Smaller arrays may grow as they like."""
    chunk: int = 64 * MIB
    item: int = MIB
    """One text of an array of texts of equal length."""
    attributes: int = 64
    attribute: int = 16 * MIB
    texts: int = _GIB
    """All texts of one attribute, each as long as the longest of the file."""

    def raised(self) -> Limits:
        """Without the bounds that the user may raise."""
        most = 1 << 62
        return replace(self, objects=most, dataset=most, total=most, ratio=math.inf, texts=most)

    def piecewise(self) -> Limits:
        """Those of an array of which only a part is in memory at a time; what it takes is then time."""
        return replace(self, dataset=1 << 62)


def memory() -> int:
    """Bytes of memory that the computer has; 8 GiB where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 8 * _GIB


def free_memory() -> int | None:
    """Bytes that a program may take without others being pushed out; None where the system does not say."""
    bounds = []
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                bounds.append(int(line.split()[1]) * 1024)
    with suppress(OSError, ValueError):  # a container with less than the computer has
        most = int((_GROUPS / "memory.max").read_text())
        bounds.append(most - int((_GROUPS / "memory.current").read_text()))
    if not bounds:
        with suppress(AttributeError, OSError, ValueError):
            bounds.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(bounds)) if bounds else None


def machine_limits(*, ours: bool = False) -> Limits:
    """The bounds on this computer; for files that this installation wrote those of a stranger's do not count."""
    least, has = Limits(), memory()
    found = replace(
        least,
        objects=max(least.objects, has >> 14),
        dataset=max(least.dataset, has // 2),
        total=max(least.total, has),
        ratio_from=max(least.ratio_from, has // 8),
        texts=max(least.texts, has // 8),
    )
    return found.raised() if ours else found
