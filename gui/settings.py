"""What the program remembers for the user: one INI file; a damaged one never stops the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from plaidwork.core.config import config_folder

__all__ = ["Settings", "config_folder"]

MAX_RECENT = 12


class Settings:
    """Typed access to the INI file."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or config_folder()
        self._file = folder / "plaidwork.ini"
        self._store = QSettings(str(self._file), QSettings.Format.IniFormat)
        if self._store.status() != QSettings.Status.NoError:
            self._set_aside()

    def _set_aside(self) -> None:
        """Keep the damaged file under another name and begin with defaults."""
        try:
            self._file.replace(self._file.with_suffix(".damaged"))
        except OSError:
            return  # not even movable: defaults in memory are all that is left
        finally:
            self._store = QSettings(str(self._file), QSettings.Format.IniFormat)

    def text(self, key: str, default: str = "") -> str:
        value = self._store.value(key, default)
        return value if isinstance(value, str) else default

    def flag(self, key: str, default: bool = False) -> bool:
        return self.text(key, str(default).lower()) == "true"

    def set(self, key: str, value: Any) -> None:
        """Remember a text, a flag or bytes."""
        self._store.setValue(key, str(value).lower() if isinstance(value, bool) else value)

    def bytes(self, key: str) -> QByteArray:
        value = self._store.value(key, QByteArray())
        return value if isinstance(value, QByteArray) else QByteArray()

    def forget(self, key: str) -> None:
        """Back to the default."""
        self._store.remove(key)

    def sync(self) -> None:
        """Write to disk now."""
        self._store.sync()

    # -- recent files ---------------------------------------------------------------------------
    def recent(self) -> list[dict[str, str]]:
        """Recent sessions, newest first: ``path``, ``line`` (what is in it), ``time`` (ISO)."""
        count = self._store.beginReadArray("recent")
        found = []
        for index in range(min(count, MAX_RECENT)):
            self._store.setArrayIndex(index)
            entry = {key: str(self._store.value(key, "")) for key in ("path", "line", "time")}
            if entry["path"]:
                found.append(entry)
        self._store.endArray()
        return found

    def add_recent(self, path: Path, line: str, time: str) -> None:
        """Put a session in front of the recent ones, by a path that leads to it from any folder."""
        whole = str(path.resolve())
        entries = [entry for entry in self.recent() if entry["path"] not in (str(path), whole)]
        self._write_recent([{"path": whole, "line": line, "time": time}, *entries])

    def remove_recent(self, path: str) -> None:
        """Take a session off the list."""
        self._write_recent([entry for entry in self.recent() if entry["path"] != path])

    def _write_recent(self, entries: list[dict[str, str]]) -> None:
        self._store.remove("recent")
        self._store.beginWriteArray("recent")
        for index, entry in enumerate(entries[:MAX_RECENT]):
            self._store.setArrayIndex(index)
            for key, value in entry.items():
                self._store.setValue(key, value)
        self._store.endArray()

    def folder(self, kind: str) -> str:
        """The last folder used for ``open``, ``import`` or ``export``."""
        return self.text(f"folder/{kind}", str(Path.home()))

    def set_folder(self, kind: str, path: Path) -> None:
        self.set(f"folder/{kind}", str((path if path.is_dir() else path.parent).resolve()))
