"""A plugin as found, and which plugin a model, a reader or a view belongs to."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

from plaidwork.core.contract.plugin_fault import PluginFault, frame_of, full_traceback, one_line
from plaidwork.core.errors import PluginError

STATES = ("ok", "disabled", "failed", "incompatible", "loading")
SOURCES = ("built-in", "installed", "folder")


@dataclass(eq=False)
class PluginInfo:
    """A plugin: where it comes from, how it stands, and what it contributed.

    Attributes
    ----------
    name : unique; what ``enable`` and ``disable`` take.
    source : built-in, installed (an entry point), or folder (the user's plugin folder or ``--plugin-dir``).
    state : ok, disabled, failed, incompatible or loading; ``message`` says why in a sentence, ``details`` with
        the traceback.
    api : the plugin interface it was made for; None until that is known.
    models, analyses, views, readers, samples, metrics : ids of what it contributed.
    path : the file or folder it lies in, when known.
    faults : everything that went wrong, oldest first.
    """

    name: str
    module: str
    source: str
    version: str = ""
    state: str = "loading"
    message: str = ""
    details: str = ""
    api: tuple[int, int] | None = None
    load_seconds: float = 0.0
    licence: str = ""
    models: list[str] = field(default_factory=list)
    analyses: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    readers: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    path: Path | None = None
    faults: list[PluginFault] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.name} {self.version}".strip()

    @property
    def fault(self) -> PluginFault | None:
        """The latest failure."""
        return self.faults[-1] if self.faults else None

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The modules that are the plugin's own."""
        parts = self.module.partition(":")[0].split(".")
        depth = 3 if parts[:2] == ["plaidwork", "plugins"] else 1
        return (".".join(parts[:depth]),) if self.module else ()

    def fail(self, message: str, state: str = "failed", details: str = "") -> None:
        """Mark as not usable."""
        self.state, self.message, self.details = state, message, details


_owners: WeakKeyDictionary[Any, PluginInfo] = WeakKeyDictionary()
_lock = threading.Lock()


def set_owner(thing: Any, info: PluginInfo) -> None:
    """Remember that a class (or object) belongs to a plugin."""
    with _lock:
        _owners[thing] = info


def owner_of(thing: Any) -> PluginInfo:
    """The plugin of a model, an analysis, their classes, or whatever else a plugin contributed.

    What came past the registry (a class handed over in a script) counts as a plugin of its own.
    """
    if isinstance(thing, PluginInfo):
        return thing
    for key in (thing, type(thing)):
        try:
            info = _owners.get(key)
        except TypeError:  # not hashable, or no weak references to it
            continue
        if info is not None:
            return info
    kind = thing if isinstance(thing, type) else type(thing)
    spec = getattr(thing, "spec", None)
    name = getattr(spec, "id", "") or kind.__qualname__
    info = PluginInfo(name, kind.__module__, "installed", getattr(spec, "version", ""), "ok")
    try:
        set_owner(kind, info)
    except TypeError:
        return info
    return info


def plugin_error(
    thing: Any, hook: str, error: BaseException, hint: str = "", *, when: str = ""
) -> PluginError:
    """The error to tell for what a plugin raised, or for a ``PluginError`` that does not name it yet.

    The fault is kept in ``faults`` of the plugin. ``when`` adds to the sentence, such as "in chain 2".
    """
    info = owner_of(thing)
    if isinstance(error, PluginError) and error.fault is not None:
        return error
    prefixes = info.prefixes
    if not isinstance(thing, PluginInfo):
        own = (thing if isinstance(thing, type) else type(thing)).__module__
        prefixes = (*prefixes, own)
    called, frame = frame_of(error, prefixes)
    by_plugin = isinstance(error, PluginError)
    fault = PluginFault(
        info.name,
        info.version,
        (error.hook if isinstance(error, PluginError) else "") or hook or called,
        "" if by_plugin else frame,
        error.message.rstrip(".") if isinstance(error, PluginError) else one_line(error),
        "" if by_plugin else full_traceback(error),
    )
    info.faults.append(fault)
    message = fault.message
    if when:
        message = message.replace(f"The plugin {fault.title} ", f"{when}: the plugin {fault.title} ", 1)
    made = PluginError(
        message,
        (error.hint if isinstance(error, PluginError) else "") or hint,
        info.name,
        fault.hook,
        fault,
    )
    made.__cause__ = None if by_plugin else error
    return made


def is_users_stop(error: BaseException) -> bool:
    """Whether a ``KeyboardInterrupt`` is the user's Ctrl+C: those come in the main thread only."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


class blamed:
    """What is raised inside becomes a ``PluginError`` that names the plugin of ``thing``.

    Errors that a plugin may raise for the user (``ModelError`` and its kin) pass, and so does the user's Ctrl+C.
    ``SystemExit``, ``KeyboardInterrupt`` of another thread, ``RecursionError`` and ``MemoryError`` do not.
    """

    def __init__(
        self, thing: Any, hook: str, hint: str = "This is an error in the plugin, not in your data."
    ) -> None:
        self._thing, self._hook, self._hint = thing, hook, hint

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> Literal[False]:
        if error is None or passes(error):
            return False
        made = plugin_error(self._thing, self._hook, error, self._hint)
        if made is error:
            return False
        raise made from made.__cause__


def passes(error: BaseException) -> bool:
    """Whether an exception is meant for the user, or is the interpreter's own."""
    from plaidwork.core.errors import PlaidworkError

    if isinstance(error, PluginError):
        return False
    if isinstance(error, (PlaidworkError, GeneratorExit)) or is_users_stop(error):
        return True
    return not isinstance(error, (Exception, SystemExit, KeyboardInterrupt))
