"""What the process that opens files asks of the system, by strace: also what libraries open that Python is not told of."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from fuzz.places import is_own

_OPENED = re.compile(r"(?:openat2?|open|creat)(?:\(| resumed).* = \d+<(?P<path>[^>]+)>")
_NEVER = re.compile(r"(?P<call>execve|connect)\(")
_OF_THE_SYSTEM = ("/proc/", "/lib", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom")
"""What the loader of libraries, the clock and the memory counts of :mod:`fuzz.reading` open."""


def prefix(log: Path) -> list[str]:
    """The words before a command whose calls are written to ``log``; the command keeps its number. Raises ``FileNotFoundError``."""
    program = shutil.which("strace")
    if program is None:
        raise FileNotFoundError("strace is not installed: leave --strace out, or install it.")
    calls = "trace=open,openat,openat2,creat,execve,connect"
    return [program, "-D", "-f", "-y", "-qq", "--seccomp-bpf", "-s", "500", "-e", calls, "-o", str(log)]


class Log:
    """The file that strace writes: a call is there before the process goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = 0

    def foreign(self, folder: Path, *, first: bool = False) -> list[str]:
        """Since the last time: files opened outside ``folder``, programs started, connections. Of the ``first`` case from its file on."""
        with self.path.open(errors="replace") as file:
            file.seek(self._at)
            text = file.read()
            self._at = file.tell()
        real = os.path.realpath(folder)
        if first:  # before that the process was loaded
            text = text[max(text.find(real), 0) :]
        return found_in(text, real, os.path.realpath(self.path.parent / "config"))


def found_in(text: str, *folders: str) -> list[str]:
    """What calls that strace has written opened elsewhere; links were followed by the system itself."""
    found = []
    for line in text.splitlines():
        if call := _NEVER.search(line):
            found.append(call["call"])
        elif match := _OPENED.search(line):
            found.append(match["path"])
    return [name for name in found if not name.startswith(_OF_THE_SYSTEM) and not is_own(name, *folders)]
