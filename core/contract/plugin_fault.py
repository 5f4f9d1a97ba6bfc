"""What a plugin did wrong and where: the record behind every message about it."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_HOST = ("plaidwork.core", "plaidwork.gui", "importlib", "pluggy", "contextlib", "threading")
_MOST_WORDS = 300
"""Characters of an exception's text that go into a message; the traceback has the rest."""


@dataclass(frozen=True, slots=True)
class PluginFault:
    """One failure of a plugin.

    Attributes
    ----------
    hook : the hook or method that failed, or ``import``.
    frame : the line of the plugin nearest to the error, as ``file:line, function``; empty when there is none.
    error : the exception in a line, ``KeyError: 'x'``.
    traceback : the whole traceback; empty when the host found the fault in what the plugin returned.
    """

    plugin: str
    version: str
    hook: str
    frame: str
    error: str
    traceback: str = ""

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.plugin} {self.version}".strip()

    @property
    def message(self) -> str:
        """One sentence that names plugin, version, method and line."""
        doing = {"": "failed", "import": "could not be imported"}.get(self.hook, f"failed in {self.hook}()")
        where = f" ({self.frame})" if self.frame else ""
        return f"The plugin {self.title} {doing}: {self.error}{where}."

    @property
    def report(self) -> str:
        """Everything, for the author of the plugin."""
        return f"{self.message}\n\n{self.traceback}".strip()


def one_line(error: BaseException) -> str:
    """``KeyError: 'x'``, short enough for a message; never raises, whatever the exception is."""
    try:
        message = " ".join(str(error).split())
    except BaseException:
        message = "(its text cannot be shown)"
    if isinstance(error, SyntaxError):
        message = error.msg
    if len(message) > _MOST_WORDS:
        message = f"{message[:_MOST_WORDS]}…"
    return f"{type(error).__name__}: {message}".rstrip(": ").rstrip(".")


def full_traceback(error: BaseException) -> str:
    """The traceback as text; never raises."""
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:
        return "".join(traceback.format_tb(error.__traceback__))


def frame_of(error: BaseException, prefixes: Sequence[str] = ()) -> tuple[str, str]:
    """(method of the plugin that was called, line of the plugin nearest to the error).

    ``prefixes`` are the modules of the plugin; without a match every frame outside the host counts.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return "", f"{_short(error.filename)}:{error.lineno or 0}"
    frames = list(_walk(error.__traceback__))
    inside = [frame for frame in frames if _under(frame[0], prefixes)]
    inside = inside or [frame for frame in frames if not _under(frame[0], _HOST)]
    if not inside:
        return "", ""
    _, file, line, function = inside[-1]
    return inside[0][3], f"{_short(file)}:{line}, {function}"


def passed_through(error: BaseException, prefixes: Sequence[str]) -> bool:
    """Whether one of these modules is on the way from the host to the error."""
    return any(_under(frame[0], prefixes) for frame in _walk(error.__traceback__))


def _walk(trace: TracebackType | None) -> list[tuple[str, str, int, str]]:
    found = []
    while trace is not None:
        frame = trace.tb_frame
        module = str(frame.f_globals.get("__name__", ""))
        found.append((module, frame.f_code.co_filename, trace.tb_lineno, frame.f_code.co_name))
        trace = trace.tb_next
    return found


def _under(module: str, prefixes: Sequence[str]) -> bool:
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def _short(file: str) -> str:
    path = Path(file)
    return f"{path.parent.name}/{path.name}" if path.name == "__init__.py" else path.name
