"""Processes that this program starts: how one ended, in words, and how none is left when the program is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading

SIGKILL = 9
_WORDS = {
    "SIGSEGV": "a segmentation fault",
    "SIGBUS": "a bus error",
    "SIGABRT": "an abort",
    "SIGFPE": "an arithmetic error",
    "SIGILL": "an illegal instruction",
    "SIGKILL": "a kill from outside",
    "SIGTERM": "a request from outside",
}


def how_ended(code: int | None) -> str:
    """An exit code as the end of a sentence: "ended with code 3", "was ended by a segmentation fault (SIGSEGV)"."""
    if code is None:
        return "does not answer"
    if code >= 0:
        return f"ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        return f"was ended by signal {-code}"
    return f"was ended by {_WORDS[name]} ({name})" if name in _WORDS else f"was ended by {name}"


def end_with_parent() -> None:
    """In a process of ``multiprocessing``: end when the program that started it has gone, in whatever way.

    The other end of a pipe is held by the parent alone. On Linux the system ends us by a signal when it closes, also within
    compiled code that holds the interpreter; elsewhere a thread waits for it.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()
    if sys.platform == "linux":
        ask_for_signal(parent.sentinel)


def ask_for_signal(pipe: int) -> None:
    """Linux: end this process by SIGIO as soon as something comes through a pipe, or its other end is closed."""
    import fcntl

    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
