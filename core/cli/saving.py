"""How commands write sessions: nobody's work is overwritten, and a command that is killed loses two minutes at most."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plaidwork.core.cli.printing import warn
from plaidwork.core.errors import ChangedError, PlaidworkError, SessionError
from plaidwork.core.session.lock import acquire, held_text, release
from plaidwork.core.session.recovery import Recovery, discard, find_recoveries, write_recovery
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store.places import recovery_key

EVERY = 60.0
"""Seconds between two copies of unsaved work."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the file that a command is going to write. Raises ``SessionError`` when somebody else has it open."""
    holder = acquire(path)
    if holder is not None:
        raise SessionError(held_text(path, holder), "Close it there, or write another file with --out.")
    try:
        yield
    finally:
        release(path)


def save(session: Session, out: Path) -> Path:
    """Save; beside ``out`` when somebody has changed that file since it was opened, which is said. Returns the file."""
    try:
        return session.save(out)
    except ChangedError as error:
        number = 2
        while (other := out.with_name(f"{out.stem}-{number}{out.suffix}")).exists():
            number += 1
        saved = session.save(other)
        warn(f"plaidwork: {error.message} Nothing was overwritten: this is in {saved}.")
        return saved


class Autosave:
    """Writes unsaved work to the recovery folder every minute, until the session was saved.

    Within ``with`` a thread does so; a run under way is written up to its last checkpoint. ``so_far`` makes what is written,
    where that is not the session as it is.
    """

    def __init__(self, session: Session, out: Path, so_far: Callable[[], Session] | None = None) -> None:
        self._so_far, self._out, self._uuid = so_far or (lambda: session), out, session.uuid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="autosave", daemon=True)
        self._told = False

    def __enter__(self) -> Autosave:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        self._ended.set()
        if self._thread.ident is not None:  # it was started
            self._thread.join()

    def _work(self) -> None:
        while not self._ended.wait(EVERY):
            self._write()

    def _write(self) -> None:
        try:
            write_recovery(self._so_far(), origin=self._out)
        except (PlaidworkError, OSError, MemoryError, RuntimeError) as error:
            if not self._told:
                warn(f"plaidwork: Unsaved work could not be kept: {error}")
            self._told = True

    def saved(self) -> None:
        """The session is in its file: what was kept is not needed any more."""
        self._stop()
        with suppress(PlaidworkError, OSError):
            discard(recovery_key(self._uuid))


def session_or_unsaved(path: Path, any_size: bool) -> Session:
    """The session of a file, or newer work on it that a command or window left behind when it was killed."""
    found = unsaved(path)
    if found is None:
        return open_session(path, any_size=any_size)
    warn(f"plaidwork: Goes on with unsaved work on {path} from {found.time[:16].replace('T', ' ')} (UTC).")
    session = found.open()
    if not path.exists():
        session.path = None
    return session


def unsaved(path: Path) -> Recovery | None:
    """The newest work on a file that a command or window left behind when it was killed."""
    wanted = path.expanduser().resolve()
    found = (item for item in find_recoveries() if item.origin is not None)
    return next((item for item in found if item.origin is not None and item.origin.resolve() == wanted), None)
