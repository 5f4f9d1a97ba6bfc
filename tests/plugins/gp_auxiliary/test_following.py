"""Cut-points that f follows (kernels/following.py), by themselves: f and the cut-points alone are moved elsewhere in a sweep too."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gp_joint import NARROW, generator, joint, prior_f
from plaid_tools import with_fault

from plaidwork.plugins.gp_auxiliary.classes import ordinal
from plaidwork.plugins.gp_auxiliary.kernels import following, hamiltonian
from plaidwork.plugins.gp_auxiliary.shared.flow import flow_of
from plaidwork.plugins.gp_auxiliary.shared.gram import is_dense

FAULTS = {
    "none": ("follow", "", ""),
    "quadratic part of the reference": ("_line", "curvature += bend[n] * along[n] * along[n]", "curvature += 0.0"),
    "centre": ("_line", "slope -= (w[j] - centre[j]) * v[j]", "slope -= w[j] * v[j]"),
    "density of a gap": ("_log_prior", " - log_gap", ""),
    "prior of the first cut-point": ("_log_prior", "-0.5 * ((cuts[0] + shift) / first_sd) ** 2", "0.0"),
    "ends left behind": ("follow", "cuts[at:] += shift", "cuts[at:] += 0.7 * shift"),
    "f left behind": ("follow", "w[j] += shift * v[j]", "w[j] += 0.0"),
}  # fmt: skip


def faulty(name, old, new):
    """The move with a fault in one of its parts."""
    if name == "follow":
        return with_fault(following.follow, old, new)
    part = with_fault(getattr(following, name), old, new)
    if name == "_line":
        return with_fault(following.follow, _line=part)
    return with_fault(following.follow, _log_density=with_fault(following._log_density, _log_prior=part))


def place_of_the_prior(rng, prior, state, reference):
    """w of an f that is drawn from the prior, without its samples' own terms."""
    if is_dense(state):
        w = prior_f(rng, prior, state["theta"], 1)[0]
        hamiltonian.solve_lower(flow_of(prior, state["theta"], state, reference)["map"], w)
        return w
    g = state["loadings"]
    whole = np.linalg.cholesky(np.eye(g.shape[1]) + g.T @ (reference["bend"][:, None] * g))
    return np.ascontiguousarray(whole.T @ rng.standard_normal(g.shape[1]))


def numbers(f, cuts, code):
    """Bounded functions of what such a move changes; the priors are even, so many of these are too."""
    chance = ordinal.log_labels(f, cuts, code)
    lengths = [cuts[0] ** 2, (cuts[-1] - cuts[0]) / 2, (f @ f) / 8, f.mean() ** 2]
    return np.tanh([chance / 4, *lengths, cuts[0] * f.mean(), (cuts[0] - f.mean()) ** 2 / 2])


def changes(law, move, rounds):
    """(rounds, numbers) how much one move changes of w, cut-points and grades that were drawn together."""
    rng, found = generator(2), []
    for _ in range(rounds):
        state = law.direct(rng)
        reference, cuts = state["reference"], state["cuts"]
        reference["pull"], reference["bend"] = rng.standard_normal(6), rng.uniform(0.05, 0.9, 6)
        prior = law.model.setting(state, law.params)
        made = flow_of(prior, state["theta"], state, reference)
        rows, w = made["map"], place_of_the_prior(rng, prior, state, reference)
        code = np.searchsorted(cuts, rows @ w + made["sd"] * rng.standard_normal(6))
        before = numbers(rows @ w, cuts, code)
        move(
            rng, rows, is_dense(state), w, made["centre"], code, cuts, made["sd"], reference["pull"], reference["bend"],
            *ordinal.widths_of(law.params),
        )  # fmt: skip
        found.append(numbers(rows @ w, cuts, code) - before)
    return np.array(found)


@pytest.mark.long
@pytest.mark.parametrize("name", ["ordered", "ordered, inducing points"])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_joint_law_stays(fault, name):
    """At most 1.4 standard errors off as it should be, at least 8.8 with a fault."""
    law = joint(name)
    law.params = {**law.params, **NARROW}
    found = changes(law, faulty(*FAULTS[fault]), 4000)
    error = np.maximum(found.std(0) / math.sqrt(len(found)), 1e-12)  # f that is left behind does not change
    off = np.abs(found.mean(0) / error).max()
    assert off < 4.5 if fault == "none" else off > 5.0
