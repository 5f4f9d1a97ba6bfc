"""The command ``copy``: a session to give away."""

from __future__ import annotations

import argparse
from pathlib import Path

from plaidwork.core.cli import pairs
from plaidwork.core.cli.printing import tell
from plaidwork.core.errors import SettingError
from plaidwork.core.session.copying import save_compact, save_embedded, save_linked, save_without_data
from plaidwork.core.session.session import Session, open_session


def copy(options: argparse.Namespace) -> int:
    """``plaidwork copy S.plaidwork [--without-data] [--compact [--draws N]] [--link | --embed] --out T.plaidwork``."""
    linked = options.link or options.embed
    if not options.without_data and not options.compact and not linked:
        raise SettingError(
            "copy needs to know what to leave out.", "Add --without-data, --compact, --link or --embed."
        )
    if linked and (options.without_data or options.compact or (options.link and options.embed)):
        raise SettingError("--link and --embed go with no other way to copy.", "Copy twice.")
    if options.files and not linked:
        raise SettingError("--files says where linked data are.", "Add --link or --embed.")
    if options.draws < 1:
        raise SettingError(f"--draws is {options.draws}; at least 1 draw of each chain is kept.")
    out = pairs.check_output(options.out, options.force)
    session = open_session(options.session, any_size=options.any_size)
    if linked:
        return _with_links(session, out, options)
    data = not options.without_data
    if not options.compact:
        tell(f"Session without data: {save_without_data(session, out).absolute()}")
        return 0
    for text in save_compact(session, out, draws=options.draws, data=data):
        tell(text)
    before, after = options.session.stat().st_size, out.stat().st_size
    tell(
        f"Compact copy{'' if data else ' without data'}: {out.absolute()} ({after / before:.0%} of {before / 1e6:.1f} MB)"
    )
    return 0


def _with_links(session: Session, out: Path, options: argparse.Namespace) -> int:
    """A copy whose data stay in their files, or one that holds the data of such files."""
    if options.embed:
        for link in session.links.values():
            link.look_in(options.files or ())
    said = save_embedded(session, out) if options.embed else save_linked(session, out, options.files or ())
    for text in said:
        tell(text)
    tell(f"Session with {'all' if options.embed else 'linked'} data: {out.absolute()}")
    return 0
