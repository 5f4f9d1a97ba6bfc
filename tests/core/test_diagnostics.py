"""Statistics against ArviZ, and verdicts on runs made up for the purpose."""

import logging
import warnings

import numpy as np
import pytest

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input, ModelSpec, Trace, Variable
from plaidwork.core.draws import diagnostics as d
from plaidwork.core.draws.draws import ChainView, DrawBuffer, Kept, TraceBuffer
from plaidwork.core.draws.solutions import group_chains


@pytest.fixture(scope="module")
def az():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
    logging.getLogger("arviz").setLevel(logging.ERROR)
    return arviz


def chains(rng, n_chains, n_draws, rho=0.5, apart=0.0):
    x = rng.normal(size=(n_chains, n_draws))
    for t in range(1, n_draws):
        x[:, t] += rho * x[:, t - 1]
    return x + apart * np.arange(n_chains)[:, None]


CASES = [
    (4, 500, 0.5, 0.0),
    (4, 101, 0.95, 0.0),
    (2, 50, -0.8, 0.0),
    (3, 37, 0.9, 2.0),
    (5, 6, 0.0, 0.0),
    (2, 4, 0.3, 0.0),
    (1, 101, 0.5, 0.0),
]


@pytest.mark.parametrize(
    ("case", "numbers", "interval"),
    [
        (
            CASES[1],
            [1.2808123546197918, 11.266380635539958, 67.72614497418361, 0.701491141532352],
            [-4.822660374784994, 2.982536581459404],
        ),
        (
            CASES[3],
            [1.5021936043174988, 6.939975127394374, 24.996346614910692, 0.7277872459613891],
            [-1.79079483790288, 3.8325583042448166],
        ),
    ],
)
def test_equal_to_what_arviz_gave(case, numbers, interval):
    x = chains(np.random.default_rng(case[1]), *case)
    found = [function(x) for function in (d.rhat, d.ess_bulk, d.ess_tail, d.mcse_mean)]
    np.testing.assert_allclose(found, numbers, rtol=1e-8)
    np.testing.assert_allclose(d.hdi(x, 0.9), interval, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["real", "count", "binary"])
def test_equal_to_arviz(az, case, kind):
    n_chains, n_draws, rho, apart = case
    x = chains(np.random.default_rng(n_draws), n_chains, n_draws, rho, apart)
    x = {"real": x, "count": np.round(x), "binary": (x > np.median(x)).astype(float)}[kind]
    with np.errstate(all="ignore"):
        expected = {
            d.rhat: az.rhat(x),
            d.ess_bulk: az.ess(x, method="bulk"),
            d.ess_tail: az.ess(x, method="tail"),
            d.mcse_mean: az.mcse(x, method="mean"),
        }
    for function, value in expected.items():
        np.testing.assert_allclose(function(x), np.ravel(value)[0], rtol=1e-8, err_msg=function.__name__)
    np.testing.assert_allclose(d.hdi(x, 0.9), az.hdi(x.ravel(), hdi_prob=0.9), rtol=1e-12)
    np.testing.assert_allclose(d.autocorrelation(x), az.autocorr(x), rtol=1e-8, atol=1e-12, equal_nan=True)


def test_many_quantities_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.stack([chains(rng, 3, 60, rho) for rho in np.linspace(-0.9, 0.9, 12)], axis=-1).reshape(
        3, 60, 4, 3
    )
    monkeypatch.setattr("plaidwork.core.draws.mcstats._CHUNK", 3 * 60 * 5)
    for function in (d.rhat, d.ess_bulk, d.ess_tail, d.mcse_mean, d.hdi):
        together = function(x)
        assert together.shape[:2] == (4, 3)
        for i, j in np.ndindex(4, 3):
            np.testing.assert_allclose(together[i, j], function(x[..., i, j]), rtol=1e-12)
    assert d.autocorrelation(x, max_lag=10).shape == (3, 11, 4, 3)


def test_constant_nan_and_short():
    x = np.zeros((4, 100, 3))
    x[..., 1] = np.arange(4)[:, None]
    x[..., 2] = np.random.default_rng(0).normal(size=(4, 100))
    x[2, 5, 2] = np.nan
    ratio = d.rhat(x)
    assert np.isnan(ratio[0])
    assert np.isinf(ratio[1])
    assert np.isnan(ratio[2])
    assert d.ess_bulk(x)[0] == 400
    assert np.isnan(d.ess_tail(x)[2])
    assert d.mcse_mean(x)[0] == 0
    assert np.isnan(d.autocorrelation(x)[0, 1, 0])
    assert np.isfinite(d.hdi(x)).all()
    assert np.isnan(d.rhat(np.zeros((1, 100))))
    assert np.isnan(d.ess_bulk(np.zeros((4, 3))))
    assert d.rhat(np.zeros((4, 10, 0))).shape == (0,)
    with pytest.raises(ValueError, match="chain, draw"):
        d.rhat(np.zeros(10))
    with pytest.raises(ValueError, match="prob"):
        d.hdi(x, 1.5)


def test_rank_histogram():
    rng = np.random.default_rng(0)
    counts, expected = d.rank_histogram(rng.normal(size=(4, 500)), bins=20)
    assert counts.shape == (4, 20)
    assert expected == 25
    assert (counts.sum(axis=0) == 100).all()
    counts, _ = d.rank_histogram(np.arange(40.0).reshape(4, 10), bins=4)
    np.testing.assert_array_equal(counts, 10 * np.eye(4))
    counts, _ = d.rank_histogram(np.zeros((2, 10)))
    assert (counts.sum(axis=1) == 10).all()


def spec_of(algorithm="mcmc"):
    return ModelSpec(
        id="made_up",
        version="1",
        title="Made up",
        summary="",
        algorithm=algorithm,
        inputs=(Input("x"),),
        dims={"k": "block", "two": "two"},
        variables=(
            Variable("phi", label="background"),
            Variable("theta", ("k",), ragged=True),
            Variable("w", ("two",)),
        ),
        traces=(
            Trace("log_joint", "log joint", primary=True, goal="up"),
            Trace("phi"),
            Trace("phi_shown", "background"),
            Trace("accepted", kind="acceptance"),
            Trace("fixed"),
            Trace("nmi"),
            Trace("drifting", judged=False),
        ),
    )


def run_of(objective, phi=None, *, warmup=0, algorithm="mcmc"):
    """Kept draws of a run with the given (chain, sweep) objective."""
    spec = spec_of(algorithm)
    views = []
    for c, curve in enumerate(objective):
        draws, trace = DrawBuffer(spec.variables), TraceBuffer([t.name for t in spec.traces])
        kept = np.arange(warmup, len(curve)) if algorithm == "mcmc" else np.array([len(curve) - 1])
        for t, value in enumerate(curve):
            now = float(curve[t] if phi is None else phi[c, t])
            numbers = {"accepted": 0.3, "fixed": 2.0, "nmi": np.nan, "drifting": t}
            trace.append({"log_joint": value, "phi": now, "phi_shown": now, **numbers})
            if t in kept:
                draws.append({"phi": now, "theta": np.ones(t % 3), "w": [now, -now]})
        views.append(ChainView(c, draws.count, trace.count, kept, draws, trace))
    return Kept(spec, views)


def test_rows_are_what_they_should_be():
    rng = np.random.default_rng(3)
    kept = run_of(chains(rng, 4, 620), rng.normal(size=(4, 620)), warmup=20)
    found = d.diagnose(kept, kept.spec)
    assert [q.name for q in found.quantities[2:]] == ["fixed", "nmi"]
    assert {q.name: q.status for q in found.quantities}["fixed"] == "constant"
    assert {q.name: q.status for q in found.quantities}["nmi"] == "missing"
    phi = next(q for q in found.quantities if q.name == "phi")
    assert (phi.source, phi.title) == ("variable", "background")
    values = kept.stack("phi")
    assert phi.rhat == d.rhat(values)
    assert phi.mean == pytest.approx(values.mean())
    assert phi.sd == pytest.approx(values.std(ddof=1))
    assert phi.mcse == d.mcse_mean(values)
    assert found.n_draws == 600
    assert found.verdict.kind == "ok"
    assert found.verdict.title == "All 2 quantities have settled"
    assert len(found.table()) == 4
    assert not {"drifting", "phi_shown"} & {q.name for q in found.quantities}
    more = d.diagnose(kept, max_elements=2)
    assert sum(q.name == "w" for q in more.quantities) == 2
    assert "w [2]" in {q.title for q in more.quantities}


def test_not_settled_and_where():
    rng = np.random.default_rng(4)
    x = chains(rng, 4, 400, 0.5)
    x[2, :250] += 8
    found = d.diagnose(run_of(x, rng.normal(size=(4, 400))))
    assert found.quantities[0].name == "log_joint"
    assert found.quantities[0].status == "error"
    assert found.verdict.kind == "warn"
    assert found.verdict.title == "1 of 2 quantities has not settled yet"
    assert found.verdict.text.startswith("Worst: log joint, R-hat 1.")
    assert "Chain 3 differs most." in found.verdict.text
    assert found.verdict.chains == (2,)
    assert [q.rhat for q in found.judged] == sorted((q.rhat for q in found.judged), reverse=True)


def test_few_effective_draws():
    rng = np.random.default_rng(5)
    found = d.diagnose(run_of(rng.normal(size=(4, 60))))
    assert found.verdict.kind == "warn"
    assert "ESS" in found.verdict.text
    assert found.verdict.actions == ("run_longer",)


def slow(rng, carry, n=400):
    """(4, n) draws of chains that agree, each draw mostly the one before."""
    x = rng.normal(size=(4, n))
    for t in range(1, n):
        x[:, t] = carry * x[:, t - 1] + np.sqrt(1 - carry**2) * x[:, t]
    return x


def test_the_worst_of_those_with_few_effective_draws_has_the_fewest(monkeypatch):
    rng = np.random.default_rng(8)
    kept = run_of(slow(rng, 0.6), slow(rng, 0.8))
    monkeypatch.setattr(d, "rhat", lambda x: np.array([1.001, 1.009, 1, 1]) if x.ndim == 3 else 1.0)
    found = d.diagnose(kept)
    marked = [q for q in found.quantities if q.status == "warn"]
    assert len(marked) == 2
    least = [min(q.ess_bulk, q.ess_tail) for q in marked]
    assert least == sorted(least)
    assert found.verdict.worst == marked[0].title


def test_one_chain_names_the_quantity_with_the_fewest_effective_draws():
    rng = np.random.default_rng(9)
    one = d.diagnose(run_of(slow(rng, 0.9)[:1] + np.linspace(0, 3, 400), slow(rng, 0.99)[:1]))
    fewest = min(one.judged, key=lambda q: min(q.ess_bulk, q.ess_tail))
    assert f"Fewest effective draws: {fewest.title}," in one.verdict.text


def test_chains_in_different_modes():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(4, 300)) - 16_600
    x[1] -= 1500
    x[3] -= 80
    found = d.diagnose(run_of(x))
    assert found.verdict.kind == "error"
    assert found.verdict.title == "The chains found different solutions"
    assert found.verdict.text.startswith("Chains 2 and 4 end up to 1\u202f500 below chain ")
    assert found.verdict.chains == (1, 3)


def test_one_chain_and_too_few_draws():
    rng = np.random.default_rng(7)
    one = d.diagnose(run_of(rng.normal(size=(1, 500)))).verdict
    assert (one.kind, one.title) == ("warn", "Exploratory: one chain")
    assert d.diagnose(run_of(rng.normal(size=(4, 3)))).verdict.title == "Too early to tell"
    assert d.diagnose(run_of(np.zeros((4, 0)))).verdict.title == "Nothing to judge yet"
    assert d.diagnose(Kept(spec_of(), [])).verdict.title == "Nothing to judge yet"
    assert d.diagnose(run_of(np.ones((4, 50)))).verdict.title == "No quantity varies"


@pytest.mark.parametrize(
    ("finals", "kind", "title"),
    [
        ([-100.0, -100.2, -130.0], "ok", "2 of 3 restarts reached the best log joint"),
        ([-100.0, -110.0, -130.0], "warn", "1 of 3 restarts reached the best log joint"),
        ([-100.0], "warn", "Exploratory: one restart"),
        ([-100.0, np.nan], "error", "A restart has failed"),
    ],
)
def test_restarts(finals, kind, title):
    curves = [np.append(np.linspace(-500, end, 20), [end, end]) for end in finals]
    found = d.diagnose(run_of(curves, np.zeros((len(curves), 22)), algorithm="variational"))
    assert (found.verdict.kind, found.verdict.title) == (kind, title)
    assert all(np.isnan(q.rhat) for q in found.quantities)


@pytest.mark.parametrize(
    ("schedule", "within"),
    [
        (None, 0.5),
        (Schedule(window=50, tolerance=0.1), 0.6),
        (Schedule(window=0, tolerance=1e-5), 0.5 + 1e-5 * 20000),  # a share of the objective
    ],
)
def test_restarts_are_compared_in_nats(schedule, within):
    """Of a bound of 20,000 too: what matters is the difference, and what the stop may have left."""
    for gap, same in ((within - 0.01, 2), (within + 0.01, 1)):
        curves = [np.append(np.linspace(-30000, end, 20), [end, end]) for end in (-20000.0, -20000.0 - gap)]
        kept = run_of(curves, np.zeros((2, 22)), algorithm="variational")
        title = d.diagnose(kept, schedule=schedule).verdict.title
        assert title == f"{same} of 2 restarts reached the best log joint"
        groups = group_chains(kept, kept.spec, [], schedule)
        assert len(groups) == 3 - same


@pytest.mark.parametrize(
    ("algorithm", "blind"), [("mcmc", "R-hat and ESS"), ("variational", "Restarts that agree")]
)
def test_what_the_model_doubts_is_a_whole_title(algorithm, blind):
    """It ends with a word; the text says what does not show it, restarts where there is no R-hat."""
    phi = np.random.default_rng(3).standard_normal((4, 1000))
    curves = -100.0 + (0.01 * phi if algorithm == "mcmc" else 0.0 * phi)
    long = "The fit would change with " + "very " * 12 + "many points"
    for doubt, title in ((f"More points help: {long}", "More points help"), (long, f"{long[:65].rstrip()}…")):
        found = d.diagnose(run_of(curves, phi, algorithm=algorithm), doubt=doubt).verdict
        assert (found.kind, found.title) == ("warn", title)
        assert found.text.startswith(f"{doubt}. {blind}")


def test_restart_cut_short():
    kept = run_of([np.linspace(-500, -100, 20)] * 2, np.zeros((2, 20)), algorithm="variational")
    assert d.diagnose(kept).verdict.title == "Not converged yet"


def test_marks():
    assert [d.mark_rhat(x) for x in (np.nan, 1.01, 1.02, 1.06, np.inf)] == [
        "ok",
        "ok",
        "warn",
        "error",
        "error",
    ]
    assert [d.mark_ess(x) for x in (np.nan, 400, 399, 99)] == ["ok", "ok", "warn", "error"]
