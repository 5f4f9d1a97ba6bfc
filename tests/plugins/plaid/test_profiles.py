"""Blocks with a profile over the columns: their evidence against dense covariances, and what is shown of them."""

import numpy as np
import plaid_tools as tools
import pytest
from plaid_tools import chains_of
from sparing import every

from plaidwork.core.api import ModelData
from plaidwork.plugins.plaid.kernels.blocks import statistics
from plaidwork.plugins.plaid.kernels.evidence import log_marginal
from plaidwork.plugins.plaid.kernels.profile_evidence import log_marginal_profiles
from plaidwork.plugins.plaid.kernels.profile_records import plane_from
from plaidwork.plugins.plaid.kernels.records import Law
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid
from plaidwork.plugins.plaid.state import cells_of, measure

LAW = Law(0.3, 0.5, 0.7, 0.1, 1.3, 1.7, 0.0, 1.0, 0.0, 1.0, 5)


def _dense(y, known, rows, columns, t, within):
    """Log density of the data straight from the covariance of the observed cells."""
    where = np.nonzero(known)
    z = (rows[:, where[0]] & columns[:, where[1]]).astype(float)
    same = where[1][:, None] == where[1]
    covariance = np.diag(1 / t[where[0]]) + 1 / LAW.phi_precision + (1 / LAW.tau + within * same) * (z.T @ z)
    residual = y[where] - LAW.phi_mean - LAW.mu * z.sum(axis=0)
    return -0.5 * np.linalg.slogdet(covariance)[1] - 0.5 * residual @ np.linalg.solve(covariance, residual)


@pytest.mark.parametrize("within", [0.0, 0.6])
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_evidence_is_that_of_the_dense_covariance(within, missing):
    rng = np.random.default_rng(3)
    known = rng.random((7, 6)) >= missing
    y, rows, columns = rng.normal(size=(7, 6)) * known, rng.random((3, 7)) < 0.5, rng.random((3, 6)) < 0.5
    plane = plane_from(
        y, known, 0.0, np.zeros(7), np.zeros(y.shape[1]), rng.gamma(2.0, 1.0, 7), within, np.empty(y.shape)
    )

    def gain(log):  # of three blocks over one: constants of the data cancel
        return log(rows, columns) - log(rows[:1], columns[:1])

    ours = gain(lambda z1, z2: log_marginal_profiles(plane, z1, z2, LAW, bool(known.all())))
    assert ours == pytest.approx(gain(lambda z1, z2: _dense(y, known, z1, z2, plane.t, within)), abs=1e-9)


def test_without_spread_the_evidence_is_that_of_one_shift():
    rng = np.random.default_rng(4)
    block = tools.block(rng.normal(size=(7, 6)), observed=rng.random((7, 6)) < 0.8)
    cells = cells_of(block, measure(block, InfinitePlaid.spec.check_params({})))
    rows, columns = rng.random((2, 7)) < 0.5, rng.random((2, 6)) < 0.5
    effects = np.zeros(7), np.zeros(cells.x.shape[1])
    plane = plane_from(
        cells.x,
        block.observed.copy(),
        cells.centre,
        *effects,
        np.full(7, LAW.tau0),
        0.0,
        np.empty(cells.x.shape),
    )
    ours = [log_marginal_profiles(plane, rows[:k], columns[:k], LAW, False) for k in (2, 1)]
    plain = [log_marginal(*statistics(cells, rows[:k], columns[:k]), LAW) for k in (2, 1)]
    assert ours[0] - ours[1] == pytest.approx(plain[0] - plain[1], abs=1e-9)


def _planted():
    rng = np.random.default_rng(0)
    rows, columns = np.arange(30) < 12, np.arange(40) < 15
    profile = 2.0 + 2.0 * rng.normal(size=40) * columns
    return np.outer(rows, columns * profile) + 0.5 * rng.standard_normal((30, 40)), rows, columns, profile


@pytest.mark.long
@pytest.mark.parametrize("model", every([InfinitePlaid(), BayesianPlaid()], 2), ids=["infinite", "fixed"])
def test_a_planted_profile_is_found_and_predicts(model):
    x, rows, columns, profile = _planted()
    held = np.random.default_rng(1).random(x.shape) < 0.1
    data = ModelData({"X": tools.block(x, held_out=held)})
    scores = {}
    for layer in ("profile", "shift"):
        settings = {"layer": layer} | ({"blocks": 1} if isinstance(model, BayesianPlaid) else {})
        kept, params = chains_of(model, data, settings, 2, 60, 40)
        results = model.summarise(kept, data, params)
        scores[layer] = float(results["held_out_density"].values)
        if layer == "profile":
            assert results["blocks"].columns["Spread"][0] == pytest.approx(profile[columns].std(), rel=0.1)
            assert results["block_rows"].values[0] == pytest.approx(rows.astype(float), abs=0.2)
            wanted = np.outer(rows, columns * profile)
            assert np.sqrt(((results["fit"].values - wanted) ** 2).mean()) < 0.2
    if isinstance(model, BayesianPlaid):  # where the number is inferred, many shifts stand in for a profile
        assert scores["profile"] > scores["shift"] + 0.05


def test_noise_of_rows_and_effects_are_told_apart():
    rng = np.random.default_rng(2)
    noisy = np.arange(30) % 2 == 1
    x = rng.standard_normal((30, 40)) * np.where(noisy, 1.5, 0.3)[:, None] + 2 * rng.standard_normal((30, 1))
    model, settings = (
        InfinitePlaid(),
        {"layer": "profile", "row_noise": True, "effects": True, "max_blocks": 5},
    )
    state, _ = tools.run(model, tools.matrix(x), settings, 3, 40, 20)
    layers = state["replicas"]["0"]["layers"]
    assert layers["row_weights"][~noisy].min() > layers["row_weights"][noisy].max()
    assert np.corrcoef(layers["row_effects"], x.mean(axis=1))[0, 1] > 0.95
