"""The command ``data``: results of a run as data of the session, for another fit."""

from __future__ import annotations

import argparse

from plaidwork.core.cli import pairs
from plaidwork.core.cli.fitting import find_run
from plaidwork.core.cli.printing import tell, tell_json
from plaidwork.core.cli.saving import save
from plaidwork.core.errors import SessionError
from plaidwork.core.session.results_as_data import data_of, results_as_data
from plaidwork.core.session.session import open_session


def data(options: argparse.Namespace) -> int:
    """``plaidwork data S.plaidwork [RESULT …]``; without one those that the run has are listed."""
    session = open_session(options.session, any_size=options.any_size)
    run = find_run(session, options.run)
    if not options.results:
        offered = results_as_data(run, session.datasets)
        if options.json:
            tell_json(
                [{"name": one.name, "title": one.title, "of": one.of, "shape": one.shape} for one in offered],
                1,
            )
            return 0
        for one in offered:
            tell(f"{one.name:<32}{' × '.join(map(str, one.shape)):<14}{one.title}, of {one.of}")
        if not offered:
            tell(f"{run.title} has no result along its samples or features.")
        return 0
    out = pairs.check_output(options.out or options.session, options.force or options.out is None)
    if session.read_only and options.out is None:
        raise SessionError(
            f"{options.session} can only be read: {session.read_only}", "Add --out to write another."
        )
    made = [data_of(run, session.datasets, name) for name in options.results]
    added = [session.add_dataset(one).name for one in made]
    save(session, out)
    if options.json:
        tell_json({"data": added, "session": str(out.absolute())}, 1)
        return 0
    for name in added:
        tell(f"New data: {name}")
    tell(f"Session: {out.absolute()}")
    return 0
