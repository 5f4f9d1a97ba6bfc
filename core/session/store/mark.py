"""What a session file was when it was read or written, compared before it is replaced."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from plaidwork.core.errors import ChangedError
from plaidwork.core.hdf5.seal import digest_of


@dataclass(frozen=True, slots=True)
class FileMark:
    """Which file it was (device and number), its bytes and time, and the SHA-256 of its content."""

    place: tuple[int, int]
    size: int
    time: int
    digest: str

    @staticmethod
    def of(path: Path, digest: str) -> FileMark:
        """Of a file whose content was just hashed. Raises ``OSError``."""
        found = path.stat()
        return FileMark((found.st_dev, found.st_ino), found.st_size, found.st_mtime_ns, digest)

    @property
    def record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @staticmethod
    def from_record(record: Any) -> FileMark | None:
        """What :attr:`record` gave; None for anything else."""
        try:
            place, size, time = tuple(map(int, record["place"])), int(record["size"]), int(record["time"])
            return FileMark((place[0], place[1]), size, time, str(record["digest"]))
        except (TypeError, KeyError, ValueError, IndexError):
            return None

    def check(self, path: Path) -> None:
        """Raise ``ChangedError`` when the file is another one than it was; one that is gone may be written again."""
        try:
            found = FileMark.of(path, self.digest)
            same = found == self or (found.size == self.size and digest_of(path) == self.digest)
        except FileNotFoundError:
            return
        if not same:
            raise ChangedError(
                f"“{path.name}” was changed by another program or window since it was opened.",
                "Save under another name, merge the runs of both, or replace it.",
            )
