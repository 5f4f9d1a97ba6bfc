"""``python tests/altered_upgrade.py SESSION``: tries every alteration of a state of an earlier version, before its model turns it into
today's form, and goes on from those that are taken. A crash ends it, and the last line says at which."""

import resource
import sys
from dataclasses import replace

from altered import alterations, go_on, places, put, value_at

from plaidwork.core.draws.chain import copy_state
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.fitting_state import Expected
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load


def _tried(session, run, spec, state):
    """Why an altered state is refused, at the upgrade or after it; empty where it was taken and gone on with."""
    record = run.chains[0]
    run.spec = spec
    record.saved, record.state = replace(record.saved, state=state), None
    record.restore(record.saved)
    try:
        plan = session.plan_of(run, registry())
    except PlaidworkError as error:
        return f"{type(error).__name__}: {error.message}"
    why = Expected(plan, record.chain, record.schedule).why_not(record.state, record.sweep)
    if not why:
        go_on(plan, record.state, record.sweep, record.schedule.warmup)
    return why


def main(path):
    session = load(path, Session, probed=True)
    (run,) = session.runs.values()
    spec, record = run.spec, run.chains[0]
    assert spec.state_version < registry().model(spec.id).spec.state_version
    run.chains[1:] = []
    sound = copy_state(record.saved.state)
    assert not _tried(session, run, spec, copy_state(sound))
    for place in list(places(sound)):
        for name, value in alterations(value_at(sound, place)):
            state = copy_state(sound)
            try:
                put(state, place, value)
            except TypeError:
                continue  # within a tuple
            at = ".".join(map(str, place))
            print("trying", at, name, sep="\t", flush=True)
            why = _tried(session, run, spec, state)
            print("refused" if why else "taken", at, name, why, sep="\t", flush=True)
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
