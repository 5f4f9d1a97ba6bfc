"""What the host makes of the densities that models tell: held-out cells, leaving one out, errors, choices."""

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import PluginError
from plaidwork.core.findings import predictive
from plaidwork.core.findings.predictive import densities_of
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from tests import toys


class Normal(toys.Walk):
    """Cells are N(level, 1)."""

    likelihood_of = "X"

    def log_likelihood(self, chain, draws, data, params, index, rows, columns):
        block = data["X"]
        values = block.values if block.truth is None else block.truth
        level = np.array([float(chain.draw("level", int(draw))) for draw in draws])
        return stats.norm.logpdf(values[rows, columns], level[:, None])


class ByRow(Normal):
    """Whole rows are observations."""

    likelihood_by_row = True

    def log_likelihood(self, chain, draws, data, params, index, rows, columns):
        assert columns is None
        every = [
            super(ByRow, self).log_likelihood(chain, draws, data, params, 0, rows, np.full(len(rows), j))
            for j in range(6)
        ]
        return np.sum(every, axis=0)


class Careless(Normal):
    """Returns too little."""

    def log_likelihood(self, *given):
        return np.zeros((3, 1000))


def a_run(model, levels, holdout=0.0, n=30, m=6, gaps=0.2):
    """A run with draws of the level by chain, and its plan."""
    rng = np.random.default_rng(0)
    values = rng.normal(0.5, 1, (n, m))
    values[rng.random((n, m)) < gaps] = np.nan
    plan = make_plan(
        model(),
        {"X": Dataset("d", values, tuple(f"r{i}" for i in range(n)), tuple(f"c{j}" for j in range(m)))},
        holdout=holdout,
        schedule=toys.Walk.spec.schedule.with_(chains=len(levels)),
    )
    run = Run.from_plan(plan)
    for record, given in zip(run.chains, levels, strict=True):
        for level in given:
            record.draws.append(
                {"place": np.zeros(m), "level": level, "up": np.zeros(m), "items": np.zeros(0)}
            )
    return run, plan


def found_of(run, plan):
    return densities_of(plan.model, plan.data, plan.params, run.kept())


def normal_draws(plan_levels, count, seed=1):
    return list(np.random.default_rng(seed).normal(*plan_levels, count))


def test_a_model_without_densities_tells_nothing():
    run, plan = a_run(toys.Walk, [[0.0]])
    assert found_of(run, plan) is None


def test_held_out_cells_are_scored_as_they_are():
    levels = [normal_draws((0.5, 0.1), 40), normal_draws((0.4, 0.1), 40, 2)]
    run, plan = a_run(Normal, levels, holdout=0.3)
    found = found_of(run, plan)
    block = plan.data["X"]
    truth = block.truth[block.held_out]
    assert found.held_out
    assert found.total.tolist() == [len(truth)]
    every = np.concatenate(levels)
    expected = np.log(stats.norm.pdf(truth, every[:, None]).mean(axis=0))
    score = found.score()
    np.testing.assert_allclose(np.sort(score.elpd), np.sort(expected))
    total, error = score.sum()
    assert total == pytest.approx(expected.sum())
    assert error == pytest.approx(np.sqrt(len(truth)) * expected.std())
    assert score.unreliable == 0.0
    one = found.score([0])
    assert one.elpd != pytest.approx(score.elpd)
    gain, gain_error = score.difference(one)
    assert gain == pytest.approx(total - one.sum()[0])
    assert gain_error < error


@pytest.mark.parametrize("model", [Normal, ByRow])
def test_without_held_out_cells_each_is_left_out(model):
    """The level given all cells is N(mean, 1/n): leaving a cell (a row) out is known exactly."""
    _, plan = a_run(model, [[0.0]], gaps=0.0)
    x = plan.data["X"].values
    precision = x.size
    levels = [normal_draws((x.mean(), precision**-0.5), 1500, seed) for seed in (3, 4)]
    run, plan = a_run(model, levels, gaps=0.0)
    found = found_of(run, plan)
    assert not found.held_out
    parts = x.reshape(-1, 1) if model is Normal else x
    exact = []
    for part in parts:
        left = precision - len(part)
        mean = (x.sum() - part.sum()) / left
        law = stats.multivariate_normal(np.full(len(part), mean), np.eye(len(part)) + 1 / left)
        exact.append(law.logpdf(part))
    np.testing.assert_allclose(found.score().elpd, exact, atol=0.01)
    assert found.total.tolist() == [len(parts)]


def test_of_many_observations_some_are_taken(monkeypatch):
    monkeypatch.setattr(predictive, "MOST_OBSERVATIONS", 40)
    monkeypatch.setattr(predictive, "_AT_ONCE", 7)
    run, plan = a_run(Normal, [normal_draws((0.5, 0.1), 200)])
    found = found_of(run, plan)
    block = plan.data["X"]
    assert len(found.row) == 40
    assert block.observed[found.row, found.column].all()
    assert found.total.tolist() == [int(block.observed.sum())]
    again = found_of(run, plan)
    assert np.array_equal(again.row, found.row)
    expected = stats.norm.logpdf(block.values[found.row, found.column], run.chains[0].view().draw("level", 7))
    np.testing.assert_allclose(found.by_chain[0][7], expected)
    total, error = found.score().sum()
    assert total == pytest.approx(found.total[0] * found.score().elpd.mean())
    assert error > np.sqrt(found.total[0]) * found.score().elpd.std()


def test_too_little_is_the_fault_of_the_plugin():
    run, plan = a_run(Careless, [[0.0]])
    with pytest.raises(PluginError, match="log_likelihood"):
        found_of(run, plan)
