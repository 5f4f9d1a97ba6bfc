"""What is shown of a fit: errors, bands, cut-points, answers at other inputs, against simulation and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from scipy.special import ndtr

from plaidwork.core.api import Block, ModelData, Table
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.numerics.used_draws import standard_error
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.gp_auxiliary.classes.averaging import _GivenF, in_parts, not_null
from plaidwork.plugins.gp_auxiliary.classes.ordinal import CutWidths
from plaidwork.plugins.gp_auxiliary.classes.posterior import cut_prior


def test_the_monte_carlo_error_is_that_of_the_average():
    """3200 averages over 4 chains of 5 batches: their spread is known to 1.3 %; chains at one level, and each at its own."""
    rng = generator(1)
    for between in (0.0, 0.3):
        averages, errors = [], []
        for _ in range(400):
            batches = 0.5 + 0.02 * (
                rng.standard_normal((4, 5, 1, 8)) + between / 0.02 * rng.standard_normal((4, 1, 1, 8)) / 10
            )
            share = np.concatenate([batches, 1 - batches], axis=2)
            chains = share.mean(axis=1)
            averages.append(chains.mean(axis=0)[0])
            errors.append(standard_error(chains, share.reshape(20, 2, 8))[0])
        true = np.std(averages)
        found = np.sqrt(np.mean(np.square(errors)))
        assert 0.95 * true < found < 1.3 * true  # the larger of two estimates is a little above
    assert np.isnan(standard_error(chains[:1], chains[:1])).all()


def test_the_band_of_a_probability_given_f():
    """One place with f ~ N(m, v): the interval of Phi(f) is Phi of that of f."""
    band = _GivenF(400, 0.0)
    for _ in range(400):
        band.add(np.array([[0.4]]), np.array([0.25]), None)
    low, high = band.interval(2)[1, 0]
    assert (low, high) == pytest.approx(ndtr([0.4 - 1.645 * 0.5, 0.4 + 1.645 * 0.5]), abs=0.005)
    single = _GivenF(1, 0.0)  # an approximation has one draw
    single.add(np.array([[0.4]]), np.array([0.25]), None)
    assert single.interval(2)[1, 0] == pytest.approx([low, high], abs=0.02)
    share = np.array([[0.2, 0.0], [0.6, 0.0]])
    assert not_null(share) == pytest.approx(np.array([[0.25, 0.5], [0.75, 0.5]]))


def test_the_prior_of_the_cut_points():
    """Against plain simulation: mean of the third one 2 e^(1/2), its 5 and 95 % within 0.25."""
    x, density = cut_prior(3, CutWidths(3.0, 1.0))
    rng = generator(2)
    third = 3 * rng.standard_normal(100_000) + np.exp(rng.standard_normal((2, 100_000))).sum(axis=0)
    mass = np.cumsum((density[2][1:] + density[2][:-1]) / 2 * np.diff(x[2]))
    found = np.interp([0.05, 0.95], mass / mass[-1], x[2][1:])
    assert found == pytest.approx(np.quantile(third, [0.05, 0.95]), abs=0.25)
    assert mass[-1] == pytest.approx(1, abs=0.02)


@pytest.fixture(scope="module")
def grades():
    """A short fit of three grades of 50 samples with three inputs, of which the first decides."""
    rng = generator(3)
    x = rng.standard_normal((50, 3)) * [1.0, 2.0, 5.0] + [0.0, 3.0, -4.0]
    code = np.digitize(x[:, 0] + 0.3 * rng.standard_normal(50), [-0.5, 0.5])
    names = tuple(f"s{i}" for i in range(50))
    data = {
        "X": Dataset("X", x, names, ("a", "b", "c")),
        "y": Dataset("y", code, names, (), "categorical", ("1", "2", "3")),
    }
    return fit("gp_ordered_classes", data, chains=2, warmup=150, draws=30, seed=2)


@pytest.mark.slow
def test_ordered_classes_along_f_and_along_an_input(grades):
    found = grades.results
    shares, cuts = found["latent_shares"].values, found["cut_points"].values
    assert shares.sum(axis=0) == pytest.approx(1)
    f = found["latent_x"].values
    assert f[0] < cuts[0] < cuts[1] < f[-1]
    middle = shares[1] > shares[[0, 2]].max(axis=0)
    assert cuts[0] - 0.5 < f[middle].min() < f[middle].max() < cuts[1] + 0.5
    low, high = np.moveaxis(found["slice_probability_interval"].values, -1, 0)
    shown = found["slice_probability"].values
    assert ((low <= high) & (low >= 0) & (high <= 1)).all()
    assert (low <= shown + 0.1).all()
    assert (shown <= high + 0.1).all()
    table = found["predictions"]
    assert isinstance(table, Table)
    assert {"± Monte Carlo", "P(1)", "± P(1)"} <= set(table.columns)
    assert np.isfinite(table.columns["± P(2)"]).all()
    assert found["theta_prior"].values.shape == found["theta_x"].values.shape


def _data(run, rows):
    values = run.session.datasets["X"].values
    names = run.session.datasets["X"].row_names
    codes = run.session.datasets["y"].values
    known = np.ones(values.shape, dtype=bool)
    data = ModelData(
        {
            "X": Block("X", values, known, None, (names, ("a", "b", "c"))),
            "y": Block("y", codes, known[:, 0], None, (names,), ("1", "2", "3")),
        }
    )
    new = Block(
        "X", rows, np.ones(rows.shape, dtype=bool), None, (tuple("uvwxyz"[: len(rows)]), ("a", "b", "c"))
    )
    return data, ModelData({"X": new})


def test_answers_at_other_inputs_are_the_predictions(grades):
    from plaidwork.plugins.gp_auxiliary.classes.ordinal import OrderedClasses

    rows = np.array([[-2.0, 3.0, -4.0], [0.0, 3.0, -4.0], [2.0, 3.0, -4.0]])
    data, new = _data(grades, rows)
    model, kept = OrderedClasses(), grades.kept()
    wanted = frozenset({"probability", "probability_interval", "f", "f_interval"})
    found = model.response(kept, data, grades.params, "X", rows, wanted)
    predicted = model.predict(kept, data, new, grades.params)
    share = found["probability"].values
    assert share == pytest.approx(predicted["probability"].values)
    assert list(share.argmax(axis=1)) == [0, 1, 2]
    assert (np.diff(found["f"].values[:, 0]) > 0).all()
    assert found["probability_interval"].values.shape == (3, 3, 2)
    assert "Monte Carlo error" in predicted["caption"]


def test_all_draws_unless_they_are_dear():
    """At most the work where that reaches all draws; else rounds up to twice the work, or up to 25 times where draws are few; few
    while the chains go on."""
    counts = [1000, 1000]

    def taken(cost, work, rough=False):
        return [sum(map(len, part)) for part in in_parts(counts, cost, work, rough)]

    assert taken(1.0, 4e9) == [2000]
    assert taken(1e7, 4e9) == [400, 400]
    assert taken(1e8, 4e9) == [40, 40, 80, 160]
    assert taken(1e12, 4e9) == [12]
    assert taken(1e7, 4e9, rough=True) == [100]


def test_the_average_says_how_many_draws_it_took(grades, monkeypatch):
    assert "Averaged over all 60 draws" in grades.results["prediction_note"]
    assert "the largest is 0." in grades.results["prediction_note"]
    monkeypatch.setattr("plaidwork.plugins.gp_auxiliary.classes.averaging.cost_of_draw", lambda *_: 1e12)
    rows = np.array([[-2.0, 3.0, -4.0]])
    data, new = _data(grades, rows)
    from plaidwork.plugins.gp_auxiliary.classes.ordinal import OrderedClasses

    caption = OrderedClasses().predict(grades.kept(), data, new, grades.params)["caption"]
    assert "Averaged over 12 of 60 draws" in caption
    monkeypatch.setattr("plaidwork.plugins.gp_auxiliary.classes.averaging.cost_of_draw", lambda *_: 1e9)
    monkeypatch.setattr("plaidwork.plugins.gp_auxiliary.classes.averaging.WANTED", 0.5)
    caption = OrderedClasses().predict(grades.kept(), data, new, grades.params)["caption"]
    assert (
        "Averaged over 16 of 60 draws" in caption
    )  # the work for them allows 16, and their error is small enough


_JOINT = np.array([[2.0, 0.9, 0.3], [0.9, 1.8, -0.2], [0.3, -0.2, 2.2]])
"""Covariance of z of three samples, f integrated out."""


def _cut_normals(z, null):
    """What is left of each sample's z, of draws (s, K, 3) in two chains."""
    from types import SimpleNamespace

    from plaidwork.plugins.gp_auxiliary.classes.auxiliary import cut_normals

    rows = np.linalg.inv(_JOINT)
    gram = {"rows": rows, "diagonal": np.diag(rows), "weight": np.zeros(0)}
    prior = SimpleNamespace(x=np.zeros((3, 1)), dense=True, gram=lambda theta: gram)
    chains = [
        SimpleNamespace(n_draws=len(part), draw=lambda name, i, part=part: part[i])
        for part in np.array_split(z, 2)
    ]
    return cut_normals(SimpleNamespace(chains=chains), prior, null, True, np.arange(3))


def test_densities_of_z_are_the_exact_ones():
    """Labels +, - and none, nothing within 0.5 of 0: against many draws by rejection, of which the mixture has 400. The
    shares of the sides have an error of 0.025 with these, the heights one of 0.02; a wrong sd or mean moves them by 0.1."""
    from plaidwork.plugins.gp_auxiliary.classes.auxiliary import _drawn

    z = generator(5).multivariate_normal(np.zeros(3), _JOINT, 800_000)
    z = z[(z[:, 0] > 0.5) & (z[:, 1] < -0.5) & (np.abs(z[:, 2]) > 0.5)]
    x, density = _drawn(_cut_normals(z[:, None], 0.5), single=True)
    assert (density[:, np.abs(x) < 0.49] == 0).all()
    assert (np.diff(x) >= 0).all()
    for own, found in zip(z.T, density, strict=True):
        assert np.trapezoid(found, x) == pytest.approx(1, abs=0.02)
        for low in (-3.0, -2.0, -1.0, 0.5, 1.0, 2.0):
            share = ((own > low) & (own < low + 0.5)).mean()
            at = np.linspace(low + 1e-6, low + 0.5 - 1e-6, 50)
            assert np.interp(at, x, found).mean() == pytest.approx(2 * share, abs=0.06), low


def test_densities_of_the_lead_are_the_exact_ones(monkeypatch):
    """Three classes; the winner of each sample leads by 0.4 at least: against as many draws by rejection. A mixture of 4,000
    errs by 0.007; a wrong sd, or the winner's z in place of its lead, by 0.03 and more."""
    from plaidwork.plugins.gp_auxiliary.classes.auxiliary import _drawn

    monkeypatch.setattr("plaidwork.plugins.gp_auxiliary.classes.auxiliary._MOST", 4000)
    z = generator(6).multivariate_normal(np.zeros(3), _JOINT, (400_000, 3))  # (draw, class, sample)
    ordered = np.sort(z, axis=1)
    lead = ordered[:, -1] - ordered[:, -2]
    kept = (lead > 0.4).all(axis=1)
    z, lead = z[kept], lead[kept]
    x, density = _drawn(_cut_normals(z, 0.4), single=False)
    assert x[0] == 0
    assert (density[:, x < 0.39] == 0).all()
    for own, found in zip(lead.T, density, strict=True):
        for low in (0.4, 0.9, 1.4, 1.9, 2.4):
            share = ((own > low) & (own < low + 0.5)).mean()
            at = np.linspace(low + 1e-6, low + 0.5 - 1e-6, 50)
            assert np.interp(at, x, found).mean() == pytest.approx(2 * share, abs=0.02), low


def test_densities_of_z_keep_what_lies_beyond_the_picture_out_of_its_ends():
    """A sample far from the others has no peak at the end of the axis, and no area that it does not have."""
    from plaidwork.plugins.gp_auxiliary.classes.auxiliary import Cut, _drawn

    mean = np.ones((400, 200))
    mean[:, 199] = 40
    ones = np.ones_like(mean)
    x, density = _drawn(Cut(mean, ones, ones, mean, 0.0, 400), single=True)
    assert x[-1] < 3
    assert np.trapezoid(density, x)[:199] == pytest.approx((ndtr(x[-1] - 1) - ndtr(-1)) / ndtr(1), abs=1e-3)
    assert density[199].max() < 1e-9


def test_the_way_of_a_copy_says_which_draws_it_shows():
    from plaidwork.plugins.gp_auxiliary.few_labels.results import Tempered, swap_results

    def note(kept, shown):
        found = Tempered(
            ["1", "2"], np.full((2, 1), 0.5), np.array([3, 4]), np.array([kept, kept]), np.ones((2, 2)),
            np.zeros((2, shown)),
        )  # fmt: skip
        return swap_results(found, np.array([0.0, 1.0]))["way_note"]

    assert "Drawn are the last 200 of 400 draws of each chain." in note(400, 200)
    assert "last" not in note(200, 200)


def test_a_map_of_all_draws_says_so(grades):
    assert grades.results["map_note"].startswith("Averaged over all 60 draws")


@pytest.mark.parametrize("given", ["inferred", "fixed"])
def test_priors_stand_only_beside_parameters_that_are_drawn(given):
    x = generator(1).standard_normal((8, 2))
    names = tuple(f"s{i}" for i in range(8))
    data = {
        "X": Dataset("X", x, names, ("a", "b")),
        "y": Dataset("y", np.arange(8) % 2, names, (), "categorical", ("1", "2")),
    }
    settings = {"covariance": "rbf", "parameters": given, "amplitude": 9.0}
    columns = (
        fit("gp_classes", data, settings, chains=1, warmup=2, draws=4, seed=2).results["covariance"].columns
    )
    if given == "fixed":
        assert set(columns) == {"Parameter", "Given"}
        assert columns["Given"][0] == pytest.approx(9.0)
    else:
        assert set(columns) == {"Parameter", "Median", "5 %", "95 %", "Prior 5 %", "Prior 95 %"}
        assert (columns["Prior 5 %"] < columns["Prior 95 %"]).all()
