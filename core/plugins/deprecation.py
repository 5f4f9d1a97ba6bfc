"""How names and behaviours of the plugin interface go away: with a warning, for two minor versions."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from plaidwork.core.contract.spec import API_VERSION

F = TypeVar("F", bound=Callable[..., Any])
Version = tuple[int, int]
KEPT_FOR = 2
"""Minor versions for which a deprecated thing still works."""


class PlaidworkDeprecationWarning(FutureWarning):
    """A plugin uses what will go away; the text names the plugin and what to use instead.

    A ``FutureWarning``, so that users see it too, not only who runs the tests of the plugin.
    """


def gone_in(since: Version) -> Version:
    """The version in which something deprecated ``since`` may be missing: never before the next but two."""
    return since[0], since[1] + KEPT_FOR + 1


def warn_deprecated(what: str, instead: str, *, since: Version, plugin: str = "", level: int = 2) -> None:
    """Warn that ``what`` is deprecated. ``plugin`` is found from the caller when it is not given."""
    whose = plugin or _calling_plugin()
    by = f"The plugin {whose} uses" if whose else "Deprecated:"
    last = gone_in(since)
    warnings.warn(
        f"{by} {what}, deprecated since API {since[0]}.{since[1]}, to be removed in API {last[0]}.{last[1]} "
        f"or 2.0. Use {instead}.".replace("or 2.0", f"or {since[0] + 1}.0"),
        PlaidworkDeprecationWarning,
        stacklevel=level + 1,
    )


def deprecated(instead: str, *, since: Version, name: str = "") -> Callable[[F], F]:
    """Decorate a function or a class of the plugin interface that is going away.

    Every call warns with the calling plugin, the name and ``instead``. ``since`` is the API version that deprecated
    it: not later than this one, and once :func:`gone_in` is reached the tests ask for its removal.
    """
    if since > API_VERSION:
        raise ValueError(f"deprecated since API {since}, this is {API_VERSION}")

    def decorate(thing: F) -> F:
        what = name or getattr(thing, "__qualname__", repr(thing))
        if isinstance(thing, type):
            first = thing.__init__  # type: ignore[misc]

            @functools.wraps(first)
            def init(self: Any, *values: Any, **named: Any) -> None:
                warn_deprecated(what, instead, since=since)
                first(self, *values, **named)

            thing.__init__ = init  # type: ignore[misc]
            thing.__deprecated_since__ = since  # type: ignore[attr-defined]
            return thing

        @functools.wraps(thing)
        def call(*values: Any, **named: Any) -> Any:
            warn_deprecated(what, instead, since=since)
            return thing(*values, **named)

        call.__deprecated_since__ = since  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def _calling_plugin() -> str:
    """The plugin whose code is nearest on the stack; empty when none is."""
    from plaidwork.core.plugins import registry

    shared = registry._shared
    known = [(info, info.prefixes) for info in (shared.plugins if shared else ())]
    frame = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        for info, prefixes in known:
            if any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes):
                return info.title
        frame = frame.f_back  # type: ignore[assignment]
    return ""
