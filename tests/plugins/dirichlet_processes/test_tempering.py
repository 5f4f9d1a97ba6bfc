"""A tempered chain against the enumeration of all partitions, and against a plain one where the base is learned; faults planted in both."""

import numpy as np
import pytest
from altered import put
from dp_tools import BATCHES, MODEL, adjusted_rand, chain, matrices, settings, smallest_p
from scipy import stats

from plaidwork.core.api import Clock
from plaidwork.core.errors import ModelError, SessionError
from plaidwork.core.numerics.tempering import exchange
from plaidwork.core.session.fitting import fit, resume
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load
from plaidwork.plugins.dirichlet_processes import sweep, tempering

ROWS = [[0.1, 1.0], [0.5, 0.2], [2.0, 0.4], [2.2, -1.0], [0.3, 0.3], [1.9, -0.7]]
ENOUGH = 1e-3
"""A right sampler's smallest p value, corrected for their number, is below it in one of a thousand seeds."""
FOUND = 1e-6
"""A fault has to show more clearly than that."""
LADDER = {"rungs": 3, "least_power": 0.2}


def _tempered(**changed):
    return matrices(a=ROWS), settings(likelihoods="gaussian", alpha=0.8, **LADDER, **changed)


def _always(rng, size, log_density, swaps):
    """Swaps that are never refused."""
    return exchange(rng, size, lambda copy, rung: 0.0, swaps)


@pytest.mark.slow
def test_frequencies_of_all_partitions():
    """6 rows, 203 partitions, 12 000 sweeps."""
    assert smallest_p(MODEL, *_tempered(), 12_000) > ENOUGH


@pytest.mark.slow
def test_swaps_that_are_never_refused_are_found(monkeypatch):
    monkeypatch.setattr(tempering, "exchange", _always)
    assert smallest_p(MODEL, *_tempered(), 12_000) < FOUND


def _means(params, sweeps, seed):
    """(BATCHES,) means of the number of clusters and of the logarithm of the base's spread over batches of a long chain."""
    data = matrices(a=ROWS)
    rng, found = np.random.Generator(np.random.PCG64DXSM(seed)), np.empty((sweeps, 2))
    state = MODEL.init(data, params, rng)
    for at in range(sweeps):
        while (traces := MODEL.step(state, data, params, rng, Clock(at, 0))) is None:
            pass
        found[at] = traces["n_clusters"], np.log(state["base"]["b0"]).mean()
    return found.reshape(BATCHES, -1, 2).mean(axis=1)


def _apart(sweeps):
    """The smaller p value that a tempered and a plain chain have the same means; Bonferroni."""
    learned = {"likelihoods": "gaussian", "alpha": 0.8, "learn_base": True}
    plain, tempered = _means(settings(**learned), sweeps, 1), _means(settings(**learned, **LADDER), sweeps, 2)
    return min(1.0, 2 * float(stats.ttest_ind(plain, tempered, equal_var=False).pvalue.min()))


@pytest.mark.slow
def test_a_learned_base_has_the_law_of_a_plain_chain():
    assert _apart(8000) > ENOUGH


@pytest.mark.slow
def test_a_base_drawn_at_the_wrong_temperature_is_found(monkeypatch):
    """Copies draw theirs as if the data counted in full."""

    class Wrong(sweep.Updates):
        def finish(self, lo, hi):
            power, law = self.power, self.law
            object.__setattr__(self, "power", 1.0)
            super().finish(lo, hi)
            object.__setattr__(self, "power", power)
            assert law.power == power

    monkeypatch.setattr(tempering, "Updates", Wrong)
    assert _apart(8000) < FOUND


def two_groupings(n=80, each=4, noise_columns=40, sd=0.4, seed=1):
    """Samples grouped in two in ``each`` columns, and across that in two in as many others; the rest is noise, so that four clusters cost
    more than they explain. Values, and both groupings."""
    rng = np.random.default_rng(seed)
    one, other = np.arange(n) % 2, np.arange(n) // 2 % 2
    parts = [rng.normal(size=(n, noise_columns))]
    parts += [sd * rng.normal(size=(n, each)) + 2.0 * group[:, None] - 1.0 for group in (one, other)]
    return np.concatenate(parts, axis=1), one, other


def shares_of_first(rungs, sweeps, seeds, least=0.2):
    """Of chains of so many sweeps, the share of the second half that is nearer to the first grouping."""
    values, one, other = two_groupings()
    data = matrices(a=values)
    params = settings(likelihoods="gaussian", start="varied", alpha=1.0, rungs=rungs, least_power=least)
    found = []
    for seed in seeds:
        labels = chain(MODEL, data, params, sweeps, seed)[0][sweeps // 2 :]
        found.append(np.mean([adjusted_rand(z, one) > adjusted_rand(z, other) for z in labels]))
    return np.array(found)


@pytest.mark.slow
def test_it_leaves_a_grouping_that_a_plain_chain_stays_in():
    """The first grouping is better by 3.3 nats: it has .96. In the time of 1200 sweeps of one chain."""
    plain, tempered = shares_of_first(1, 1200, range(6)), shares_of_first(6, 200, range(6))
    assert set(plain) <= {0.0, 1.0}, "no chain goes over"
    assert (plain == 0.0).any(), "some stay in the worse one"
    assert tempered.mean() > 0.75


def test_without_copies_nothing_is_there():
    data, params = matrices(a=ROWS), settings(likelihoods="gaussian")
    state = MODEL.init(data, params, np.random.default_rng(1))
    assert not {"copies", "powers", "swaps"} & set(state)
    assert params["rungs"] == 1


def test_missing_cells_of_correlated_columns_are_refused():
    gaps = [[0.1, np.nan], *ROWS[1:]]
    with pytest.raises(ModelError, match="no correlated columns with missing cells"):
        MODEL.init(
            matrices(a=gaps), settings(likelihoods="gaussian_full", **LADDER), np.random.default_rng(1)
        )


SHORT = {"chains": 1, "warmup": 8, "executor": "inline"}


def _fit(draws, session=None):
    values = two_groupings(n=24, noise_columns=2)[0]
    return fit(
        "dp_mixture",
        {"views": [values]},
        {"correlated_columns": 0, "rungs": 3, "least_power": 0.9},
        draws=draws,
        session=session,
        **SHORT,
    )


def test_a_stored_tempered_chain_goes_on_as_one_that_was_not_stopped(tmp_path):
    session = Session()
    _fit(4, session)
    again = load(session.save(tmp_path / "s.plaidwork"), Session, probed=True)
    (run,) = again.runs.values()
    resume(again, run, draws=3, executor="inline")
    whole = _fit(7)
    assert np.array_equal(run.traces["log_joint"][0], whole.traces["log_joint"][0])
    assert np.nanmax(run.traces["swapped"][0]) > 0


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("copies", "2", "labels"), np.full(24, 99), "“copies.2.labels” holds 99"),
        (("copies", "1", "clusters", "mean"), np.zeros((1, 10)), "“copies.1.clusters.mean”"),
        (("copies", "2"), None, "one for each power"),
        (("swaps", "label"), np.array([0, 1, 7]), "“swaps.label” holds 7"),
        (("powers",), np.ones(2), "“powers” has the shape (2,)"),
    ],
)
def test_an_altered_copy_is_refused(place, value, words, tmp_path):
    session = Session()
    run = _fit(2, session)
    saved = run.chains[0].saved
    put(saved.state, place, value)
    again = load(session.save(tmp_path / "s.plaidwork"), Session, probed=True)
    with pytest.raises(SessionError) as caught:
        resume(again, draws=2, executor="inline")
    assert words in caught.value.message
