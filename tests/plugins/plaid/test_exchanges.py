"""Exchanges between two blocks, and what they cover cut another way, leave the exact posterior on a 3 x 3 matrix with one missing cell as it is."""

import itertools

import numpy as np
import plaid_tools as tools
import pytest
from plaid_tools import with_fault

from plaidwork.core.api import Clock
from plaidwork.plugins.plaid import profile_sweep, sweep
from plaidwork.plugins.plaid.kernels import pairs, profile_moves, tasks
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid
from plaidwork.plugins.plaid.sweep import MOVES

EXCHANGES = 10
STARTS = 20_000
CASES = {
    "fixed number": (BayesianPlaid, {**tools.TINY_FIXED, "column_a": 0.4, "column_b": 3.0}),
    "inferred number": (InfinitePlaid, tools.TINY_INFINITE),
    "fixed number, profiles": (BayesianPlaid, {**tools.TINY_FIXED, **tools.PROFILE}),
    "inferred number, profiles": (InfinitePlaid, {**tools.TINY_INFINITE, **tools.PROFILE}),
    "fixed number, recuts": (BayesianPlaid, {**tools.TINY_FIXED, "column_a": 0.4, "column_b": 3.0}),
    "inferred number, recuts": (InfinitePlaid, tools.TINY_INFINITE),
}


def posterior(model, params):
    """All pairs of blocks, (n, 2, 3) rows and columns, and their probabilities given that there are two."""
    least = 1 if isinstance(model, InfinitePlaid) else 0
    sides = tools.subsets(3, least)
    a1, b1, a2, b2 = model.shares(params)
    blocks = [(u, v, log_side(u, a1, b1) + log_side(v, a2, b2)) for u in sides for v in sides]
    rows, columns, logs = [], [], []
    for (u1, v1, w1), (u2, v2, w2) in itertools.product(blocks, repeat=2):
        rows.append((u1, u2))
        columns.append((v1, v2))
        inside = np.array([np.outer(u1, v1), np.outer(u2, v2)])
        logs.append(w1 + w2 + tools.log_marginal_dense(inside, params))
    probability = np.exp(np.array(logs) - max(logs))
    return np.array(rows), np.array(columns), probability / probability.sum()


def log_side(z, a, b):
    return tools.gammaln(a + z.sum()) + tools.gammaln(b + len(z) - z.sum())


def functions(rows, columns):
    """(n, 14) of pairs: sizes of the sides, their products, and the nine cells in any block."""
    m, n = rows.sum(axis=-1), columns.sum(axis=-1)
    inside = (rows[..., :, None] & columns[..., None, :]).any(axis=1).reshape(-1, 9)
    parts = [m.sum(1), n.sum(1), m.prod(1), n.prod(1), (m * n).sum(1), *inside.T]
    return np.stack(parts, axis=1).astype(float)


def far_off(case, starts):
    """Largest |z| of the functions after exchanges that begin at independent draws of the exact posterior."""
    kind, settings = CASES[case]
    model, rng = kind(), tools.generator(3)
    recuts = "recuts" in case
    params = model.spec.check_params({**settings, "together": 0, "recuts": EXCHANGES})
    rows, columns, probability = posterior(model, params)
    exact = probability @ functions(rows, columns)
    data = tools.matrix(tools.SMALL_X, observed=tools.SMALL_W)
    state = model.init(data, params, rng)
    setting, replica = model.setting(state, data, params, Clock(0, 0)), state["replicas"]["0"]
    codes = np.full(1 if recuts else EXCHANGES, MOVES.index("recut" if recuts else "exchange"))
    found_rows, found_columns, accepted = [], [], 0
    for i in rng.choice(len(rows), starts, p=probability):
        replica["rows"], replica["columns"] = rows[i].copy(), columns[i].copy()
        accepted += sweep.run_stretch(
            replica, setting, 1.0, rng, np.empty(0, np.int64), codes, count=True, draw=False
        ).sum()
        found_rows.append(replica["rows"])
        found_columns.append(replica["columns"])
    assert accepted > 0.05 * starts * EXCHANGES
    found = functions(np.array(found_rows), np.array(found_columns))
    error = found.std(axis=0) / np.sqrt(starts)
    return np.abs((found.mean(axis=0) - exact) / error).max()


@pytest.mark.parametrize(
    "starts", [2000, pytest.param(STARTS, marks=pytest.mark.slow)], ids=["short", "long"]
)
@pytest.mark.parametrize("case", CASES)
def test_the_posterior_stays(case, starts):
    assert far_off(case, starts) < tools.LIMIT


def one_block_with(old, new):
    tried = with_fault(pairs.try_pair, old, new)
    return with_fault(tasks.run_tasks, exchange=with_fault(pairs.exchange, try_pair=tried))


def recut_with(old, new, name="propose_recut"):
    return with_fault(
        tasks.run_tasks, recut=with_fault(pairs.recut, **{name: with_fault(getattr(pairs, name), old, new)})
    )


def profile_with(old, new):
    return with_fault(
        profile_moves.run_profile_tasks, profile_exchange=with_fault(profile_moves.profile_exchange, old, new)
    )


def proposed_with(old, new):
    return with_fault(
        tasks.run_tasks,
        exchange=with_fault(pairs.exchange, propose_pair=with_fault(pairs.propose_pair, old, new)),
    )


FAULTS = {
    "prior left out": ("fixed number", lambda: one_block_with("log_ratio += log_m", "log_ratio = log_m")),
    "prior left out, inferred number": ("inferred number", lambda: one_block_with("log_ratio += log_m", "log_ratio = log_m")),
    "prior left out, profiles": ("fixed number, profiles", lambda: profile_with("log_ratio + new_m", "new_m")),
    "prior left out, inferred number, profiles": (
        "inferred number, profiles", lambda: profile_with("log_ratio + new_m", "new_m")
    ),
    "prior of the other side": ("fixed number", lambda: proposed_with("(law.a2, law.b2)", "(law.a1, law.b1)")),
    "prior after the exchange alone": ("inferred number", lambda: proposed_with("log_prior -= side", "log_prior -= 0.0 * side")),
    "does not undo itself": ("fixed number", lambda: proposed_with("side[second] ^= side[first]", "side[second] |= side[first]")),
    "statistics of the second block as before": (
        "fixed number", lambda: one_block_with("count_again(cells, new_rows, new_columns, new_counts, new_sums, second)", "pass")
    ),
    "recut: prior left out": ("fixed number, recuts", lambda: recut_with("log_ratio += log_m", "log_ratio = log_m", "try_pair")),
    "recut: statistics of the first block as before": (
        "fixed number, recuts", lambda: recut_with("count_again(cells, new_rows, new_columns, new_counts, new_sums, first)", "pass", "try_pair")
    ),
    "recut: prior of the other side": ("fixed number, recuts", lambda: recut_with("(law.a1, law.b1) if by_rows else (law.a2, law.b2)", "(law.a2, law.b2) if by_rows else (law.a1, law.b1)")),
    "recut: prior of the first side alone": ("fixed number, recuts", lambda: recut_with("log_prior -= side", "log_prior -= 0.0 * side")),
    "recut: does not undo itself": ("fixed number, recuts", lambda: recut_with("along[second] ^= along[first]", "along[second] |= along[first]")),
    "recut: fits before, but not after": ("inferred number, recuts", lambda: recut_with(" and mostly_in(part, along[first])", "")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_seen(name, monkeypatch):
    case, build = FAULTS[name]
    module, target = (profile_sweep, "run_profile_tasks") if "profiles" in case else (sweep, "run_tasks")
    monkeypatch.setattr(module, target, build())
    assert far_off(case, STARTS) > 5.0
