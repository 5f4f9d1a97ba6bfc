"""Several outputs: against dense algebra, refits, a single output and made data; planted faults are found."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from gp_joint import generator
from gp_regression_tools import SETTINGS, data_of
from plaid_tools import with_fault
from scipy.stats import multivariate_normal

from plaidwork.core import fit
from plaidwork.core.api import Dataset, ModelData, ResultStore
from plaidwork.core.api_pictures import Cells, Points, ViewChoices
from plaidwork.core.contract.spec_json import spec_from_json, spec_to_json
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.plan import joined_inputs, model_data
from plaidwork.core.views.printing import leading_view, offered
from plaidwork.plugins.gp_auxiliary.regression import outputs, outputs_moments
from plaidwork.plugins.gp_auxiliary.regression.between import Between, forms_of
from plaidwork.plugins.gp_auxiliary.regression.law import extended, log_evidence, observed_prior
from plaidwork.plugins.gp_auxiliary.regression.model import Regression
from plaidwork.plugins.gp_auxiliary.regression.moments import solve_dense
from plaidwork.plugins.gp_auxiliary.regression.outputs import (
    GridPrior,
    OutputsCovariance,
    Spectral,
    all_cells,
    outputs_law,
    outputs_prior,
)
from plaidwork.plugins.gp_auxiliary.regression.outputs_moments import (
    Place,
    SolvedCells,
    SolvedGrid,
    log_densities,
)
from plaidwork.plugins.gp_auxiliary.regression.pictures import fit_along, residuals
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance, make_covariance
from plaidwork.plugins.gp_auxiliary.shared.evidence import evidence
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

SIZE = 9
CODES = np.arange(SIZE) % 3
SUM = "rbf(ard) + constant + same * rbf(ard) + same * constant"
NAMES = "uvwxyz"


def law_for(expression: str = SUM) -> Covariance:
    return make_covariance({**SETTINGS, "expression": expression}, ("a", "b"))


def prior_for(size: int, cells: np.ndarray | None = None, between: str = "correlated") -> Prior:
    """Nine samples of three groups with so many outputs, of which these cells are known."""
    law, x = law_for(), generator(1).standard_normal((SIZE, 2))
    forms = forms_of(size, between, between)
    functions, noise = Between(size, forms[0]), Between(size, forms[1], 1e-6)
    names = tuple(NAMES[:size])
    return outputs_prior(
        law,
        law.located(x, CODES),
        all_cells(SIZE, size) if cells is None else cells,
        (functions, functions.parameters("amplitude²", "amplitude", "functions", names, 0.0, 2.0)),
        (noise, noise.parameters("noise variance", "noise", "noise", names, -2.0, 2.0)),
    )


def known_cells(size: int) -> np.ndarray:
    """Most cells: of one sample none but the first, of another the last is missing."""
    cells = all_cells(SIZE, size)
    gone = ((cells[:, 0] == 2) & (cells[:, 1] > 0)) | ((cells[:, 0] == 5) & (cells[:, 1] == size - 1))
    return cells[~gone]


def place_of(prior: Prior) -> np.ndarray:
    law = prior.covariance
    return law.prior_mean + 0.5 * generator(2).standard_normal(len(law.parameters))


def written_out(
    prior: Prior, theta: np.ndarray, cells: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``B (x) C + S (x) I`` of all cells by Kronecker products, of which those of ``cells`` are taken, with B and S."""
    law = outputs_law(prior)
    x = law_for().located(generator(1).standard_normal((SIZE, 2)), CODES)
    n_c, n_s = len(law.f.parameters) - 1, law.noise.count
    b, s = between_by_hand(theta[n_c:-n_s], law.functions), between_by_hand(theta[-n_s:], law.noise)
    c = law.f.matrix(x, by_inputs(prior, theta))
    whole = np.kron(b, c) + np.kron(s, np.eye(SIZE))
    at = cells[:, 1] * SIZE + cells[:, 0]
    return whole[np.ix_(at, at)], b, s


def by_inputs(prior: Prior, theta: np.ndarray) -> np.ndarray:
    """The parameters of the covariance of the inputs, the four amplitudes² of which add up to 1."""
    amplitudes = np.exp(np.concatenate([[0.0], theta[:3]]))
    rest = theta[3 : len(outputs_law(prior).f.parameters) - 1]
    return np.concatenate([np.log(amplitudes / amplitudes.sum()), rest])


def between_by_hand(theta: np.ndarray, between: Between) -> np.ndarray:
    """A covariance of outputs; correlations of two and of a common factor by their formulas, else as the code has them."""
    sd, ties = np.sqrt(between.floor + np.exp(theta[: between.size])), theta[between.size :]
    r = np.tanh(ties / 2)
    if between.form == "apart":
        found = np.eye(between.size)
    elif between.form == "one":
        r[0] = 1 / (1 + np.exp(-ties[0]))
        found = np.outer(r, r) + np.diag(1 - r * r)
    elif between.size == 2:
        found = np.array([[1.0, r[0]], [r[0], 1.0]])
    else:
        first, second, third = r
        found = np.array([[1.0, first, second], [first, 1.0, 0.0], [second, 0.0, 1.0]])
        found[1, 2] = found[2, 1] = first * second + third * math.sqrt(
            (1 - first**2) * (1 - second**2)
        )  # of partial correlations
    return found * np.outer(sd, sd)


def values_of(prior: Prior) -> np.ndarray:
    return generator(3).standard_normal(len(prior.x))


def evidence_error(size: int = 2) -> float:
    """Relative difference of the evidence of complete samples from a normal density with its covariance written out."""
    prior = prior_for(size)
    theta, y = place_of(prior), values_of(prior)
    k, _b, _s = written_out(prior, theta, all_cells(SIZE, size))
    return abs(log_evidence(prior, theta, y) / multivariate_normal(np.zeros(len(y)), k).logpdf(y) - 1.0)


@pytest.mark.parametrize("size", [2, 3, 6])
def test_the_evidence_is_that_of_kronecker_products(size):
    assert evidence_error(size) < 1e-9


@pytest.mark.parametrize("size", [2, 3])
def test_missing_cells_are_left_out_of_the_matrix(size):
    cells = known_cells(size)
    prior = prior_for(size, cells)
    theta, y = place_of(prior), values_of(prior)
    k, _b, _s = written_out(prior, theta, cells)
    wanted = multivariate_normal(np.zeros(len(y)), k).logpdf(y)
    assert not isinstance(prior, GridPrior)
    assert log_evidence(prior, theta, y) == pytest.approx(wanted, rel=1e-9)


def worst_slope(prior: Prior) -> float:
    """Largest difference of the gradient from central differences of fourth order, relative to the largest slope."""
    theta, y = place_of(prior), values_of(prior)[None]
    found = evidence(prior, theta, y).gradient

    def difference(step: np.ndarray) -> float:
        return prior.log_density(theta + step, y) - prior.log_density(theta - step, y)

    steps = 5e-4 * np.eye(len(theta))
    slope = [(8 * difference(step) - difference(2 * step)) / 6e-3 for step in steps]
    return float(np.abs(found - slope).max() / np.abs(slope).max())


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("between", ["correlated", "apart"])
def test_the_gradient_is_the_slope_of_the_evidence(size, between):
    assert worst_slope(prior_for(size, None, between)) < 1e-6
    assert worst_slope(prior_for(size, known_cells(size), between)) < 1e-6


def test_one_output_is_a_regression_of_its_own():
    """Its amplitude² is that of the first term; evidence, gradient, predictions and left-out values agree."""
    law, x = law_for("rbf(ard)"), generator(1).standard_normal((SIZE, 2))
    single = observed_prior(law, extended(x), outputs_parameters("noise variance", "noise"))
    between = Between(1, "full"), Between(1, "full", 1e-6)
    both = outputs_parameters("amplitude²", "amplitude"), outputs_parameters("noise variance", "noise")
    prior = outputs_prior(law, x, all_cells(SIZE, 1), *zip(between, both, strict=True))
    theta, y = place_of(single), generator(3).standard_normal(SIZE)
    turned = theta[[1, 2, 0, 3]]
    wanted, found = evidence(single, theta, y[None]), evidence(prior, turned, y[None])
    assert found.value == pytest.approx(wanted.value, rel=1e-9)
    np.testing.assert_allclose(found.gradient, wanted.gradient[[1, 2, 0, 3]], rtol=1e-7, atol=1e-9)
    solved, dense = SolvedGrid(prior, turned, prior.spectral(turned, y)), solve_dense(single, theta, y)
    new = generator(5).standard_normal((4, 2))
    mean, variance = dense.moments_at(single, theta, new)
    place, left = solved.at(new), solved.left_out()
    np.testing.assert_allclose(place.mean[:, 0], mean, rtol=1e-8)
    np.testing.assert_allclose(place.covariance[:, 0, 0], variance, rtol=1e-8)
    np.testing.assert_allclose(left.mean[:, 0], dense.left_out(y)[0], rtol=1e-8)
    np.testing.assert_allclose(left.covariance[:, 0, 0], dense.left_out(y)[1], rtol=1e-8)


def outputs_parameters(variance: str, kind: str):
    return Between(1, "full").parameters(variance, kind, "", ("u",), -0.5, 1.0)


def solved_of(prior: Prior, theta: np.ndarray, y: np.ndarray, cells: np.ndarray) -> SolvedGrid | SolvedCells:
    if isinstance(prior, GridPrior):
        return SolvedGrid(prior, theta, prior.spectral(theta, y))
    solved = solve_dense(prior, theta, y)
    x = law_for().located(generator(1).standard_normal((SIZE, 2)), CODES)
    return SolvedCells(prior, theta, y, solved.root, solved.a, x, cells)


def left_out_error(size: int, cells: np.ndarray | None = None) -> float:
    """Largest difference of left-out laws from those of refits without the sample; of a missing value from that of all that is known."""
    prior = prior_for(size, cells)
    cells = all_cells(SIZE, size) if cells is None else cells
    theta, y = place_of(prior), values_of(prior)
    left = solved_of(prior, theta, y, cells).left_out()
    whole, _b, _s = written_out(prior, theta, all_cells(SIZE, size))
    at = cells[:, 1] * SIZE + cells[:, 0]
    worst = 0.0
    for n in range(SIZE):
        own = [p for p in range(size) if (cells == (n, p)).all(axis=1).any()]
        for wanted, rest in ((own, cells[:, 0] != n), ([p for p in range(size) if p not in own], at >= 0)):
            for p in wanted:
                mine = p * SIZE + n
                gain = np.linalg.solve(whole[np.ix_(at[rest], at[rest])], whole[at[rest], mine])
                worst = max(worst, abs(left.mean[n, p] - gain @ y[rest]))
                worst = max(
                    worst, abs(left.covariance[n, p, p] - whole[mine, mine] + gain @ whole[at[rest], mine])
                )
        if len(own) > 1:
            rest, pair = cells[:, 0] != n, [p * SIZE + n for p in own[:2]]
            gain = np.linalg.solve(whole[np.ix_(at[rest], at[rest])], whole[np.ix_(at[rest], pair)])
            both = whole[np.ix_(pair, pair)] - gain.T @ whole[np.ix_(at[rest], pair)]
            worst = max(worst, abs(left.covariance[n, own[0], own[1]] - both[0, 1]))
    return worst


@pytest.mark.parametrize("size", [2, 3])
def test_left_out_samples_are_those_of_refits(size):
    assert left_out_error(size) < 1e-9
    assert left_out_error(size, known_cells(size)) < 1e-9


def prediction_error(size: int, cells: np.ndarray | None = None) -> float:
    """Largest difference of functions at new samples, of known and unknown groups, from the joint law written out."""
    prior = prior_for(size, cells)
    cells = all_cells(SIZE, size) if cells is None else cells
    law, theta, y = outputs_law(prior), place_of(prior), values_of(prior)
    codes = np.array([0, 2, -1, -1])
    new = law_for().located(generator(5).standard_normal((4, 2)), codes)
    found = solved_of(prior, theta, y, cells).at(new)
    k, b, _s = written_out(prior, theta, cells)
    by_c = by_inputs(prior, theta)
    x = law_for().located(generator(1).standard_normal((SIZE, 2)), CODES)
    cross, own = law.f.cross(new, x, by_c), law.f.variance(new, by_c)
    worst = 0.0
    for m in range(4):
        between = b[:, cells[:, 1]] * cross[m, cells[:, 0]]
        gain = np.linalg.solve(k, between.T).T
        worst = max(worst, float(np.abs(found.mean[m] - gain @ y).max()))
        worst = max(worst, float(np.abs(found.covariance[m] - own[m] * b + gain @ between.T).max()))
    return worst


@pytest.mark.parametrize("size", [2, 3])
def test_new_samples_are_predicted_as_by_the_joint_law(size):
    assert prediction_error(size) < 1e-9
    assert prediction_error(size, known_cells(size)) < 1e-9


def density_error() -> float:
    """Largest difference of joint densities, also of a part of the outputs, from normal ones."""
    rng = generator(6)
    root = rng.standard_normal((2, 5, 3, 3))
    law = Place(rng.standard_normal((2, 5, 3)), root @ np.swapaxes(root, -1, -2) + np.eye(3))
    y, known = rng.standard_normal((5, 3)), rng.random((5, 3)) < 0.6
    found = log_densities(law, y, known)
    worst = 0.0
    for s, n in np.ndindex(2, 5):
        p = np.flatnonzero(known[n])
        if len(p):
            wanted = multivariate_normal(law.mean[s, n, p], law.covariance[s, n][np.ix_(p, p)]).logpdf(
                y[n, p]
            )
            worst = max(worst, abs(found[s, n] - wanted))
    return worst


def test_joint_densities_are_normal_ones():
    assert density_error() < 1e-9


FAULTS = {
    "B without its scale": (OutputsCovariance, "between", "self.functions.matrix(b)", "self.functions.correlations(b)", evidence_error),
    "B is not whitened from both sides": (outputs, "whitened", "solve_triangular(root, half.T, lower=True)", "0.5 * (half + half.T)", evidence_error),
    "noise of the wrong output": (outputs, "whitened", "np.linalg.cholesky(noise)", "np.linalg.cholesky(noise[::-1, ::-1])", evidence_error),
    "density without the noise's determinant": (Spectral, "log_density", " + len(self.values) * self.turn.log_det", "", evidence_error),
    "values turned by the transpose": (Spectral, "of", "@ turn.forth)", "@ turn.forth.T)", evidence_error),
    "slope of B without the way back": (Spectral, "weights", "0.5 * forth @ w_b @ forth.T", "0.5 * w_b", lambda: worst_slope(prior_for(2))),
    "left out without turning back": (SolvedGrid, "_back", 'back, variance, back', 'back.T, variance, back.T', lambda: left_out_error(2)),
    "prediction without the amplitudes": (SolvedGrid, "at", "(b * b / d)", "(b / d)", lambda: prediction_error(2)),
    "a missing value without its sample's noise": (SolvedCells, "left_out", " + s[q, output] * (number == n)", "", lambda: left_out_error(2, known_cells(2))),
    "outputs swapped where cells are missing": (SolvedCells, "_at", "b[:, output]", "b[::-1, output]", lambda: prediction_error(2, known_cells(2))),
    "joint density of independent outputs": (outputs_moments, "log_densities", "np.linalg.cholesky(law.covariance[:, here][:, :, p[:, None], p])", "np.sqrt(law.covariance[:, here][:, :, p[:, None], p] * np.eye(len(p)))", density_error),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name, monkeypatch):
    owner, function, old, new, error = FAULTS[name]
    if name == "joint density of independent outputs":
        monkeypatch.setitem(globals(), function, with_fault(getattr(owner, function), old, new))
    elif function == "log_density":
        monkeypatch.setattr(owner, function, property(with_fault(owner.log_density.fget, old, new)))
    elif function == "of":
        monkeypatch.setattr(owner, function, classmethod(with_fault(owner.of.__func__, old, new)))
    else:
        monkeypatch.setattr(owner, function, with_fault(getattr(owner, function), old, new))
    assert error() > 1e-4


def made(size: int, seed: int, gaps: float = 0.0) -> dict[str, Dataset]:
    """Two outputs, in units of 10 around 50 and of 0.1, with functions correlated by -0.8 and noise of sd 3 and 0.02 correlated by 0.7."""
    rng = generator(seed)
    x = rng.uniform(-2, 2, (size, 2))
    first, other = np.sin(2 * x[:, 0]), np.cos(1.5 * x[:, 0])
    noise = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size)
    y = np.column_stack(
        [50 + 10 * first + 3 * noise[:, 0], 0.1 * (-0.8 * first + 0.6 * other) + 0.02 * noise[:, 1]]
    )
    y[rng.random(y.shape) < gaps] = np.nan
    names = [f"s{i}" for i in range(size)]
    held = Dataset("split", (np.arange(size) >= size - 20).astype(np.int64), names, kind="categorical",
                   categories=("train", "test"))  # fmt: skip
    return {
        "X": Dataset("X", x, names, ["place", "other"]),
        "y": Dataset("y", y, names, ["big", "small"]),
        "split": held,
    }


@pytest.fixture(scope="module")
def run():
    return fit("gp_regression", made(70, 1), seed=3, chains=2, warmup=80, draws=50)


def test_a_fit_finds_noise_and_correlations_of_outputs(run):
    """50 samples: sds of the noise within a factor of 1.5, its correlation (0.7) within 0.3, that of the functions negative."""
    table = run.results["covariance"].columns
    found = dict(zip(map(str, table["Parameter"]), table["Median"], strict=True))
    assert found["noise sd of big"] == pytest.approx(3.0, rel=0.5)
    assert found["noise sd of small"] == pytest.approx(0.02, rel=0.5)
    assert found["correlation of noise, big and small"] == pytest.approx(0.7, abs=0.3)
    functions, noise = (run.results[f"correlation_{name}"].values for name in ("functions", "noise"))
    assert functions[0, 1] < -0.2
    assert noise[0, 1] == pytest.approx(found["correlation of noise, big and small"], abs=1e-3)
    assert "20 test samples: log loss" in run.results["headline"]


def test_every_output_has_its_own_results_in_its_own_units(run):
    y = run.results["point_y"].values
    assert y.shape == (2, 70)
    predicted = run.results["point_predicted"].values
    assert np.corrcoef(y[0], predicted[0])[0, 1] > 0.85
    assert np.corrcoef(y[1], predicted[1])[0, 1] > 0.7
    ends = run.results["point_interval"].values
    inside = (ends[..., 0] <= y) & (y <= ends[..., 1])
    assert inside.mean() == pytest.approx(0.9, abs=0.08)
    scores = run.results["measures"].columns
    assert list(scores["Output"][:2]) == ["big", "small"]
    assert set(scores["Output"]) == {"big", "small", "all together"}
    together = dict(zip(zip(scores["Output"], scores["Samples"], strict=True), scores["NLPD"], strict=True))
    apart = together["big", "Test"] + together["small", "Test"]
    assert together["all together", "Test"] < apart  # noise and functions are correlated
    assert len(run.results["predictions"].columns["Output"]) == 140


def test_bands_in_standardised_units_are_found(run):
    """The widths of intervals are those of the outputs' noise (3 and 0.02), 3.3 sds and a little more."""
    wide = np.median(np.ptp(run.results["point_interval"].values, axis=-1), axis=1)
    assert 3.3 * 3 * 0.7 < wide[0] < 3.3 * 3 * 1.8
    assert 3.3 * 0.02 * 0.7 < wide[1] < 3.3 * 0.02 * 1.8


def test_pictures_are_of_the_output_that_is_chosen(run):
    store = ResultStore(run)
    for output, code in (("big", 0), ("small", 1)):
        picture = fit_along(store, ViewChoices({"output": output}))
        np.testing.assert_allclose(picture.table["Mean"], run.results["along_mean"].values[code, 0])
        left = residuals(store, ViewChoices({"output": output}))
        assert left.panels[0].y.label == f"observed less predicted {output}"


def test_arrows_surfaces_and_correlations_are_drawn(run):
    from plaidwork.plugins.gp_auxiliary.regression.outputs_pictures import arrows, correlations, surface

    store = ResultStore(run)
    assert any(isinstance(mark, Points) for mark in arrows(store, ViewChoices({})).panels[0].marks)
    drawn = surface(store, ViewChoices({"output": "small"}))
    (cells,) = (mark for mark in drawn.panels[0].marks if isinstance(mark, Cells))
    np.testing.assert_allclose(cells.values, run.results["surface_mean"].values[1, 0])
    assert correlations(store, ViewChoices({"of": "Noise"})).matrix.values[0, 0] == 1.0


def as_model_data(data: dict[str, Dataset]) -> ModelData:
    spec = Regression.spec
    return model_data(spec, joined_inputs(spec, {key: [one] for key, one in data.items()}), 0, 0.0)


def test_new_samples_are_predicted_as_test_samples_are(run):
    """Columns of the values are found by name."""
    data = made(70, 1)
    turned = data["y"].with_(values=data["y"].values[:, ::-1], column_names=("small", "big"))
    found = Regression().predict(
        run.kept(), as_model_data(data), as_model_data({**data, "y": turned}), run.params
    )
    table = found["predictions"].columns
    wanted = run.results["point_predicted"].values[:, -20:]
    np.testing.assert_allclose(table["Predicted"].reshape(70, 2)[-20:].T, wanted, rtol=1e-9)
    np.testing.assert_allclose(table["Observed"].reshape(70, 2), data["y"].values)
    assert "70 with values: log loss" in found["headline"]


def test_densities_of_left_out_samples_are_joint_ones(run):
    """On average over draws close to the joint score of the fitted samples, which averages inside the logarithm."""
    data, kept = as_model_data(made(70, 1)), run.kept()
    rows = np.arange(70)
    found = Regression().log_likelihood(kept.chains[0], np.arange(50), data, run.params, 0, rows, None)
    assert np.isnan(found[:, 50:]).all()
    scores = run.results["measures"].columns
    at = list(zip(scores["Output"], scores["Samples"], strict=True)).index(
        ("all together", "Fitted, each left out")
    )
    assert -found[:, :50].mean() == pytest.approx(scores["NLPD"][at], abs=0.3)


def test_missing_values_are_predicted_with_the_help_of_the_others():
    """A fifth of the cells is missing: those that are, of samples with one value known, are within two sds in most cases."""
    whole, gaps = made(60, 4), made(60, 4, 0.2)
    run = fit("gp_regression", gaps, seed=3, chains=1, warmup=60, draws=30)
    assert run.results["point_y"].values.shape[1] == int(np.isfinite(gaps["y"].values).any(axis=1).sum())
    table = run.results["predictions"].columns
    missing = np.isnan(table["Observed"])
    fitted = missing & (table["Part"] == "fitted, no value")
    assert fitted.sum() >= 10
    gap = np.abs(whole["y"].values.ravel() - table["Predicted"])[fitted] / table["sd"][fitted]
    assert (gap < 2.0).mean() > 0.8


@pytest.mark.parametrize("model", ["gp_regression", "gp_quick_regression"])
def test_five_outputs_have_a_common_factor(model):
    data = data_of(24, 1)
    rng = generator(8)
    y = data["y"].values[:, None] * np.array([1.0, -1.0, 2.0, 0.5, 1.0]) + 3 * rng.standard_normal((24, 5))
    names = data["X"].row_names
    given = {**data, "y": Dataset("y", y, names, list(NAMES[:5]))}
    length = {"chains": 1, "warmup": 20, "draws": 10} if model == "gp_regression" else {"chains": 1}
    run = fit(model, given, seed=1, **length)
    found = run.results["correlation_functions"].values
    assert found[0, 1] < 0 < found[0, 2]
    assert (run.results["correlation_noise"].values == np.eye(5)).all()


def test_the_quick_look_finds_a_better_optimum_than_the_prior(run):
    quick = fit("gp_quick_regression", made(70, 1), seed=1)
    assert float(quick.results["nlpd"].values) == pytest.approx(float(run.results["nlpd"].values), abs=0.3)
    assert "correlation of noise, big and small" in quick.results["optima"].columns


def test_what_does_not_go_with_several_outputs_is_refused_in_words():
    data = made(40, 1)

    def refusal(settings: dict[str, object], values: np.ndarray | None = None) -> str:
        columns = [] if values is None else [f"column {p + 1}" for p in range(values.shape[1])]
        y = data["y"] if values is None else Dataset("y", values, data["y"].row_names, columns)
        with pytest.raises(PlaidworkError) as error:
            fit("gp_regression", {**data, "y": y}, settings, chains=1, seed=1)
        return str(error.value)

    assert "Several outputs go with normal noise only" in refusal({"noise": "student"})
    assert "17 outputs are too many: at most 16" in refusal({}, generator(1).standard_normal((40, 17)))
    flat = data["y"].values.copy()
    flat[:, 1] = 2.0
    assert "of “column 2” to fit are alike (2)" in refusal({}, flat)
    few = data["y"].values.copy()
    few[2:, 1] = np.nan
    assert "Every output needs at least 3 values to fit. Found 2" in refusal({}, few)


def test_more_than_6000_known_cells_of_incomplete_samples_are_refused():
    from plaidwork.plugins.gp_auxiliary.regression.problems import find_problems

    rng = generator(1)
    names = [f"s{i}" for i in range(1900)]
    y = rng.standard_normal((1900, 4))
    y[0, 0] = np.nan
    data = as_model_data(
        {
            "X": Dataset("X", rng.standard_normal((1900, 1)), names, ["a"]),
            "y": Dataset("y", y, names, list("pqrs")),
        }
    )
    params = Regression.spec.check_params({})
    (problem,) = (one for one in find_problems(data, params) if one.where == "y")
    assert "at most 6000 known values are fitted. Found 7599" in problem.message


def test_values_of_several_columns_are_the_same_however_they_are_given(tmp_path):
    """A table with a title for each output in Python, arrays, files, and columns beside another input."""
    from plaidwork.core.data.fit_inputs import entries_of, load_inputs

    x, y = (np.round(generator(seed).standard_normal((6, 2)), 2) for seed in (1, 2))
    for file, titles, values in (("x.csv", "a,b", x), ("y.csv", "p,q", y)):
        lines = [f"name,{titles}", *(",".join([f"s{i}", *map(str, row)]) for i, row in enumerate(values))]
        (tmp_path / file).write_text("\n".join(lines), encoding="utf-8")
    file, beside = str(tmp_path / "x.csv"), str(tmp_path / "y.csv")
    for given, options in (
        ({"X": x, "y": y}, {}),
        ({"X": file, "y": beside}, {}),
        ({"X": file, "y": "X:row:p;q"}, {"X.annotations": [{"file": beside, "axis": "rows"}]}),
    ):
        loaded = load_inputs(Regression.spec, entries_of(Regression.spec, given, options)).data
        (found,) = loaded["y"]
        np.testing.assert_allclose(found.values, y)
        assert found.shape == (6, 2)


@pytest.mark.parametrize(("outputs", "inputs", "wanted"), [(1, 2, "Fit along one input"), (2, 1, "Fit along one input"), (2, 2, "Arrows"),
                                                           (3, 2, "Surface")])  # fmt: skip
def test_the_picture_in_front_is_made_for_data_of_that_shape(outputs, inputs, wanted):
    spec, rng = Regression.spec, generator(1)
    names = [f"s{i}" for i in range(5)]
    y = rng.standard_normal((5, outputs))
    data = {
        "X": Dataset("X", rng.standard_normal((5, inputs)), names, list(NAMES[:inputs])),
        "y": Dataset(
            "y", y[:, 0] if outputs == 1 else y, names, list(NAMES[:outputs]) if outputs > 1 else []
        ),
    }
    run = SimpleNamespace(
        spec=spec, params=spec.check_params({}), inputs={"X": ("X",), "y": ("y",)}, results={}
    )
    session = SimpleNamespace(datasets=data)
    assert spec.views[leading_view(session, run)].title == wanted
    shown = {view.title for view in spec.views if offered(session, run, view)}
    assert ("Correlations" in shown) == (outputs > 1)
    again = spec_from_json(spec_to_json(spec))
    assert [view.columns for view in again.views] == [view.columns for view in spec.views]
    assert again.input("y").several == "output"
