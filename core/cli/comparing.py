"""The command ``diff``: what differs between two sessions."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from plaidwork.core.cli.printing import tell, tell_json
from plaidwork.core.session.differing import differences
from plaidwork.core.session.session import open_session

EQUAL, DIFFERS = 0, 3


def diff(options: argparse.Namespace) -> int:
    """``plaidwork diff A.plaidwork B.plaidwork [--json]``: 0 when both hold the same, 3 when not."""
    one, other = (open_session(path, any_size=options.any_size) for path in (options.session, options.other))
    names = options.session.name, options.other.name
    if names[0] == names[1]:
        names = str(options.session), str(options.other)
    found = differences(one, other, names)
    if options.json:
        tell_json([asdict(item) for item in found], 1)
    else:
        for item in found:
            tell(f"{item.kind}  {item.name}: {item.text}")
        if not found:
            tell("Both hold the same.")
    return DIFFERS if found else EQUAL
