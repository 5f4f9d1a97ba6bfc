"""Sizes of the slopes of a linear f against their law, and where they are shown."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core import fit
from plaidwork.core.data.dataset import Dataset
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.classes.slopes import _drawn, _scales, is_plane
from plaidwork.plugins.gp_auxiliary.shared.frame import prior_of


def prior(x, **settings):
    return prior_of(x, np.zeros((0, x.shape[1])), Classes().spec.check_params(settings), False)


def plane(x):
    return prior(x, covariance="expression", expression="mean_linear")


class Still:
    """A generator of nothing but 0, with which a draw is its mean."""

    def standard_normal(self, size):
        return np.zeros(size)


@pytest.mark.parametrize("shape", [(30, 4), (6, 9)], ids=["samples", "inputs"])
def test_slopes_are_those_of_the_law_given_z(shape):
    """Means and variances of 20,000 draws within five standard errors of what conditioning the joint normal law gives; more inputs than
    samples go another way."""
    rng = generator(5)
    x, z = rng.standard_normal(shape), 2.0 * rng.standard_normal((2, shape[0]))
    law, theta = plane(x), np.array([0.3, -0.4])
    slope, constant = _scales(law.covariance, shape[1], theta)
    matrix = law.covariance.matrix(x, theta)
    np.testing.assert_allclose(slope * x @ x.T + constant, matrix, rtol=1e-9)
    turned = np.linalg.solve(matrix + np.eye(shape[0]), slope * x)
    mean, variance = z @ turned, slope - slope * (x * turned).sum(axis=0)
    np.testing.assert_allclose(_drawn(x, z, slope, constant, Still()), mean, atol=1e-10)
    draws = np.array([_drawn(x, z, slope, constant, rng) for _ in range(20_000)])
    assert np.abs(draws.mean(axis=0) - mean).max() < 5 * np.sqrt(variance.max() / 20_000)
    np.testing.assert_allclose(
        draws.var(axis=0), np.broadcast_to(variance, mean.shape), rtol=5 * np.sqrt(2 / 20_000)
    )


@pytest.mark.parametrize(
    ("expression", "flat"),
    [("mean_linear", True), ("linear + constant", True), ("linear + rbf", False), ("linear * rbf", False)],
)
def test_which_covariances_make_f_linear(expression, flat):
    law = prior(np.ones((3, 2)), covariance="expression", expression=expression).covariance
    assert is_plane(law) == flat


def fitted(model, x, code, words):
    """A run of a linear part alone on inputs p, q and r."""
    names = tuple(f"s{i}" for i in range(len(x)))
    data = {
        "X": Dataset("X", x, names, ("p", "q", "r")),
        "y": Dataset("y", code, names, (), kind="categorical", categories=words),
    }
    schedule = {"max_sweeps": 60} if "quick" in model else {"warmup": 30, "draws": 30, "chains": 2}
    return fit(model, data, {"covariance": "expression", "expression": "mean_linear"}, seed=1, **schedule)


def test_the_map_is_over_the_two_inputs_along_which_f_changes():
    x = generator(1).standard_normal((60, 3))
    run = fitted("gp_quick_classes", x, (x[:, 1] + x[:, 2] > 0).astype(int), ("a", "b"))
    assert (run.results["map_x"].label, run.results["map_y"].label) == ("q", "r")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", ["gp_classes", "gp_quick_classes"])
def test_the_relevance_of_a_linear_part_alone(model, classes):
    """The planted input is found; a line that changes nothing has slopes around 0."""
    x = generator(1).standard_normal((60, 3))
    run = fitted(
        model, x, np.digitize(x[:, 1], [0.0] if classes == 2 else [-0.5, 0.5]), ("a", "b", "c")[:classes]
    )
    sizes = run.results["relevance"].values
    assert list(run.results["relevance_names"].values) == ["p", "q", "r"]
    assert sizes[1] > 3 * max(sizes[0], sizes[2])
    assert "“q” changes f fastest" in run.results["relevance_headline"]
    assert "length" not in run.results["covariance_note"]
