"""The checks have power: every slip of the paper that can be put back is, and a check must see it.

Names begin with the number of the slip in the specification, section 10.
"""

import numpy as np
import pytest
import rank_factor_tools as tools
from plaid_tools import with_fault

from plaidwork.plugins.rank_factor import gibbs, mixture, rows, vb_rows, vb_scores, vb_state
from plaidwork.plugins.rank_factor.kernels import labels, levels, pairs

from . import test_bound, test_conditionals, test_exact

PAIRS, MIXTURE, GAUSSIAN = {"scheme": "pairs"}, {"classifier": "nonlinear"}, {"likelihood": "gaussian"}
WHOLE = {"likelihood": "rank", "scheme": "levels", "classifier": "linear", "bias": True}

AGAINST_DIFFERENCES = {
    "2 a pair of samples counted twice": (
        lambda: test_conditionals.test_loadings({**WHOLE, **PAIRS}), pairs, "row_terms", "= kap * eps + 1.0", "= 2.0 * (kap * eps + 1.0)"),
    "3 neighbours held while a loading moves": (
        lambda: test_conditionals.test_loadings({**WHOLE, **PAIRS}), pairs, "row_terms", "gap = z[b, j] - z[a, j]", "gap = z[b, j]"),
    "4 the precision taken for its inverse": (
        lambda: test_conditionals.test_loadings(WHOLE), levels, "cell_terms", "= low + high", "= 1 / (low + high + 1e-9)"),
    "5 no +1 from the comparison below": (
        lambda: test_conditionals.test_scores(WHOLE, 2), levels, "cell_terms", "(limits[j + 1] + eps) + (1.0 if low > 0.0 else 0.0)", "(limits[j + 1] + eps)"),
    "5 no -1 in the thresholds": (
        test_conditionals.test_thresholds, levels, "threshold_terms", "(w[i, n] - eps) - (1.0 if low > 0.0 else 0.0)", "(w[i, n] - eps)"),
    "5 no sign in the scores of pairs": (
        lambda: test_conditionals.test_scores({**WHOLE, **PAIRS}, 2), pairs, "sample_linear", " + sign[at]\n", "\n"),
    "9 the weight of a label counted twice": (
        lambda: test_conditionals.test_classifiers(WHOLE), mixture, "coefficient_terms",
        "(weight**2 * state[\"label_kappa\"][of] + weight)",
        "(weight**2 * state[\"label_kappa\"][of] + weight) * state[\"label_kappa\"][of]"),
    "15 groups that ignore the label": (
        test_exact.test_groups_have_the_probabilities_of_the_target, mixture, "group_log_probabilities",
        "2.0 * params[\"label_weight\"] * hinge", "0.0 * hinge"),
    "17 scores of a mixture with the plain prior": (
        lambda: test_conditionals.test_scores({**WHOLE, **MIXTURE}, 2), gibbs, "score_part",
        "state[\"psi\"], state[\"mu\"]", "np.ones_like(state[\"psi\"]), 0 * state[\"mu\"]"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", AGAINST_DIFFERENCES)
def test_differences_see(name, monkeypatch):
    check, module, target, old, new = AGAINST_DIFFERENCES[name]
    monkeypatch.setattr(module, target, with_fault(getattr(module, target), old, new))
    with pytest.raises(AssertionError):
        check()


IN_THE_CHAIN = {
    "6 margin alone in lambda": ({}, levels, "arguments", "eps + w[i, n] - limits[", "eps + 0.0 * limits["),
    "10 half the rates of the loadings": ({}, rows, "end_rows", "state[\"eta\"].sum(axis=0)", "0.5 * state[\"eta\"].sum(axis=0)"),
    "10 half the rates of the classifiers": (
        {}, mixture, "draw_coefficients", "state[\"e\"].sum(axis=2)", "0.5 * state[\"e\"].sum(axis=2)"),
    "11 one factor in the rate of all": ({}, rows, "end_rows", "0.5 + 0.5 * k", "1.0"),
    "16 precision of a group with K / 2": (MIXTURE, mixture, "draw_mixture", "0.5 * k * count", "0.5 * k"),
    "noise with twice the samples": (
        GAUSSIAN, rows, "_gaussian", "0.5 * known.sum(axis=1)", "known.sum(axis=1)"),
    "label augmentation without its weight": (
        {"label_weight": 3.0}, labels, "draw_label_weights", "weight * (1.0 - y", "(1.0 - y"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_THE_CHAIN)
def test_expectations_see(name, monkeypatch):
    changes, module, target, old, new = IN_THE_CHAIN[name]
    setup, params = tools.tiny(**changes)
    expected = tools.exact(setup, params)
    faulty = with_fault(getattr(module, target), old, new)
    monkeypatch.setattr(module, target, faulty)
    if module is labels:
        monkeypatch.setattr(mixture, target, faulty)
    samples = tools.sampled(setup, params, 20_000, 11)
    assert np.abs(tools.z_scores(samples, expected)).max() > 5.0


IN_THE_BOUND = {
    "8 weights by the first moment": ({}, levels, "mean_weights", "square = u * u + c_variance[i, j - 1] + variance[i, n]", "square = u * u"),
    "10 half the rates": ({}, vb_rows, "update_columns", "q.mean_of(state, \"eta\").sum(axis=0)", "0.5 * q.mean_of(state, \"eta\").sum(axis=0)"),
    "12 shape of the rate of the classifiers": ({}, vb_state, "new_q", '"b_phi_shape": 0.5 + s_beta * k_beta', '"b_phi_shape": 0.5 + 0.5 * s_beta'),
    "13 Bessel functions upside down": ({}, vb_rows, "scale_moments", "bessel(r - 1.5, w) / own / ratio", "own / bessel(r - 1.5, w) / ratio"),
    "14 precision for variance of the thresholds": ({}, vb_rows, "update_own", "linear / precision, 1.0 / precision", "linear / precision, precision"),
    "16 precision of a group with K / 2": (MIXTURE, vb_scores, "update_precisions", "0.5 * k * share.sum(axis=0)", "0.5 * k"),
    "18 a last group that leaves something": (MIXTURE, vb_state, "log_shares", "log_nu[-1] = 0.0", "pass"),
    "5 no +1": ({}, levels, "cell_terms", "(limits[j + 1] + eps) + (1.0 if low > 0.0 else 0.0)", "(limits[j + 1] + eps)"),
    "pairs without the covariance of the loadings": (PAIRS, pairs, "mean_samples", "h += np.dot(spread, pull.ravel())", "pass"),
}  # fmt: skip


def fallen(changes, sweeps=60):
    """The largest relative fall of the bound over three data sets."""
    return max(test_bound.climb(*test_bound.small(changes, seed=seed), sweeps)[0] for seed in range(3))


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_THE_BOUND)
def test_bound_sees(name, monkeypatch):
    changes, module, target, old, new = IN_THE_BOUND[name]
    monkeypatch.setattr(module, target, with_fault(getattr(module, target), old, new))
    if module is vb_state and target == "new_q":
        monkeypatch.setattr(test_bound, "new_q", vb_state.new_q)
    assert fallen(changes) > 1e-7


@pytest.mark.slow
def test_the_right_updates_pass():
    for changes in ({}, PAIRS, MIXTURE):
        assert fallen(changes, 20) < 1e-10
