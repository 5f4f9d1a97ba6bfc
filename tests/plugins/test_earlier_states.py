"""A stored state of an earlier version is looked at before it is turned into today's form, and after it: altered ones are refused."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from altered import put
from told_session import FIXTURES, fixture

from plaidwork.core.draws.chain import copy_state
from plaidwork.core.errors import ModelError, SessionError
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load

TESTS = Path(__file__).parents[1]
NOW = ("gp_ordered_classes", "supervised_ibp", "dp_mixture", "multi_view_clusters", "rank_factor")
"""Sessions whose states are today's."""
EARLIER = [
    name
    for path in sorted(FIXTURES.glob("version_*/*.plaidwork.xz"))
    if (name := path.name.removesuffix(".plaidwork.xz")) not in NOW
]


@pytest.mark.slow
@pytest.mark.parametrize("name", EARLIER)
def test_no_alteration_does_harm(name, tmp_path):
    """In a process of its own, so that a crash is seen; two sweeps are made from what is taken."""
    found = subprocess.run(
        [sys.executable, str(TESTS / "altered_upgrade.py"), str(fixture(name, tmp_path))],
        capture_output=True, text=True, timeout=3600, check=False,
    )  # fmt: skip
    lines = [line.split("\t") for line in found.stdout.splitlines()]
    assert found.returncode == 0, f"{lines[-1:]} {found.stderr[-600:]}"
    assert len([line for line in lines if line[0] == "refused"]) > 40
    (peak,) = [int(line[1]) for line in lines if line[0] == "peak"]
    assert peak < 3000, "MiB"


def _altered(name, place, value, folder):
    session = load(fixture(name, folder), Session, probed=True)
    (run,) = session.runs.values()
    record = run.chains[0]
    state = copy_state(record.saved.state)
    put(state, place, value)
    record.saved, record.state = replace(record.saved, state=state), None
    record.restore(record.saved)
    return session, run


HUGE = np.array([2**40, 4])


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("multi_view_clusters.every_merge", ("links", "slots"), HUGE, "does not fit the data"),
        ("group_factor", ("z",), np.zeros((4, 23)), "does not fit the data"),
        ("group_factor", ("scale",), np.ones((10**6, 24)), "does not fit the data"),
        ("infinite_plaid", ("task",), None, "is of version 1, and is not one that"),
        ("dp_mixture.every_merge", ("clusters",), "none", "is of version 1, and is not one that"),
    ],
)
def test_an_earlier_state_that_does_not_fit_is_refused_with_a_sentence(name, place, value, words, tmp_path):
    session, run = _altered(name, place, value, tmp_path)
    before = run.spec.state_version
    with pytest.raises((ModelError, SessionError)) as caught:
        session.plan_of(run, registry())
    assert words in caught.value.message
    assert run.spec.state_version == before
