"""The bound: put together twice, never falling at any single update, and what it must equal or stay below."""

import itertools

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.special import betaln, gammaln
from sparing import every

from plaidwork.core.contract import stages
from plaidwork.plugins.supervised_ibp import sweep
from plaidwork.plugins.supervised_ibp.bound import elbo_of
from plaidwork.plugins.supervised_ibp.moments import SUMS, clear_sums, copied, read_documents
from plaidwork.plugins.supervised_ibp.order import reorder
from plaidwork.plugins.supervised_ibp.prior import log_shares, prior_means, update_shares

LAYOUTS = ("plain", "groups", "groups and covariates", "intercept", "background", "groups and background")
CASES = [
    pytest.param(*case, id="-".join(case))
    for case in itertools.product(("finite", "stick"), ("factorised", "joint"), LAYOUTS)
]


OTHERS = (
    lambda state, corpus, settings: sweep.update_words(state, corpus, settings, 0, 3),
    lambda state, corpus, settings: sweep.update_spread(state, corpus, settings),
    sweep.update_prior,
    sweep.update_outcome,
)
"""All updates but that of q(z)."""


def corpus_like(layout, rng, n=12, d=3):
    more = {}
    if layout.startswith("groups"):
        more = {"group": np.arange(n) % 2, "n_groups": 2}
    if layout == "groups and covariates":
        more["cover"] = rng.standard_normal((n, 2))
    if layout == "intercept":
        more["cover"] = np.ones((n, 1))
    shared = rng.standard_normal(
        (n, 1)
    )  # topics that are nearly the same make the coefficients hard to tell apart
    return tools.plain_corpus(shared + 0.3 * rng.standard_normal((n, d)), rng.standard_normal(n), **more)


def begun(corpus, nu, settings, joint):
    """The state after pi, A and (beta, tau) were made of nu."""
    state = tools.state_of(corpus, nu, settings)
    state["joint"] = joint
    for stage in stages.passes(tools.Fitted(corpus, settings), state, None, settings, None, None):
        if stage.name == "begun":
            break
    del state[stages.POSITION]
    return state


@pytest.mark.parametrize(("prior", "family", "layout"), every(CASES, 5))
def test_no_single_update_lowers_the_bound(prior, family, layout):
    """Every nu_nk separately and every other block, by the bound of the tests; it equals that of the model."""
    count, worst = 0, 0.0
    for seed in range(2):
        rng = np.random.default_rng(seed)
        corpus = corpus_like(layout, rng)
        settings = tools.params(prior=prior, family=family, n_topics=3, background="background" in layout)
        state = begun(corpus, rng.random((12, 3)), settings, family == "joint")
        fixed = int(settings["background"])
        last = tools.reference_bound(corpus, state, settings)
        for _ in range(4):
            after = copied(state)
            read_documents(after, corpus, settings, 0, 12, True)
            assert (after["nu"][:, :fixed] == 1).all()
            for n, k in np.ndindex(12, 3 + fixed):  # the kernel goes through a document topic after topic
                state["nu"][n, k] = after["nu"][n, k]
                value = tools.reference_bound(corpus, state, settings)
                worst, last, count = max(worst, (last - value) / (1 + abs(last))), value, count + (k >= fixed)
            state["nu"] = after["nu"].copy()
            for name in ("raw", "gram", "total", "ny", "spread", "cover_nu", "tally"):
                state[name][...] = 0.0
            read_documents(state, corpus, settings, 0, 12, False)
            for step in OTHERS:
                step(state, corpus, settings)
                value = tools.reference_bound(corpus, state, settings)
                assert elbo_of(state, corpus, settings) == pytest.approx(value, rel=1e-11)
                worst, last, count = max(worst, (last - value) / (1 + abs(last))), value, count + 1
    assert count == 320
    assert worst <= 1e-11


@pytest.mark.parametrize(
    ("prior", "family", "layout", "parts"),
    every(
        [
            *(pytest.param(*case.values, 1, id=case.id) for case in CASES),
            *(pytest.param(*case.values, 4, id=f"{case.id}-parts") for case in CASES[2::5]),
        ],
        5,
    ),
)
def test_a_fit_never_falls_and_reports_its_bound(prior, family, layout, parts, monkeypatch):
    monkeypatch.setattr(sweep, "SETTLED_GAIN", 1e-4)  # the joint family begins early
    monkeypatch.setattr(sweep, "SETTLED_CHANGE", 0.1)
    rng = np.random.default_rng(5)
    corpus = corpus_like(layout, rng, n=30, d=6)
    settings = tools.params(
        prior=prior, family=family, n_topics=4, background="background" in layout, parts=parts
    )
    state, last = tools.state_of(corpus, rng.random((30, 4)), settings), -np.inf
    for _ in range(60):
        for value in tools.bounds(state, corpus, settings):
            assert value >= last - 1e-10 * (1 + abs(value))
            last = value
    assert last == pytest.approx(tools.reference_bound(corpus, state, settings), rel=1e-11)
    assert state["joint"] == (family == "joint")


def log_evidence(corpus, z, settings):
    """log p(X, Y | Z), everything else integrated out; no groups, no covariates."""
    x, y = tools.dense(corpus), corpus.y
    (n, d), s2x, s2a = x.shape, settings["noise"], settings["weight_variance"]
    a, b = settings["tau_shape"], settings["tau_rate"]
    own = s2x * np.eye(n) + s2a * z @ z.T
    total = -0.5 * d * (n * np.log(2 * np.pi) + np.linalg.slogdet(own)[1])
    total -= 0.5 * np.trace(x.T @ np.linalg.solve(own, x))
    scale = np.eye(n) + z @ z.T
    total += gammaln(a + n / 2) - gammaln(a) + a * np.log(b) - n / 2 * np.log(2 * np.pi)
    total -= 0.5 * np.linalg.slogdet(scale)[1]
    return total - (a + n / 2) * np.log(b + y @ np.linalg.solve(scale, y) / 2)


def log_prior(count, n, prior, alpha):
    """log p(Z) of K topics in ``count`` (K,) of n documents; broken sticks by quadrature (K = 2)."""
    k = len(count)
    if prior == "finite":
        return float((np.log(alpha / k) + betaln(count + alpha / k, n - count + 1)).sum())
    at, weight = np.polynomial.legendre.leggauss(60)
    at, weight = (at + 1) / 2, weight / 2
    v1, v2 = np.meshgrid(at, at, indexing="ij")
    value = alpha**2 * v1 ** (alpha - 1 + count[0]) * (1 - v1) ** (n - count[0]) * v2 ** (alpha - 1)
    value *= (v1 * v2) ** count[1] * (1 - v1 * v2) ** (n - count[1])
    return float(np.log((value * np.outer(weight, weight)).sum()))


def test_with_hard_topics_the_bound_is_the_joint_probability():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        corpus = tools.plain_corpus(rng.standard_normal((9, 4)), rng.standard_normal(9))
        settings = tools.params(n_topics=3, alpha=2.0, noise=0.7, family="joint")
        z = (rng.random((9, 3)) < 0.4).astype(float)
        z[:, 2] = z[:, 1] if seed == 3 else z[:, 2]  # two equal topics
        z[:, 0] = 0 if seed == 4 else z[:, 0]  # an empty one
        state = begun(corpus, z, settings, joint=True)
        exact = log_evidence(corpus, z, settings) + log_prior(z.sum(axis=0), 9, "finite", 2.0)
        assert elbo_of(state, corpus, settings) == pytest.approx(exact, rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    ("prior", "family"),
    every([("finite", "factorised"), ("finite", "joint"), ("stick", "factorised"), ("stick", "joint")], 4),
)
def test_the_bound_stays_below_the_evidence(prior, family):
    """All 2^(N K) topics of 6 documents summed."""
    rng = np.random.default_rng(2)
    n, k, alpha = 6, 2, 3.0
    x = np.outer(np.array([1, 1, 1, 0, 0, 0]), rng.standard_normal(4)) * 2 + 0.7 * rng.standard_normal((n, 4))
    corpus = tools.plain_corpus(x, np.array([2.0, 1.5, 1.8, 0.1, -0.2, 0.3]))
    settings = tools.params(n_topics=k, alpha=alpha, prior=prior, family=family)
    priors = {
        (i, j): log_prior(np.array([i, j], float), n, prior, alpha)
        for i in range(n + 1)
        for j in range(n + 1)
    }
    parts = []
    for code in range(1 << (n * k)):
        z = ((code >> np.arange(n * k)) & 1).reshape(n, k).astype(float)
        parts.append(log_evidence(corpus, z, settings) + priors[tuple(int(c) for c in z.sum(axis=0))])
    evidence = np.logaddexp.reduce(parts)
    best = -np.inf
    for seed in range(6):
        start = np.random.default_rng(seed).random((n, k))
        state = tools.state_of(corpus, start, settings)
        for _ in range(60):
            value = tools.bounds(state, corpus, settings)[-1]
            assert value <= evidence + 1e-9
        best = max(best, value)
    assert evidence - best < 5.0  # and not far below


@pytest.mark.long
def test_the_joint_family_is_no_worse():
    rng = np.random.default_rng(0)
    corpus = corpus_like("plain", rng, n=40, d=8)
    start, ends = rng.random((40, 4)), []
    for family in ("factorised", "joint"):
        settings = tools.params(n_topics=4, family=family)
        state = tools.state_of(corpus, start.copy(), settings)
        for _ in range(300):
            value = tools.bounds(state, corpus, settings)[-1]
        ends.append(value)
    assert ends[1] > ends[0]


def test_the_bound_of_broken_sticks_lies_below_the_truth():
    rng = np.random.default_rng(1)
    a, b = np.array([6.0, 4.0, 3.0]), np.array([2.0, 3.0, 1.5])
    sticks = rng.beta(a, b, (200_000, 3))
    shares = np.cumprod(sticks, axis=1)
    log_in, log_out = log_shares("stick", a, b)
    assert np.log(shares).mean(axis=0) == pytest.approx(log_in, abs=0.01)
    truth = np.log1p(-shares).mean(axis=0)
    assert log_out[0] == pytest.approx(truth[0], abs=0.01)  # exact for the first
    assert (log_out <= truth + 0.01).all()
    assert log_out == pytest.approx(truth, abs=0.25)


def test_prior_means_are_those_of_the_specification():
    assert prior_means("finite", 4.0, 5) == pytest.approx([4 / 9] * 5)
    assert prior_means("stick", 4.0, 5) == pytest.approx([0.8, 0.64, 0.512, 0.4096, 0.32768])


def test_sticks_are_put_in_order_only_when_the_bound_rises():
    rng = np.random.default_rng(4)
    z = (rng.random((80, 4)) < (0.05, 0.2, 0.4, 0.7)).astype(float)  # the rarest first
    x = z @ (2 * rng.standard_normal((4, 10))) + rng.standard_normal((80, 10))
    cover, group = rng.standard_normal((80, 2)), np.arange(80) % 2
    y = z @ np.array([1.0, -1, 2, 0]) + rng.standard_normal(80)
    corpus = tools.plain_corpus(x, y, cover=cover, group=group, n_groups=2)
    for background in (False, True):
        settings = tools.params(prior="stick", n_topics=4, background=background, reorder=False)
        state = begun(corpus, np.clip(z, 0.02, 0.98), settings, joint=False)
        for _ in range(3):
            tools.bounds(state, corpus, settings)
        before, old = elbo_of(state, corpus, settings), copied(state)
        assert reorder(state, corpus, settings)
        after = elbo_of(state, corpus, settings)
        assert after > before + 1
        assert after == pytest.approx(tools.reference_bound(corpus, state, settings), rel=1e-12)
        total = state["nu"].sum(axis=0)[int(background) :]
        assert (np.diff(total) < 0).all()
        assert not reorder(state, corpus, settings)  # in order already
        again = copied(state)
        clear_sums(again)
        read_documents(again, corpus, settings, 0, 80, False)
        for name in SUMS[:-1]:  # the last is the largest change as well
            assert state[name] == pytest.approx(again[name], abs=1e-9)
        assert state["rows"] == pytest.approx(state["phi"] / settings["noise"], rel=1e-12)
        assert not np.array_equal(old["nu"], state["nu"])


def test_sticks_end_at_a_maximum():
    """No small change of (a, b) of any stick raises the part of the bound that depends on it."""
    from plaidwork.plugins.supervised_ibp.prior import prior_bound

    total, n, alpha = np.array([20.0, 4.0, 9.0]), 30, 2.0
    a, b = np.full(3, alpha), np.ones(3)
    for _ in range(300):
        a, b = update_shares("stick", alpha, total, n, a, b)

    def part(a, b):
        log_in, log_out = log_shares("stick", a, b)
        return (total * log_in + (n - total) * log_out).sum() + prior_bound("stick", alpha, a, b)

    best = part(a, b)
    for j, factor in itertools.product(range(3), (0.98, 1.02)):
        for which in range(2):
            trial = [a.copy(), b.copy()]
            trial[which][j] *= factor
            assert part(*trial) < best
