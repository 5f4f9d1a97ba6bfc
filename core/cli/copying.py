"""The command ``copy``: a session to give away."""

from __future__ import annotations

import argparse

from plaidwork.core.cli import pairs
from plaidwork.core.cli.printing import tell
from plaidwork.core.errors import SettingError
from plaidwork.core.session.copying import save_compact, save_without_data
from plaidwork.core.session.session import open_session


def copy(options: argparse.Namespace) -> int:
    """``plaidwork copy S.plaidwork [--without-data] [--compact [--draws N]] --out T.plaidwork``."""
    if not options.without_data and not options.compact:
        raise SettingError("copy needs to know what to leave out.", "Add --without-data or --compact.")
    if options.draws < 1:
        raise SettingError(f"--draws is {options.draws}; at least 1 draw of each chain is kept.")
    out = pairs.check_output(options.out, options.force)
    session = open_session(options.session, any_size=options.any_size)
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
