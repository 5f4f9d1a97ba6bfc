"""Which program on which computer holds something, and whether it still runs."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plaidwork.core.hdf5.atomic import process_runs
from plaidwork.core.inference.run import now


@dataclass(frozen=True, slots=True)
class Holder:
    """A process: its number, when the system started it, computer, user, and since when it holds (UTC, ISO)."""

    pid: int
    started: str
    host: str
    user: str
    time: str

    @staticmethod
    def me() -> Holder:
        """This process."""
        return Holder(os.getpid(), _started(os.getpid()), socket.gethostname(), _user(), now())

    @staticmethod
    def of(record: Mapping[str, Any]) -> Holder:
        """From JSON that anybody may have written; what is missing or of another type is empty."""
        pid = record.get("pid")
        texts = {name: str(record.get(name) or "")[:200] for name in ("started", "host", "user", "time")}
        return Holder(pid=pid if isinstance(pid, int) and 0 < pid < 1 << 31 else 0, **texts)

    @property
    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @property
    def here(self) -> bool:
        """Whether it is a process of this computer, so that it is known whether it runs."""
        return self.host == socket.gethostname()

    @property
    def mine(self) -> bool:
        """Whether it is this process."""
        return self.here and self.pid == os.getpid() and self.started in ("", _started(self.pid))

    @property
    def runs(self) -> bool:
        """Whether it is a process of this computer that still runs."""
        if not self.here or not self.pid:
            return False
        started = _started(self.pid)
        return process_runs(self.pid) and (not started or not self.started or started == self.started)


def _started(pid: int) -> str:
    """When a process started, as the system counts it; empty where that is not known."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    return ""


def _user() -> str:
    with suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return ""
