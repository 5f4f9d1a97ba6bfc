"""The quick look: its bound never falls, its mean is the most probable f, and it stays below the evidence."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from scipy import optimize, stats
from scipy.special import log_ndtr

from plaidwork.core import fit
from plaidwork.core.api import Block, Clock, ModelData, passes
from plaidwork.core.data.samples import bundled_samples
from plaidwork.plugins.gp_auxiliary.classes import variational
from plaidwork.plugins.gp_auxiliary.classes.variational import QuickClasses, tilt

FIXED = {
    "covariance": "rbf",
    "parameters": "fixed",
    "intercept": False,
    "standardise": False,
    "amplitude": 4.0,
    "gamma": 1.0,
}


def problem(n_classes: int, size: int = 30, seed: int = 1) -> ModelData:
    rng = generator(seed)
    x = rng.standard_normal((size, 2))
    codes = np.argmax(
        x @ rng.standard_normal((2, n_classes)) + rng.standard_normal((size, n_classes)), axis=1
    )
    codes[:n_classes] = np.arange(n_classes)
    names = tuple(f"s{i}" for i in range(size))
    known = np.ones((size, 2), dtype=bool)
    classes = tuple("abcd"[:n_classes])
    return ModelData(
        {
            "X": Block("X", x, known, None, (names, ("p", "q"))),
            "y": Block("y", codes, known[:, 0], None, (names,), classes),
        }
    )


def settled(data: ModelData, sweeps: int = 400, **params):
    model = QuickClasses()
    settings = model.spec.check_params(FIXED | params)
    state = model.init(data, settings, generator(0))
    values = []
    for sweep in range(sweeps):
        ended = passes(model, state, data, settings, generator(0), Clock(sweep, 0))
        values += [model.objective(state, data, settings) for _stage in ended]
    return model, settings, state, np.array(values)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("form", ["dense", "inducing"])
@pytest.mark.parametrize("parameters", ["fixed", "inferred"])
def test_the_bound_never_falls(n_classes, form, parameters):
    """After the first update, at every stage, by more than 1e-9 of itself."""
    _, _, _, values = settled(problem(n_classes), 120, form=form, inducing=8, parameters=parameters)
    assert np.diff(values).min() >= -1e-9 * np.abs(values).max()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_tilt_is_the_gradient_of_the_cones(n_classes):
    rng = generator(2)
    mean = rng.standard_normal((1 if n_classes == 2 else n_classes, 6))
    code = np.arange(6) % n_classes
    z, _ = tilt(mean, code)
    for place in np.ndindex(mean.shape):
        moved = mean.copy()
        moved[place] += 1e-5
        up = tilt(moved, code)[1].sum()
        moved[place] -= 2e-5
        slope = (up - tilt(moved, code)[1].sum()) / 2e-5
        assert (z - mean)[place] == pytest.approx(slope, abs=1e-7)


def test_the_mean_is_the_most_probable_f_and_the_bound_below_the_evidence():
    data = problem(2, 12)
    model, settings, state, values = settled(data, 3000)
    c = model.setting(state, settings).covariance.matrix(state["fixed"]["x"], state["theta"])
    inverse = np.linalg.inv(c + 1e-9 * np.eye(12))
    sign = np.where(state["fixed"]["code"] == 1, 1.0, -1.0)
    found = optimize.minimize(
        lambda f: 0.5 * f @ inverse @ f - log_ndtr(sign * f).sum(), state["mean"][0], method="BFGS", tol=1e-10
    )
    assert np.abs(found.x - state["mean"][0]).max() < 1e-4
    flipped = (c + np.eye(12)) * np.outer(sign, sign)
    evidence = np.log(
        stats.multivariate_normal(np.zeros(12), flipped).cdf(np.zeros(12), rng=np.random.default_rng(0))
    )
    prior = variational.make_prior(state["fixed"]["x"], settings, False).covariance.log_prior(state["theta"])
    assert values[-1] - prior < evidence + 0.01


@pytest.mark.parametrize("parameters", ["fixed", "inferred"])
def test_the_first_restart_begins_at_the_prior_mean_and_others_around_it_where_parameters_are_inferred(
    parameters,
):
    model, data = QuickClasses(), problem(3)
    settings = model.spec.check_params(FIXED | {"parameters": parameters})
    first, second = (
        model.init(data, settings, np.random.default_rng(np.random.SeedSequence(1, spawn_key=(chain,))))
        for chain in (0, 1)
    )
    np.testing.assert_array_equal(first["theta"], model.setting(first, settings).covariance.prior_mean)
    assert np.array_equal(first["theta"], second["theta"]) == (parameters == "fixed")


def test_a_quick_look_is_settled_by_restarts_that_agree():
    """Its first restart alone was never settled: nothing to compare it with."""
    three_gaussians = next(sample for sample in bundled_samples() if sample.id == "three-gaussians")
    run = fit("gp_quick_classes", three_gaussians.load(), {}, seed=1, max_sweeps=400)
    assert run.diagnosis().verdict.settled
    assert len(run.chains) > 2
