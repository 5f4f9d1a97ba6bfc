"""Summands of f stretched one by one: the joint law of parameters, summands and labels stays, and a fault does not."""

import math

import numpy as np
import pytest
from gp_joint import generator
from plaid_tools import with_fault
from sparing import some

from plaidwork.plugins.gp_auxiliary.classes.replica import Labels
from plaidwork.plugins.gp_auxiliary.classes.spec import CLASSES
from plaidwork.plugins.gp_auxiliary.shared import summands
from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior
from plaidwork.plugins.gp_auxiliary.shared.gram import draw_f, squared_length

X = np.array([[-1.2, 0.3], [0.4, 1.1], [1.3, -0.8], [-0.5, -1.0], [0.1, 0.2], [0.9, 0.6]])
SETTINGS = {"covariance": "expression", "standardise": False, "intercept": False, "amplitude_sd": 1.0}
ROUNDS, BATCHES = 3000, 30
FOUND, FINE = 5.0, 4.0
"""Standard errors: the largest of eight means under the right law is beyond 4 once in some 2,000 runs."""


def prior_of(expression):
    return make_prior(X, CLASSES.check_params(SETTINGS | {"expression": expression}), True)


def apart(expression, n_classes, rounds=ROUNDS) -> float:
    """Largest distance, in standard errors, of what amplitudes and biases are by turns from what they are by their prior.

    By turns: values and labels anew given f, then the move given both. Also z in
    units of its covariance, and how much likelier the move makes the labels: neither at all.
    """
    prior, rng = prior_of(expression), generator(11)
    law = prior.covariance
    theta, rows = law.prior_mean.copy(), 1 if n_classes == 2 else n_classes
    z = rng.standard_normal((rows, len(X)))
    moved = sorted({part.scales for part in summands.summands_of(law)})
    found, gram = [], prior.gram(theta)
    for _ in range(rounds):
        labels = Labels(Labels(np.zeros(len(X), np.int64), n_classes).winners(z), n_classes)
        likelihood = labels.log_likelihood(np.zeros(n_classes), 0.0)
        before = likelihood(draw_f(rng, z, gram))  # of the same law as after the move
        f = summands.stretch_f(rng, z, gram, theta, prior, likelihood, True)
        z = f + rng.standard_normal(f.shape)
        gram = prior.gram(theta)
        square = sum(squared_length(row, gram) for row in z) / z.size - 1.0
        unit = ((theta - law.prior_mean) / law.prior_sd)[moved]
        found.append([*np.tanh(unit), *(unit**2 - 1.0), square, likelihood(f) - before])
    values = np.array(found)
    batches = values.reshape(BATCHES, -1, values.shape[1]).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / math.sqrt(BATCHES)
    return float(np.abs(values.mean(axis=0) / error).max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "n_classes"),
    [("rbf + linear", 3), ("rbf + linear", 2), ("linear + matern32 * linear", 3), ("rbf + constant", 2)],
)
def test_the_joint_law_stays(expression, n_classes):
    assert apart(expression, n_classes) < FINE


FAULTS = {
    "no prior": ("_stretch_one", " + law.log_prior(moved)", " + 0.25 * law.log_prior(moved)"),
    "no labels": ("_stretch_one", "log_likelihood(still + moving * math.exp(log_k))", "0.0"),
    "amplitude by half": (
        "_stretch_one",
        "    theta[part.scales] += 2.0 * log_k\n    f",
        "    theta[part.scales] += log_k\n    f",
    ),
    "uncorrected": ("draw_summands", "part += gap @ c", "part += 0.5 * gap @ c"),
    "without noise": ("draw_summands", " - rng.standard_normal(z.shape))", ")"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", some(list(FAULTS), ["no labels"]))
def test_a_fault_is_found(name, monkeypatch):
    function, old, new = FAULTS[name]
    monkeypatch.setattr(summands, function, with_fault(getattr(summands, function), old, new))
    assert apart("rbf + linear", 3) > FOUND


def test_summands_add_up():
    """Covariances of the summands, and what is drawn given z with hardly any prior left."""
    prior = prior_of("rbf + linear * constant + linear")
    theta = prior.covariance.prior_mean + 0.3
    parts = summands.summands_of(prior.covariance)
    assert [part.scales < prior.covariance.n_groups for part in parts] == [True, True, True, False]
    whole = sum(summands._covariance(prior, theta, number, parts) for number in range(len(parts)))
    assert np.allclose(whole, prior.covariance.matrix(X, theta))


def intercept_apart(stretch, rounds=4000) -> float:
    """How far the share of intercepts beyond 1.96 of their own sd is from 5 %, in standard errors, after a stretch of the slopes."""
    prior, rng = prior_of("linear"), generator(1)
    law, parts = prior.covariance, summands.summands_of(prior.covariance)
    beyond = 0
    for _ in range(rounds):
        theta = law.prior_mean + law.prior_sd * rng.standard_normal(len(law.parameters))
        each = [summands._covariance(prior, theta, number, parts) for number in range(len(parts))]
        f = np.array([rng.standard_normal((1, len(X))) @ summands._root(c).T for c in each])
        stretch(rng, f, 0, parts[0], parts, theta, law, lambda _f: 0.0)
        beyond += f[1, 0, 0] ** 2 > 1.96**2 * math.exp(theta[0] + theta[1])
    return abs(beyond / rounds - 0.05) / math.sqrt(0.05 * 0.95 / rounds)


@pytest.mark.long
def test_an_amplitude_takes_the_intercept_along():
    assert intercept_apart(summands._stretch_one) < FINE


def test_an_intercept_left_behind_is_found():
    fault = with_fault(summands._stretch_one, "or (part.scales", "or False and (part.scales")
    assert intercept_apart(fault) > FOUND
