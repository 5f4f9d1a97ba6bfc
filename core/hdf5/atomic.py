"""Replacing a file as a whole: either the new content is there, or the old file is as it was."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plaidwork.core.errors import SessionError

_TEMPORARY = ".plaidwork-tmp"
_BRING_OUT = 0.05
"""Seconds between two times that a file that is being written is brought to the disk."""


def replace_file(path: Path, write: Callable[[Path], None], *, backup: bool = True) -> None:
    """Call ``write`` with a temporary name in the same folder, then put that file in the place of ``path``.

    With ``backup`` the previous file stays beside it with ``.bak`` added. Whatever goes wrong, the old file is
    untouched and no temporary file is left. Raises what ``write`` raises, or ``OSError``.
    """
    path = Path(os.path.realpath(path))  # a link stays a link
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{_TEMPORARY}")
    try:
        write(temporary)
        if path.exists():
            shutil.copymode(path, temporary)
        _sync(temporary)
        if backup and path.exists():
            _keep(path)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync(path.parent)


def _keep(path: Path) -> None:
    """The present file under the name of its backup as well; at no moment is ``path`` missing."""
    link = path.with_name(f".{path.name}.{os.getpid()}-bak{_TEMPORARY}")
    link.unlink(missing_ok=True)
    try:
        try:
            os.link(path, link)
        except OSError:  # a file system without hard links
            shutil.copy2(path, link)
        os.replace(link, path.with_name(f"{path.name}.bak"))
    finally:
        link.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Ask the system to bring a file or folder to the disk."""
    folder = path.is_dir()
    if folder and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError:
        if not folder:  # some network file systems cannot sync folders
            raise
    finally:
        os.close(handle)


@contextmanager
def brought_out(path: Path) -> Iterator[None]:
    """While the block writes a file, a thread has the system bring it to the disk, which then has little left to do at the end.

    Raises ``OSError`` when that fails: the system tells of it once, so the sync of the finished file would not know.
    """
    if not hasattr(os, "fdatasync"):
        yield
        return
    done, failed = threading.Event(), []

    def bring_out() -> None:
        while not done.wait(_BRING_OUT):
            with suppress(FileNotFoundError):  # not begun yet
                handle = os.open(path, os.O_RDWR)
                try:
                    os.fdatasync(handle)
                except OSError as error:
                    failed.append(error)
                    return
                finally:
                    os.close(handle)

    worker = threading.Thread(target=bring_out, name=f"bring out {path.name}", daemon=True)
    worker.start()
    try:
        yield
    finally:
        done.set()
        worker.join()
    if failed:
        raise failed[0]


def sweep_temporaries(folder: Path) -> list[Path]:
    """Remove what a killed save has left in ``folder``; files of a process that still runs are left alone."""
    removed = []
    for path in Path(folder).glob(f".*{_TEMPORARY}"):
        owner = path.name.removesuffix(_TEMPORARY).rsplit(".", 1)[-1].split("-")[0]
        if owner.isdigit() and int(owner) != os.getpid() and process_runs(int(owner)):
            continue
        try:
            path.unlink()
            removed.append(path)
        except OSError:
            continue
    return removed


_OLD = 600.0
"""Seconds after which a temporary file of a process that is not found here is one of nobody: folders are shared."""


def sweep_beside(path: Path) -> None:
    """Remove what saves of this file that were killed have left in its folder. Raises nothing."""
    path = Path(os.path.realpath(path))
    for found in path.parent.glob(f".{glob.escape(path.name)}.*{_TEMPORARY}"):
        with suppress(OSError):
            owner = found.name.removesuffix(_TEMPORARY).rsplit(".", 1)[-1].split("-")[0]
            if time.time() - found.stat().st_mtime > _OLD and not (
                owner.isdigit() and process_runs(int(owner))
            ):
                found.unlink()


def process_runs(pid: int) -> bool:
    """Whether a process of this number exists on this computer."""
    if os.name == "nt":
        import ctypes

        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
        handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
        if not handle:
            return False
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == 259  # STILL_ACTIVE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def save_error(error: Exception, path: Path, needed: int, recovery: bool) -> SessionError:
    """The words for a save that did not work; ``needed`` is about how many bytes the file takes."""
    code = getattr(error, "errno", None)
    text = str(error)
    open_still = f"Your work is still open{' and in the recovery file' if recovery else ''}."
    full = code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or any(
        f"errno = {number}," in text for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    )
    if full:
        return SessionError(
            f"Could not save: the disk is full. {open_still}", f"{_free(path, needed)}, or save elsewhere."
        )
    if code in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SessionError(
            f"Could not save: “{path.parent}” cannot be written to. {open_still}", "Save elsewhere."
        )
    if code in (errno.ENOENT, errno.ENOTDIR) or not path.parent.is_dir():
        return SessionError(
            f"Could not save: the folder “{path.parent}” does not exist. {open_still}", "Save elsewhere."
        )
    return SessionError(f"Could not save “{path.name}”: {text}. {open_still}", "Save elsewhere.")


def _free(path: Path, needed: int) -> str:
    try:
        missing = needed - shutil.disk_usage(path.parent).free
    except OSError:
        missing = needed
    return f"Free {max(1, -(-missing // 1_000_000))} MB"
