"""Whether a file is exactly as it was written, and whether this installation wrote it; any other is read elsewhere first.

The last bytes of a session file, behind what HDF5 looks at, are a SHA-256 of all bytes before them: anybody can compute
it, so it tells of damage and no more. Before it stands the mark: a keyed digest with a secret of this installation.
A damaged or crafted file can make the HDF5 library loop for ever, take all memory or end the program; so a file without
our mark is read once in a process with limits.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plaidwork.core.config import config_folder
from plaidwork.core.errors import LimitError, SessionError

_MARK, _SEAL = b"\nplaidwork-mark:", b"\nplaidwork-sha256:"
_MARK_LENGTH, _SEAL_LENGTH = len(_MARK) + 64, len(_SEAL) + 64
_SECONDS, _BYTES_PER_SECOND = 30, 10_000_000
_SECRET = "session.secret"


def seal(path: Path) -> str:
    """Append mark and digest to a file that was just written and closed; what :func:`digest_of` says of it."""
    with path.open("r+b") as file:
        hasher = hashlib.sha256()
        while part := file.read(1 << 20):
            hasher.update(part)
        file.seek(0, os.SEEK_END)
        secret = _secret()
        if secret:
            mark = _MARK + _marked(secret, hasher.digest())
            hasher.update(mark)
            file.write(mark)
        file.write(_SEAL + hasher.hexdigest().encode())
    return hasher.hexdigest()


@dataclass(frozen=True, slots=True)
class Seen:
    """What the bytes of a file say."""

    ours: bool
    """Whether it is as this installation wrote it."""
    digest: str
    """SHA-256 of its bytes, but for the seal."""


def digest_of(path: Path) -> str:
    """SHA-256 of the bytes of a file, but for its seal. Raises ``OSError``."""
    return look(path).digest


def look(path: Path) -> Seen:
    """Read the file once. Raises ``OSError``."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size - _SEAL_LENGTH
        content = max(size - _MARK_LENGTH, 0)
        file.seek(content)
        mark, stored = file.read(max(size - content, 0)), file.read(_SEAL_LENGTH)
        file.seek(0)
        hasher, left = hashlib.sha256(), content
        while left and (part := file.read(min(left, 1 << 20))):
            hasher.update(part)
            left -= len(part)
    digest = hasher.digest()
    hasher.update(mark)
    found = hasher.hexdigest()
    if size <= 0 or stored != _SEAL + found.encode():
        hasher.update(stored)
        return Seen(False, hasher.hexdigest())
    secret = _secret() if mark.startswith(_MARK) else b""
    ours = bool(secret) and hmac.compare_digest(mark[len(_MARK) :], _marked(secret, digest))
    return Seen(ours, found)


def _marked(secret: bytes, digest: bytes) -> bytes:
    return hmac.new(secret, b"plaidwork session " + digest, hashlib.sha256).hexdigest().encode()


def _secret() -> bytes:
    """32 bytes that only this user can read, made when first asked for; empty when there can be none.

    One that others could read is replaced: they might have made files with it.
    """
    path = config_folder() / _SECRET
    with suppress(OSError):
        found = path.read_bytes()
        if len(found) == 32 and (os.name == "nt" or not path.stat().st_mode & 0o077):
            return found
        path.unlink()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{_SECRET}.{os.getpid()}-{secrets.token_hex(4)}")
        with open(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
        try:
            os.link(fresh, path)  # whoever is first, all have the same
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            os.replace(fresh, path)
        fresh.unlink(missing_ok=True)
        return path.read_bytes()
    except OSError:
        return b""


def probe(path: Path, *, any_size: bool = False) -> None:
    """Read the file in another process. Raises ``SessionError`` with its words, or when it did not come back."""
    if getattr(sys, "frozen", False) or not sys.executable:
        return  # no interpreter to start
    seconds = _SECONDS + path.stat().st_size / _BYTES_PER_SECOND
    command = [sys.executable, "-m", "plaidwork.core.session.store.probe", str(path.absolute()), str(seconds)]
    try:
        done = subprocess.run(
            [*command, "--any-size"] if any_size else command,
            capture_output=True, timeout=seconds, check=False, env={**os.environ, "PYTHONUTF8": "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SessionError(f"“{path.name}” is damaged: reading it does not come to an end.") from None
    if done.returncode == 3:
        record = json.loads(done.stdout.decode().splitlines()[-1])
        raise (LimitError if record["limit"] else SessionError)(record["message"], record["hint"])
    if done.returncode:
        raise SessionError(
            f"“{path.name}” is damaged: the program that read it ended with code {done.returncode}."
        )
