"""The command ``report``: a session as a page to read."""

from __future__ import annotations

import argparse
from typing import Any

from plaidwork.core.cli import pairs
from plaidwork.core.cli.fitting import find_run
from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.errors import SettingError
from plaidwork.core.report import bibtex, make_report, methods_text, references_of, write_report
from plaidwork.core.session.session import open_session

_SUFFIXES = (".html", ".htm", ".pdf")


def report(options: argparse.Namespace) -> int:
    """``plaidwork report S.plaidwork [-o FILE.html|FILE.pdf] [--run TITLE …] [--picture TITLE …]``."""
    path = options.out or options.session.with_suffix(".html")
    if path.suffix.lower() not in _SUFFIXES:
        raise SettingError(f"A report is written as .html or .pdf. Found “{path.name}”.")
    path = pairs.check_output(path, options.force)
    session = open_session(options.session)
    runs = [find_run(session, title) for title in options.run] or None
    printed = path.suffix.lower() == ".pdf"
    made = make_report(session, _drawer(printed), runs, options.picture)
    if printed:
        from plaidwork.gui.results.report import write_pdf

        write_pdf(made, path)
    else:
        write_report(made, path)
    tell(f"Wrote {path.absolute()}")
    return 0


def methods(options: argparse.Namespace) -> int:
    """``plaidwork methods S.plaidwork [--run TITLE] [--bibtex]``."""
    session = open_session(options.session)
    run = find_run(session, options.run)
    tell((bibtex(references_of(run)) if options.bibtex else methods_text(session, run)).rstrip())
    return 0


def _drawer(printed: bool) -> Any:
    """Draws the figures; without Qt there are none, which is said, and no PDF. Raises ``SettingError``."""
    try:
        from plaidwork.gui.results.report import drawer
    except ImportError as error:
        if printed:
            raise SettingError(f"A PDF needs Qt, which cannot be loaded: {error}.", "Write .html.") from error
        warn(f"plaidwork: Without figures, for Qt cannot be loaded: {error}.")
        return lambda *view: None
    return drawer(vector=not printed)
