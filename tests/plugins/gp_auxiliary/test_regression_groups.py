"""Functions and noise of groups beside shared ones: against dense algebra, a single group, made data; planted faults are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gp_joint import generator
from gp_regression_tools import NOISE, SETTINGS, data_of
from plaid_tools import with_fault
from scipy.stats import multivariate_normal

from plaidwork.core import fit
from plaidwork.core.api import Dataset, ResultStore
from plaidwork.core.api_pictures import Points, ViewChoices
from plaidwork.core.checks import checks_for
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.plan import joined_inputs, model_data
from plaidwork.plugins.gp_auxiliary.regression import moments
from plaidwork.plugins.gp_auxiliary.regression.law import (
    ObservedCovariance,
    extended,
    law_of,
    log_evidence,
    observed_prior,
)
from plaidwork.plugins.gp_auxiliary.regression.model import Regression
from plaidwork.plugins.gp_auxiliary.regression.pictures import fit_along
from plaidwork.plugins.gp_auxiliary.shared import covariance
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance, LabelledCovariance, make_covariance
from plaidwork.plugins.gp_auxiliary.shared.evidence import evidence
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

CODES = np.array([0, 1, 2, 0, 0, 1, -1, 2, -1, 1, 0, 2])
SUM = "rbf(ard) + constant + same * rbf(ard) + same"


def law_for(expression: str) -> Covariance:
    return make_covariance({**SETTINGS, "expression": expression}, ("a", "b"))


def prior_for(expression: str, kinds: np.ndarray = CODES) -> Prior:
    """Twelve samples with these kinds of noise."""
    law, x = law_for(expression), generator(1).standard_normal((12, 2))
    return observed_prior(law, extended(law.located(x, CODES), 1.0, kinds), [NOISE] * 3)


def place_of(prior: Prior) -> np.ndarray:
    law = prior.covariance
    return law.prior_mean + 0.3 * generator(2).standard_normal(len(law.parameters))


def by_hand(x: np.ndarray, codes: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """C of ``SUM`` by its formula, samples of code -1 each alone."""
    amplitude, value = np.exp(theta[:4]), np.zeros((len(x), len(x)))
    for i, one in enumerate(x):
        for j, other in enumerate(x):
            alike = i == j or codes[i] == codes[j] >= 0
            gap = (one - other) ** 2
            value[i, j] = amplitude[0] * math.exp(-0.5 * np.exp(theta[4:6]) @ gap) + amplitude[1]
            if alike:
                value[i, j] += amplitude[2] * math.exp(-0.5 * np.exp(theta[6:8]) @ gap) + amplitude[3]
    return value


def evidence_error() -> float:
    """Relative difference of the evidence from the normal density with a covariance and noise written out."""
    prior = prior_for(SUM)
    theta, y = place_of(prior), generator(3).standard_normal(12)
    noises = 1e-6 + np.exp(theta[-3:])
    noise = np.where(CODES >= 0, noises[CODES], noises.mean())
    c = by_hand(prior.x[:, :2], CODES, theta)
    wanted = multivariate_normal(np.zeros(12), c + np.diag(noise)).logpdf(y)
    return abs(log_evidence(prior, theta, y) / wanted - 1.0)


def test_the_evidence_is_that_of_a_covariance_written_out():
    assert evidence_error() < 1e-9


FAULTS = {
    "labels mixed up": (LabelledCovariance, "matrix", "alike * own[0]", "own[0]"),
    "unknown labels are one": (covariance, "_alike", " & (codes >= 0)[:, None]", ""),
    "noise of the wrong group": (ObservedCovariance, "noise", "x[:, -1].astype(np.intp)", "0 * x[:, -1].astype(np.intp)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name, monkeypatch):
    owner, function, old, new = FAULTS[name]
    monkeypatch.setattr(owner, function, with_fault(getattr(owner, function), old, new))
    assert evidence_error() > 1e-4


def worst_slope() -> float:
    """Largest difference of the gradient from central differences, relative to the largest slope."""
    prior = prior_for(
        SUM + " + same * linear", np.maximum(CODES, 0)
    )  # each fitted sample has a noise of its own group
    theta, y = place_of(prior), generator(3).standard_normal((1, 12))
    found = evidence(prior, theta, y).gradient
    steps = 1e-4 * np.eye(len(theta))
    slope = [(prior.log_density(theta + s, y) - prior.log_density(theta - s, y)) / 2e-4 for s in steps]
    return float(np.abs(found - slope).max() / np.abs(slope).max())


def test_the_gradient_is_the_slope_of_the_evidence():
    assert worst_slope() < 1e-6


def test_a_slope_that_takes_all_for_one_group_is_found(monkeypatch):
    wrong = with_fault(LabelledCovariance.slopes, "alike * weights", "weights")
    monkeypatch.setattr(LabelledCovariance, "slopes", wrong)
    assert worst_slope() > 1e-3


def test_new_samples_of_known_and_unknown_groups_are_predicted_as_by_the_joint_law():
    """A group that is not in the fit has the shared part's mean, and the variance of its own function on top."""
    prior = prior_for(SUM)
    theta, y = place_of(prior), generator(3).standard_normal(12)
    new, codes = generator(5).standard_normal((4, 2)), np.array([0, 2, -1, -1])
    both, all_codes = np.concatenate([prior.x[:, :2], new]), np.concatenate([CODES, codes])
    joint = by_hand(both, all_codes, theta)
    noise = law_of(prior).noise(prior.x, theta)
    gain = np.linalg.solve(joint[:12, :12] + np.diag(noise), joint[:12, 12:]).T
    mean, variance = moments.solve(prior, theta, y).moments_at(prior, theta, np.column_stack([new, codes]))
    np.testing.assert_allclose(mean, gain @ y, rtol=1e-9)
    np.testing.assert_allclose(variance, np.diag(joint[12:, 12:] - gain @ joint[:12, 12:]), rtol=1e-9)


def test_one_group_is_as_good_as_none():
    """Functions of the only group are shared ones, its noise is the noise."""
    one = np.zeros(12, np.int64)
    x = generator(1).standard_normal((12, 2))
    with_same, without = law_for("rbf(ard) + same * matern32"), law_for("rbf(ard) + matern32")
    first = observed_prior(with_same, extended(with_same.located(x, one), 1.0, one), [NOISE])
    second = observed_prior(without, extended(x), [NOISE])
    theta, y = place_of(second), generator(3).standard_normal((1, 12))
    found, wanted = evidence(first, theta, y), evidence(second, theta, y)
    assert found.value == pytest.approx(wanted.value, rel=1e-12)
    np.testing.assert_allclose(found.gradient, wanted.gradient, rtol=1e-9, atol=1e-12)


def test_a_fit_with_one_group_gives_the_draws_of_one_without():
    data = data_of(20, 1)
    names = data["X"].row_names
    groups = Dataset("groups", np.zeros(20, np.int64), names, kind="categorical", categories=("a",))
    length = {"seed": 3, "chains": 1, "warmup": 10, "draws": 10}
    one = fit("gp_regression", {**data, "groups": groups}, {"noise": "groups"}, **length)
    none = fit("gp_regression", data, **length)
    np.testing.assert_allclose(one.kept().chains[0].stack("theta"), none.kept().chains[0].stack("theta"), rtol=1e-9)  # fmt: skip


def made(size: int, seed: int) -> dict[str, Dataset]:
    """Three groups at heights -5, 0, 5 of a shared sine in units of 10 around 50, noise 0.3 and of the last 3."""
    rng = generator(seed)
    x, code = rng.uniform(-2, 2, (size, 1)), np.arange(size) % 3
    sd = np.where(code == 2, 3.0, 0.3)
    y = 50 + 5.0 * (code - 1) + 10 * np.sin(2 * x[:, 0]) + sd * rng.standard_normal(size)
    names = [f"s{i}" for i in range(size)]
    groups = Dataset("groups", code, names, kind="categorical", categories=("low", "mid", "high"))
    return {"X": Dataset("X", x, names, ["place"]), "y": Dataset("y", y, names), "groups": groups}


@pytest.fixture(scope="module")
def run():
    settings = {"covariance": "groups", "noise": "groups"}
    return fit("gp_regression", made(90, 1), settings, seed=3, chains=2, warmup=110, draws=60)


def test_a_fit_finds_the_groups(run):
    """Heights to 1.5, noise sds within a factor of 1.6 (30 samples each)."""
    names = run.results["along_groups"].values.tolist()
    assert names == ["New group", "low", "mid", "high"]
    level = run.results["along_mean"].values[:, 0].mean(axis=1)
    assert level[3] - level[1] == pytest.approx(10.0, abs=1.5)
    table = run.results["covariance"].columns
    noise = dict(zip(map(str, table["Parameter"]), table["Median"], strict=True))
    assert noise["noise sd of high"] == pytest.approx(3.0, rel=0.6)
    assert noise["noise sd of low"] == pytest.approx(0.3, rel=0.6)
    wide = np.ptp(run.results["along_observation"].values, axis=-1).mean(axis=(1, 2))
    assert wide[3] > 3 * wide[1]
    assert wide[0] > wide[1]


def test_the_picture_of_a_group_has_its_own_samples_and_mean(run):
    shared, own = (
        fit_along(ResultStore(run), ViewChoices({"group": name})) for name in ("New group", "high")
    )
    for picture, count in ((shared, 90), (own, 30)):
        (points,) = (mark for mark in picture.panels[0].marks if isinstance(mark, Points))
        assert len(points.x) == count
    mean = run.results["along_mean"].values
    np.testing.assert_allclose(own.table["Mean"], mean[3, 0])
    np.testing.assert_allclose(shared.table["Mean"], mean[0, 0])
    (name,) = run.inputs["y"]
    assert shared.panels[0].y.title == name  # of a column beside a table, its title


def test_new_samples_belong_to_their_groups_by_name(run):
    """The order of categories is another one, and one of them is not in the fit."""
    data = made(90, 1)
    kinds = ("other", "high", "low")
    codes = np.arange(90) % 3
    spec = Regression.spec

    def predicted(groups: Dataset | None) -> np.ndarray:
        given = {"X": data["X"], "y": data["y"]} | ({"groups": groups} if groups else {})
        new = model_data(spec, joined_inputs(spec, {key: [found] for key, found in given.items()}), 0, 0.0)
        old = model_data(spec, joined_inputs(spec, {key: [found] for key, found in data.items()}), 0, 0.0)
        table = Regression().predict(run.kept(), old, new, run.params)["predictions"].columns
        return np.asarray(table["Predicted"])

    found = predicted(Dataset("groups", codes, data["X"].row_names, kind="categorical", categories=kinds))
    alone = predicted(None)
    np.testing.assert_allclose(found[codes == 0], alone[codes == 0], rtol=1e-9)
    assert (found[codes == 1] - found.mean() > alone[codes == 1] - alone.mean()).mean() > 0.9
    assert (found[codes == 2] < alone[codes == 2]).all()


def test_groups_that_are_wanted_and_not_chosen_are_asked_for():
    for settings in ({"covariance": "groups"}, {"noise": "groups"}):
        with pytest.raises(PlaidworkError, match="needs groups, and none are chosen"):
            fit("gp_regression", data_of(12, 1), settings, chains=1, seed=1)


@pytest.mark.slow
def test_a_sampler_that_takes_all_for_one_group_is_found_by_the_joint_test(monkeypatch):
    wrong = with_fault(LabelledCovariance.slopes, "alike * weights", "weights")
    monkeypatch.setattr(LabelledCovariance, "slopes", wrong)
    broken = with_fault(LabelledCovariance.matrix, "alike * own[0]", "own[0]")
    monkeypatch.setattr(ObservedCovariance, "matrix", with_fault(ObservedCovariance.matrix, "self.f.matrix(", "broken(self.f, ", broken=broken))  # fmt: skip
    (check,) = (check for check in checks_for("gp_regression") if check.id == "geweke[groups]")
    with pytest.raises(AssertionError):
        check()
