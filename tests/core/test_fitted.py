"""Fitted values on request: slices, gaps, what a model may not return, data that are not those of the fit."""

import numpy as np
import pytest

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.summaries import correlate_rows, match_factors
from plaidwork.core.errors import DataError, PluginError
from plaidwork.core.findings.fitted import FittedInput, fitted_inputs
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from tests import toys


class Expecting(toys.Walk):
    """Expects the number of the column."""

    def fitted(self, kept, data, params, name, index, columns):
        asked.append(len(columns))
        mean = np.broadcast_to(np.asarray(columns, dtype=float), (data[name].shape[0], len(columns)))
        return mean, np.full(mean.shape, 0.1)


class Careless(toys.Walk):
    """Returns too little."""

    def fitted(self, kept, data, params, name, index, columns):
        return np.zeros(3), np.zeros(3)


asked = []


def a_run(model=Expecting, n=30, m=20, holdout=0.0):
    rng = np.random.default_rng(0)
    values = np.where(rng.random((n, m)) < 0.3, np.nan, rng.normal(size=(n, m)))
    values[:, 4] = 1.0
    names = (tuple(f"r{i}" for i in range(n)), tuple(f"c{j}" for j in range(m)))
    data = Dataset("d", values, *names)
    plan = make_plan(model(), {"X": data}, holdout=holdout)
    run = Run.from_plan(plan)
    run.chains[0].draws.append({"place": np.zeros(m), "level": 0.0, "up": np.zeros(m), "items": np.zeros(0)})
    return run, data, FittedInput(run, "X", {"d": data}, model())


def gathered(fitted, most=None):
    parts = list(fitted.imputed(0, most))
    return [np.concatenate([part[k] for part in parts]) for k in range(4)]


@pytest.mark.parametrize("cells", [1, 60, 10**6])
def test_missing_cells_come_in_slices(monkeypatch, cells):
    monkeypatch.setattr("plaidwork.core.findings.fitted.CELLS_AT_ONCE", cells)
    asked.clear()
    _run, data, fitted = a_run()
    rows, columns, mean, sd = gathered(fitted)
    gaps = np.argwhere(np.isnan(data.values).T)
    assert np.array_equal(np.column_stack([columns, rows]), gaps)
    assert np.array_equal(mean, columns)
    assert set(sd) == {0.1}
    assert max(asked) <= max(1, cells // 30)
    assert sum(asked) == 19  # the column without gaps is not asked for


def test_no_more_is_computed_than_asked_for():
    asked.clear()
    _run, data, fitted = a_run()
    rows, columns, _mean, _sd = gathered(fitted, 12)
    assert np.array_equal(np.column_stack([columns, rows]), np.argwhere(np.isnan(data.values).T)[:12])
    assert sum(asked) <= 4


def test_held_out_cells_are_not_missing():
    _run, data, fitted = a_run(holdout=0.4)
    assert fitted.blocks[0].held_out.any()
    assert np.array_equal(fitted.missing(0), np.isnan(data.values))


def test_a_model_that_returns_too_little_is_named():
    _run, _data, fitted = a_run(Careless)
    with pytest.raises(PluginError, match="fitted"):
        fitted.values(0, np.arange(2))


def test_offered_only_with_a_model_that_tells_and_has_kept_something():
    run, data, fitted = a_run()
    assert fitted.offered
    assert not FittedInput(run, "X", {"d": data}, toys.Walk()).offered
    assert not FittedInput(run, "X", {"d": data}, None).offered


def test_changed_and_lost_data_are_told():
    run, data, _fitted = a_run()
    with pytest.raises(DataError, match="changed"):
        fitted_inputs(run, {"d": data.with_(values=np.nan_to_num(data.values))})
    with pytest.raises(DataError, match="not here: d"):
        fitted_inputs(run, {})


def test_factors_are_paired_once_each():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(3, 200))
    between = correlate_rows(z, np.vstack([rng.normal(size=200), -z[2], z[0]]))
    index, matched = match_factors(between)
    assert index.tolist() == [2, 0, 1]
    assert matched[[0, 2]] == pytest.approx([1, -1])
    index, matched = match_factors(between[:, 1:])
    assert index.tolist() == [1, -1, 0]
    assert matched[1] == 0
    assert not correlate_rows(np.ones((2, 5)), z[:, :5]).any()


class Differing(toys.Walk):
    """Expects what the chains tell: the mean level of all, times the column, and a pattern of the chains' own."""

    def fitted(self, kept, data, params, name, index, columns):
        level = np.mean([chain.stack("level").mean() for chain in kept.chains])
        n = data[name].shape[0]
        pattern = np.random.default_rng(round(10 * level)).normal(size=(n, data[name].shape[1]))[:, columns]
        return pattern, np.ones(pattern.shape)


@pytest.mark.parametrize(
    ("levels", "low", "high"), [((1.0, 1.0, 1.0), 0.999, 1.0), ((1.0, 2.0, 1.0), -0.3, 0.3)]
)
def test_two_halves_of_the_chains_agree_or_not(levels, low, high):
    rng = np.random.default_rng(0)
    values = np.where(rng.random((30, 20)) < 0.3, np.nan, rng.normal(size=(30, 20)))
    data = Dataset("d", values, tuple(f"r{i}" for i in range(30)), tuple(f"c{j}" for j in range(20)))
    schedule = Differing.spec.schedule.with_(chains=len(levels))
    run = Run.from_plan(make_plan(Differing(), {"X": data}, schedule=schedule))
    for record, level in zip(run.chains, levels, strict=True):
        record.draws.append({"place": np.zeros(20), "level": level, "up": np.zeros(20), "items": np.zeros(0)})
    fitted = FittedInput(run, "X", {"d": data}, Differing())
    cells = np.nonzero(fitted.missing(0))
    assert low <= fitted.agreement(0, *cells) <= high
    one = FittedInput(run.of_chains([0]), "X", {"d": data}, Differing())
    assert np.isnan(one.agreement(0, *cells))
