"""Whether a file is exactly as it was written, and whether this installation wrote it; any other is read elsewhere first.

Behind what HDF5 looks at stand the digests of all parts of the file, then the mark, a keyed digest of these with a secret of
this installation, then the seal, their digest that anybody can compute: it tells of damage and no more.
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
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plaidwork.core.config import config_folder
from plaidwork.core.errors import LimitError, SessionError
from plaidwork.core.hdf5.parts import DIGEST, PART, READS_PARTS, Parts

_MARK, _SEAL, _TABLE = b"\nplaidwork-mark:", b"\nplaidwork-seal:", b"\nplaidwork-parts:"
_MARK_LENGTH, _SEAL_LENGTH = len(_MARK) + 64, len(_SEAL) + 16 + 1 + 64
_OLD_SEAL = b"\nplaidwork-sha256:"
_OLD_LENGTH = len(_OLD_SEAL) + 64
_AT_ONCE = 16 << 20
"""Files up to this size are compared as a whole before they are opened, larger ones part by part as they are read."""
_SECONDS, _BYTES_PER_SECOND = 30, 10_000_000
_SECRET = "session.secret"


def seal(path: Path, known: Mapping[int, bytes] | None = None) -> str:
    """Append parts, mark and seal to a file that was just written and closed; what :func:`digest_of` says of it.

    ``known``: digests of parts, by number, from what was written.
    """
    with path.open("r+b") as file, ThreadPoolExecutor(1) as pool:
        flushed = pool.submit(os.fsync, file.fileno())  # the disk writes while we compute
        parts = Parts.of(path, os.fstat(file.fileno()).st_size, known)
        flushed.result()
        file.seek(0, os.SEEK_END)
        file.write(_TABLE + parts.table)
        secret = _secret()
        if secret:
            file.write(_MARK + _marked(secret, b"parts", parts.digest))
        file.write(_seal_of(parts))
    return parts.digest.hex()


def _seal_of(parts: Parts) -> bytes:
    return b"%s%016x:%s" % (_SEAL, parts.length, parts.digest.hex().encode())


@dataclass(frozen=True, slots=True)
class Seen:
    """What the bytes of a file say."""

    ours: bool
    """Whether it is as this installation wrote it; with ``parts``, as far as each of them fits."""
    digest: str
    """SHA-256 of its bytes, but for the seal; of its parts where it has them."""
    parts: Parts | None = None
    """Of a large file that this installation wrote: what each part of it has to be when it is read."""


def digest_of(path: Path) -> str:
    """What the bytes of a file are as one number, whatever it says of itself. Raises ``OSError``."""
    parts, _ = _stated(path)
    return Parts.of(path, parts.length).digest.hex() if parts else _whole(path).digest


def look(path: Path) -> Seen:
    """Read the end of a large file of this installation, any other once as a whole. Raises ``OSError``."""
    parts = parts_of(path)
    if parts is not None:
        return Seen(True, parts.digest.hex(), parts)
    stated, mark = _stated(path)
    if stated is None:
        return _whole(path)
    found = Parts.of(path, stated.length)
    return Seen(found == stated and _is_ours(stated, mark), found.digest.hex())


def parts_of(path: Path) -> Parts | None:
    """What the parts of a large file of this installation have to be; None of any other file. Raises ``OSError``."""
    parts, mark = _stated(path)
    large = parts is not None and parts.length > _AT_ONCE and READS_PARTS
    return parts if parts is not None and large and _is_ours(parts, mark) else None


def _is_ours(parts: Parts, mark: bytes) -> bool:
    secret = _secret() if mark else b""
    return bool(secret) and hmac.compare_digest(mark, _marked(secret, b"parts", parts.digest))


def _stated(path: Path) -> tuple[Parts | None, bytes]:
    """Parts and mark that stand at the end of a file, if they do and belong together. Raises ``OSError``."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(size - _SEAL_LENGTH, 0))
        stored = file.read(_SEAL_LENGTH)
        try:
            length = int(stored[len(_SEAL) : len(_SEAL) + 16], 16)
        except ValueError:
            return None, b""
        room = -(-length // PART) * DIGEST
        left = size - _SEAL_LENGTH - length - len(_TABLE) - room
        if length < 0 or not stored.startswith(_SEAL) or left not in (0, _MARK_LENGTH):
            return None, b""
        file.seek(length)
        tag, table, mark = file.read(len(_TABLE)), file.read(room), file.read(left)
    parts = Parts(length, table)
    if tag != _TABLE or stored != _seal_of(parts) or not mark.startswith(_MARK[:left]):
        return None, b""
    return parts, mark[len(_MARK) :]


def _whole(path: Path) -> Seen:
    """As files of earlier versions are sealed: one SHA-256 of all bytes before the seal. Raises ``OSError``."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size - _OLD_LENGTH
        content = max(size - _MARK_LENGTH, 0)
        file.seek(content)
        mark, stored = file.read(max(size - content, 0)), file.read(_OLD_LENGTH)
        file.seek(0)
        hasher, left = hashlib.sha256(), content
        while left and (part := file.read(min(left, 1 << 20))):
            hasher.update(part)
            left -= len(part)
    digest = hasher.digest()
    hasher.update(mark)
    found = hasher.hexdigest()
    if size <= 0 or stored != _OLD_SEAL + found.encode():
        hasher.update(stored)
        return Seen(False, hasher.hexdigest())
    secret = _secret() if mark.startswith(_MARK) else b""
    ours = bool(secret) and hmac.compare_digest(mark[len(_MARK) :], _marked(secret, b"session", digest))
    return Seen(ours, found)


def _marked(secret: bytes, what: bytes, digest: bytes) -> bytes:
    return hmac.new(secret, b"plaidwork " + what + b" " + digest, hashlib.sha256).hexdigest().encode()


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
