"""Chains that were not given time: their solutions, weighed, looked at alone, and the same in a file."""

import numpy as np
import pytest

from plaidwork.core import open_session
from plaidwork.core.session.fitting import fit


@pytest.fixture(scope="module")
def run():
    """Twelve sweeps leave most chains without the blocks that others have found."""
    rng = np.random.default_rng(7)
    x = rng.normal(0, 0.6, (40, 20))
    for _ in range(5):
        rows, columns = rng.choice(40, 12, replace=False), rng.choice(20, 6, replace=False)
        x[np.ix_(rows, columns)] += rng.choice([-1.5, 1.5])
    schedule = {"chains": 4, "warmup": 2, "draws": 40}
    return fit("infinite_plaid", {"X": x}, {"anneal": False}, seed=2, executor="inline", **schedule)


@pytest.mark.long
def test_solutions_are_weighed_and_can_be_looked_at(run):
    found = run.solutions()
    assert len(found) > 1
    assert sum(one.weight for one in found) == pytest.approx(1.0)
    assert sorted(chain for one in found for chain in one.chains) == [0, 1, 2, 3]
    assert found[0].weight == max(one.weight for one in found)
    before = dict(run.results)
    alone = run.solution(1)
    assert len(alone.results["chains"]) == len(found[0].chains)
    assert run.solution(1) is alone
    assert run.results == before
    assert "solutions" in run.diagnosis().verdict.title


@pytest.mark.long
def test_a_session_that_is_opened_again_tells_the_same(run, tmp_path):
    run.save(tmp_path / "one.plaidwork")
    again = next(iter(open_session(tmp_path / "one.plaidwork").runs.values()))
    assert again.diagnosis().verdict == run.diagnosis().verdict
    assert again.solutions() == run.solutions()
