"""Binary principal components: faults that the joint test finds, a tiny problem exactly, planted components, new rows."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from plaid_tools import with_fault
from scipy.special import log_ndtr, ndtr

from plaidwork.core import fit
from plaidwork.core.checks import check_model
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import model_data
from plaidwork.plugins.gp_auxiliary.components import model as binary_pca
from plaidwork.plugins.gp_auxiliary.components import trajectories
from plaidwork.plugins.gp_auxiliary.components.axes import strengths, turned_draws
from plaidwork.plugins.gp_auxiliary.components.model import BinaryComponents
from plaidwork.plugins.gp_auxiliary.kernels import binary


def dataset(values, name="Y"):
    values = np.asarray(values, float)
    names = [tuple(f"{letter}{i}" for i in range(size)) for letter, size in zip("rc", values.shape)]
    return Dataset(name, values, *names, kind="binary")


def fitted(values, seed=1, holdout=0.0, warmup=100, draws=150, chains=2, **params):
    return fit(
        "binary_pca", {"Y": dataset(values)}, params, seed=seed, chains=chains, warmup=warmup, draws=draws, thin=1,
        holdout=holdout, executor=InlineExecutor(),
    )  # fmt: skip


def planted(seed=3, n=150, m=60, strength=1.6):
    """Zeros and ones (n, m), scores (n, 2) and loadings (m, 2) of two components."""
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((n, 2)), strength * rng.standard_normal((m, 2))
    w[:, 1] *= 0.7
    mean = 0.5 * rng.standard_normal(m)
    y = (mean + x @ w.T + rng.standard_normal((n, m)) > 0).astype(float)
    return y, x, w, mean


def angle(a, b):
    """Largest principal angle of the columns' spaces, in degrees."""
    values = np.linalg.svd(np.linalg.qr(a)[0].T @ np.linalg.qr(b)[0], compute_uv=False)
    return float(np.degrees(np.arccos(np.clip(values.min(), 0, 1))))


def auc(score, label):
    order = score.argsort().argsort() + 1.0
    ones = label > 0
    rank = order[ones].sum() - ones.sum() * (ones.sum() + 1) / 2
    return float(rank / (ones.sum() * (~ones).sum()))


# -- the sampler against its own law -------------------------------------------------------------

FAULTS = {
    "prior of the scores": ("draw_rows", binary.draw_rows, {"_products": ("1.0 if a == b", "2.0 if a == b")}),
    "scores' mean without the features' means": (
        "draw_rows", binary.draw_rows, ("w[j, k] * (value - mu[j])", "w[j, k] * value"),
    ),
    "ray of a column": ("draw_columns", binary.draw_columns, ("0.5 * count)", "0.5 * (count + size + 3))")),
    "prior of a column's mean": ("draw_columns", binary.draw_columns, ("else mean_precision", "else 0.1")),
    "shape of the precisions": ("draw_precision", binary_pca.draw_precision, ("0.5 * len(w)", "0.5 * (len(w) + 4)")),
    "stretch without its Jacobian": ("stretch_factors", binary_pca.stretch_factors, ("(m - n) * log_c", "0.0 * log_c")),
    "shift of the means": ("shift_scores", binary_pca.shift_scores, ("mu += w @ shift", "mu -= w @ shift")),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_geweke_finds_a_fault(fault, monkeypatch):
    """The suite's joint test passes without faults (test_conformance, slow: in full) and finds each of these."""
    name, right, change = FAULTS[fault]
    if isinstance(change, dict):
        ((inner, (old, new)),) = change.items()
        wrong = with_fault(right, **{inner: with_fault(getattr(binary, inner), old, new)})
    else:
        wrong = with_fault(right, *change)
    monkeypatch.setattr(binary if right is getattr(binary, name, None) else binary_pca, name, wrong)
    report = check_model("binary_pca", only=["geweke"], level="full")
    assert not report.ok


# -- trajectories --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6, 4), (1500, 3), (2, 1500)])
def test_slopes_along_a_trajectory_are_those_of_the_density(shape):
    """Of cells in one block, in several of whole rows, and in parts of rows; centres up to 40 from 0."""
    (n, m), rng = shape, generator(5)
    x, w = rng.standard_normal((n, 2)), rng.standard_normal((m, 2)) * rng.choice([1.0, 12.0], (m, 1))
    mu = rng.standard_normal(m)
    sign = rng.choice(np.array([-1, 0, 1], dtype=np.int8), n * m)
    precision = np.array([0.5, 3.0])
    target = trajectories.target_of(sign, precision, 0.2, shape)
    at, slope = np.concatenate([x.ravel(), w.ravel(), mu]), np.empty(len(target.precision))
    level = binary.rise(at, target.precision, sign, n, m, slope)
    known = sign.reshape(shape)
    lead = known * (x @ w.T + mu)
    value = np.where(known, log_ndtr(lead), 0.0).sum()
    value -= 0.5 * ((x**2).sum() + (precision * w**2).sum() + 0.2 * (mu**2).sum())
    assert level == pytest.approx(value, rel=1e-12)
    cells = known * np.exp(-0.5 * lead**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(lead))
    exact = cells @ w - x, cells.T @ x - precision * w, cells.sum(axis=0) - 0.2 * mu
    for found, wanted in zip(trajectories.parts(slope, target.shape), exact, strict=True):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_a_trajectory_turned_round_comes_back():
    """Momenta turned round after the last half step lead back to where it set out, as the acceptance takes for granted."""
    y, x, w, mean = planted(n=12, m=5)
    sign = np.where(y.reshape(-1) > 0, 1, -1).astype(np.int8)
    target = trajectories.target_of(sign, np.ones(2), 1.0, (12, 5))
    state = {
        "scores": x.copy(),
        "loadings": w.copy(),
        "mean": mean.copy(),
        "leaps": trajectories.new_leaps(w),
    }
    trajectories.begin(generator(6), state, 10)
    leap = state["leap"]
    leap["steps"] = 7
    for unit in range(8):
        trajectories.advance(state, target, unit, unit + 1)
    begun = np.concatenate([x.ravel(), w.ravel(), mean])
    assert not np.allclose(leap["at"], begun, atol=0.01)
    leap["momentum"] += 0.5 * leap["length"] * trajectories.spread_of(state["leaps"], target) * leap["slope"]
    leap["momentum"] *= -1.0
    trajectories.advance(state, target, 0, 8)
    assert leap["at"] == pytest.approx(begun, abs=1e-9)


def drift(replicates, times=25):
    """How many standard errors the means of some numbers move, when trajectories go on from draws of the law itself.

    Scores, loadings and means from the prior and cells given them are, given the cells, a draw of what trajectories leave as it is.
    """
    rng, model = generator(8), BinaryComponents()
    params = {"factors": 2, "ard": False, "loading_sd": 1.2, "mean_sd": 1.0}
    gains = []
    for _ in range(replicates):
        data, state = model.simulate(params, {"Y": (5, 4)}, rng)
        sign = np.where(data["Y"].reshape(-1) > 0, 1, -1).astype(np.int8)
        sign[rng.random(20) < 0.2] = 0
        target = trajectories.target_of(sign, state["precision"], 1.0, (5, 4))
        state["leaps"] = trajectories.new_leaps(np.ones((4, 2)))
        state["leaps"]["log_step"] = -0.3
        seen = []
        for _time in range(2):
            x, w, mu = state["scores"], state["loadings"], state["mean"]
            level = log_ndtr((sign * (x @ w.T + mu).reshape(-1))[sign != 0]).sum()
            seen.append(
                [
                    (x**2).sum(),
                    (w**2).sum(),
                    (mu**2).sum(),
                    level,
                    ((x**2).sum(axis=0) * (w**2).sum(axis=0)).sum(),
                ]
            )
            for _ in range(times if not _time else 0):
                trajectories.begin(rng, state, 4)
                trajectories.advance(state, target, 0, state["leap"]["steps"] + 1)
                trajectories.end(rng, state, target, False)
        gains.append(np.subtract(seen[1], seen[0]))
    gains = np.array(gains)
    return np.abs(gains.mean(axis=0) / (gains.std(axis=0) / np.sqrt(replicates))).max()


@pytest.mark.parametrize("replicates", [400, pytest.param(6000, marks=pytest.mark.slow)])
def test_trajectories_leave_the_law_as_it_is(replicates):
    """Of five means the farthest is within 3.5 standard errors: by chance once in 400 seeds."""
    assert drift(replicates) < 3.5


def wrong_rise():
    """The density along a trajectory with weaker priors."""
    return with_fault(binary.rise, "0.5 * pull * at[i]", "0.4 * pull * at[i]")


def wrong_cells():
    """The density along a trajectory with cells that say less where they are improbable."""
    return with_fault(binary.rise, _some_cells=with_fault(binary._some_cells, "0.5 * x * x", "0.3 * x * x"))


@pytest.mark.long
@pytest.mark.parametrize("make", [wrong_rise, wrong_cells])
def test_drift_finds_a_wrong_density(make, monkeypatch):
    wrong = make()
    monkeypatch.setattr(binary, "leap", with_fault(binary.leap, rise=wrong))
    monkeypatch.setattr(binary, "rise", wrong)
    assert drift(800) > 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("end", ('leap["momentum"] + 0.5', 'leap["momentum"] - 0.5')),
        ("begin", ("0.5 * float", "0.4 * float")),
    ],
)
def test_drift_finds_a_wrong_energy(name, change, monkeypatch):
    monkeypatch.setattr(trajectories, name, with_fault(getattr(trajectories, name), *change))
    assert drift(800) > 5


def test_a_step_far_too_long_is_given_up_and_learnt_from():
    y, x, w, mean = planted(n=12, m=5)
    sign = np.where(y.reshape(-1) > 0, 1, -1).astype(np.int8)
    target = trajectories.target_of(sign, np.ones(2), 1.0, (12, 5))
    state = {
        "scores": x.copy(),
        "loadings": w.copy(),
        "mean": mean.copy(),
        "leaps": trajectories.new_leaps(w),
    }
    state["leaps"]["log_step"] = 4.0
    trajectories.begin(generator(6), state, 100)
    trajectories.advance(state, target, 0, state["leap"]["steps"] + 1)
    trajectories.end(generator(7), state, target, True)
    assert np.array_equal(state["scores"], x)
    assert state["leaps"]["log_step"] <= np.log(1.2)
    assert "leap" not in state


# -- exact ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draws", "error"),
    [(2500, 0.03), pytest.param(8000, 0.015, marks=pytest.mark.slow)],
    ids=["short", "long"],
)
def test_a_tiny_matrix_exactly(draws, error):
    """P(missing cell is 1) and E[log likelihood] against weighted draws of the prior; 3 x 2 cells, one missing."""
    y = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, np.nan]])
    settings = {"factors": 1, "ard": False, "loading_sd": 1.5, "mean_sd": 1.0}
    rng = generator(2)
    count = 50 * draws
    x, w = rng.standard_normal((count, 3, 1)), 1.5 * rng.standard_normal((count, 1, 2))
    eta = rng.standard_normal((count, 1, 2)) + x * w
    known = ~np.isnan(y)
    share = ndtr(np.where(y == 1, eta, -eta))
    weight = np.where(known, share, 1.0).prod(axis=(1, 2))
    exact = float((weight * ndtr(eta[:, 2, 1])).sum() / weight.sum())
    level = float((weight * np.log(np.where(known, share, 1.0)).sum(axis=(1, 2))).sum() / weight.sum())
    run = fitted(y, draws=draws, warmup=200, **settings)
    model = BinaryComponents()
    data = model_data(model.spec, {"Y": (dataset(y),)}, 0, 0.0)
    found = model.fitted(run.kept(), data, {}, "Y", 0, np.array([1]))[0][2, 0]
    kept = run.kept()
    direct = np.mean([
        ndtr(mean[1] + scores[2] @ loadings[1])
        for scores, loadings, mean in zip(*(np.concatenate(list(kept.stack(v))) for v in ("scores", "loadings", "mean")))
    ])  # fmt: skip
    assert direct == pytest.approx(exact, abs=error)
    assert found == pytest.approx(direct, rel=1e-9)  # of all draws
    assert np.mean(run.draws["log_likelihood"]) == pytest.approx(level, abs=4 * error)


# -- planted components --------------------------------------------------------------------------


@pytest.mark.long
def test_planted_components_are_found():
    """Two of four components are needed, their spaces are found, held-out cells have an AUC near the best."""
    y, x, w, mean = planted()
    run = fitted(y, factors=4, holdout=0.1)
    scores, loadings = run.results["scores"].values, run.results["loadings"].values
    assert angle(scores[:, :2], x - x.mean(axis=0)) < 22
    assert angle(loadings[:2].T, w) < 22
    assert run.results["strength_headline"].startswith("2 components")
    share = run.results["strength"].values
    assert (np.diff(share) <= 0).all()
    assert share[2] < 0.05
    part = run.results["cell_part"].values == "test"
    code, probability = run.results["cell_code"].values[part], run.results["cell_probability"].values[part]
    assert part.sum() > 300
    held = auc(probability, code)
    best = auc(ndtr(mean + x @ w.T).ravel(), y.ravel())
    assert held > best - 0.06
    assert auc(np.broadcast_to(y.mean(axis=0), y.shape).ravel(), y.ravel()) < best - 0.1  # means alone


def test_draws_are_turned_onto_common_axes():
    """Turned draws of all chains agree, though each has axes of its own; X W' does not change."""
    y, *_ = planted(n=60, m=30)
    kept = fitted(y, factors=2, ard=False, draws=40).kept()
    turned = turned_draws(kept)
    mean = np.mean([draw.loadings for draw in turned], axis=0)
    for draw in turned:
        for k in range(2):
            assert np.corrcoef(draw.loadings[:, k], mean[:, k])[0, 1] > 0.6
    first = turned[0]
    scores, loadings = kept.chains[0].draw("scores", 0), kept.chains[0].draw("loadings", 0)
    np.testing.assert_allclose(first.scores @ first.loadings.T, scores @ loadings.T, atol=1e-9)
    np.testing.assert_allclose(first.rotation.T @ first.rotation, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(strengths(scores, loadings), strengths(first.scores, first.loadings))


@pytest.mark.slow
def test_new_samples_get_the_scores_they_had_in_the_fit():
    y, *_ = planted(n=100, m=40)
    run = fitted(y, factors=2)
    model = BinaryComponents()
    old = model_data(model.spec, {"Y": (dataset(y),)}, 0, 0.0)
    again = dataset(y[:30]).take(1, np.arange(40)[::-1], None).with_(steps=())
    new = model_data(model.spec, {"Y": (again,)}, 0, 0.0)
    found = model.predict(run.kept(), old, new, {})
    for k in range(2):
        assert np.corrcoef(found["scores"].values[:, k], run.results["scores"].values[:30, k])[0, 1] > 0.95
    gaps = y[:30].copy()
    gaps[:, ::4] = np.nan
    new = model_data(model.spec, {"Y": (dataset(gaps),)}, 0, 0.0)
    probability = model.predict(run.kept(), old, new, {})["probability"].values
    assert auc(probability[:, ::4].ravel(), y[:30, ::4].ravel()) > 0.8


def test_bad_matrices_are_named():
    y, *_ = planted(n=8, m=5)
    y[:, 2] = 1.0
    model = BinaryComponents()
    data = model_data(model.spec, {"Y": (dataset(y),)}, 0, 0.0)
    found = model.validate(data, model.spec.check_params({"factors": 9}))
    assert [problem.where for problem in found] == ["factors", "Y"]
    assert "5" in found[0].message
    assert "c2" in found[1].message
