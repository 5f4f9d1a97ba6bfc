"""Words for what a view cannot make of results that a file had: anybody may have written them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PictureError, PlaidworkError, PluginError
from plaidwork.core.views.sources import NotYet, SourceError, Sources, shape_text


@contextmanager
def explained(sources: Sources) -> Iterator[None]:
    """Within it, an error of a view that is drawn from a file's results becomes a ``SourceError`` that says from what it was drawn."""
    try:
        yield
    except (SourceError, NotYet):
        raise
    except Exception as error:
        fault = error.fault if isinstance(error, PluginError) else None
        expected = isinstance(error, PlaidworkError) and fault is None and not isinstance(error, PictureError)
        if expected or not sources.run.has_stored_results:
            raise
        by = f" It is drawn by the plugin {fault.title}." if fault is not None else ""
        raise SourceError(
            f"This view cannot be drawn from the results in the file: {_told(sources)}.{by}"
        ) from error


def _told(sources: Sources) -> str:
    """Name, type and shape of the results that the roles of the view name."""
    results = sources.run.results
    named = [name for name in dict.fromkeys(sources.view.source.values()) if name in results]
    return ", ".join(f"“{name}” ({_form(results[name])})" for name in named) or "it names none of them"


def _form(found: Result | Table | str) -> str:
    if isinstance(found, Table):
        return f"a table of {counted(len(found), 'row')} and {counted(len(found.columns), 'column')}"
    if isinstance(found, str):
        return "a text"
    what = "texts" if found.held.dtype.kind in "OU" else "numbers"
    return f"{shape_text(found.held)} {what}" if found.held.ndim else "one number"
