"""The command ``copy``: a session to give away."""

from __future__ import annotations

import argparse

from plaidwork.core.cli import pairs
from plaidwork.core.cli.printing import tell
from plaidwork.core.errors import SettingError
from plaidwork.core.session.copying import save_without_data
from plaidwork.core.session.session import open_session


def copy(options: argparse.Namespace) -> int:
    """``plaidwork copy S.plaidwork --without-data --out T.plaidwork``."""
    if not options.without_data:
        raise SettingError("copy needs to know what to leave out.", "Add --without-data.")
    out = pairs.check_output(options.out, options.force)
    saved = save_without_data(open_session(options.session, any_size=options.any_size), out)
    tell(f"Session without data: {saved.absolute()}")
    return 0
