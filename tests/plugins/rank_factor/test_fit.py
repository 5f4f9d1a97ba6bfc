"""Whole fits: planted factors and classes, test samples, new samples, missing labels, results."""

from dataclasses import replace

import numpy as np
import pytest
import rank_factor_tools as tools
from sparing import some

from plaidwork.core.contract.model_data import Block, ModelData
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.rank_factor.classification import chains_alike
from plaidwork.plugins.rank_factor.posterior import align, class_probabilities, class_shares
from plaidwork.plugins.rank_factor.similarity import cosines

SHORT = {"chains": 1, "warmup": 60, "draws": 40, "thin": 1}
LIKELIHOODS = {"levels": {}, "pairs": {"scheme": "pairs"}, "gaussian": {"likelihood": "gaussian"}}
SPLIT = (np.arange(160) >= 110).astype(int)


SEEDS = (1, 2, 3)
"""Of fits whose mean errors are judged. One fit is one way that a chain may go: over six seeds and the BLAS kernels for
AVX-512, AVX2 and SSE its error has a standard deviation of 0.02 to 0.05, so that the thresholds below are four or more
standard deviations of the mean of three away from the mean."""


def errors(run):
    return float(run.results["metrics"].columns["Errors"][-1])


by_seeds = pytest.mark.parametrize(
    ("seeds", "more"),
    [
        pytest.param(SEEDS[:1], 0.12, id="one seed"),
        pytest.param(SEEDS, 0.0, id="mean", marks=pytest.mark.slow),
    ],
)
"""``more`` is added to a threshold of a mean: a single fit has 1.7 times the spread."""


def runs(seeds, model, given, settings, **schedule):
    """The same fit from every seed."""
    return [tools.run(model, given, settings, seed=seed, **schedule) for seed in seeds]


def mean_error(*args, **schedule):
    return np.mean([errors(run) for run in runs(*args, **schedule)])


@pytest.mark.long
@pytest.mark.parametrize("model", ["rank_factor", "rank_factor_vb"])
@pytest.mark.parametrize("name", some(list(LIKELIHOODS), ["gaussian"]))
@by_seeds
def test_planted_factors_and_classes(name, model, seeds, more):
    x, codes, z, _ = tools.planted(3)
    if name == "gaussian":  # values that are linear in the factors
        x = np.sign(x) * np.abs(x) ** (1 / 3)
    codes = np.where(np.arange(160) % 9 == 0, -1, codes)
    given = tools.inputs(x, codes, split=SPLIT)
    found = runs(seeds, model, given, {**LIKELIHOODS[name], "n_factors": 6, "label_weight": 3.0}, **SHORT)
    assert np.mean([errors(run) for run in found]) < 0.15 + more  # means 0.03 to 0.07, a guess has 0.5
    for run in found:  # 0.967 to 0.988, spread 0.002
        assert tools.explained(run.results["scores"].values, z) > 0.93
    table = run.results["predictions"].columns
    assert set(table["Part"]) == {"Training", "Test"}
    assert table["Label"][0] == ""


@by_seeds
def test_three_classes_in_one_fit(seeds, more):
    x, codes, _, _ = tools.planted(5, classes=3)
    given = tools.inputs(x, codes, ("a", "b", "c"), split=SPLIT)
    found = runs(seeds, "rank_factor", given, {"n_factors": 6, "label_weight": 5.0}, **SHORT)
    assert np.mean([errors(run) for run in found]) < 0.3 + more  # mean 0.18, a guess has 0.67
    run = found[0]
    assert run.results["coefficients"].values.shape == (3, 6)
    assert (run.results["part"].values == np.where(SPLIT > 0, "test", "fitted")).all()
    assert (run.results["sample_code"].values == codes).all()
    probability = run.results["probability"].values
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    wrong = (probability.argmax(axis=1) != codes)[SPLIT > 0]
    assert run.results["metrics"].columns["Wrong"][-1] == wrong.sum()


@pytest.mark.parametrize("model", ["rank_factor", "rank_factor_vb"])
@pytest.mark.slow
def test_a_bent_boundary_needs_the_mixture(model):
    x, codes, _, _ = tools.planted(8, n=300, bent=True)
    given = tools.inputs(x, codes, split=(np.arange(300) >= 200).astype(int))
    settings = {"n_factors": 5, "label_weight": 5.0}
    longer = {**SHORT, "warmup": 150}
    linear = mean_error(SEEDS, model, given, settings, **longer)  # 0.43, single ones from 0.40 to 0.50
    bent = mean_error(SEEDS, model, given, settings | {"classifier": "nonlinear"}, **longer)
    # 0.21, from 0.15 to 0.31
    assert bent < linear - 0.08
    assert bent < 0.32


def test_test_samples_change_nothing_of_the_fit():
    """Other values of the test samples leave every draw of the fitted ones as it is, bit for bit."""
    x, codes, _, _ = tools.planted(3)
    other = x.copy()
    other[SPLIT > 0] = np.roll(other[SPLIT > 0], 3, axis=0)
    runs = [
        tools.run(
            "rank_factor",
            tools.inputs(one, codes, split=SPLIT),
            {"n_factors": 4},
            **{**SHORT, "warmup": 10, "draws": 10},
        )
        for one in (x, other)
    ]
    first, second = (run.kept() for run in runs)
    assert (first.stack("loadings") == second.stack("loadings")).all()
    assert (first.stack("decision")[:, :, SPLIT == 0] == second.stack("decision")[:, :, SPLIT == 0]).all()
    assert (first.stack("decision")[:, :, SPLIT > 0] != second.stack("decision")[:, :, SPLIT > 0]).any()


def as_data(x, codes=None):
    known = ~np.isnan(x)
    names = (tuple(f"n{i}" for i in range(len(x))), tuple(f"f{j}" for j in range(x.shape[1])))
    blocks = {"X": Block("X", np.where(known, x, 0.0), known, None, names)}
    if codes is not None:
        blocks["y"] = Block("y", codes, codes >= 0, None, names[:1], ("no", "yes"))
    return ModelData(blocks)


@pytest.mark.long
@pytest.mark.parametrize("model", ["rank_factor", "rank_factor_vb"])
@pytest.mark.parametrize("name", some(list(LIKELIHOODS), ["levels"]))
def test_new_samples_are_predicted_like_test_samples(name, model):
    x, codes, _, _ = tools.planted(4)
    settings = {**LIKELIHOODS[name], "n_factors": 5, "label_weight": 3.0}
    run = tools.run(model, tools.inputs(x, codes, split=SPLIT), settings, **{**SHORT, "draws": 80})
    inside = run.results["probability"].values[SPLIT > 0, 1]
    kind = registry().model(model)
    params = kind.spec.check_params(settings)
    train = as_data(x, codes)
    split = Block("split", SPLIT, SPLIT >= 0, None, train["X"].names[:1], ("train", "test"))
    data = ModelData({**train, "split": split})
    found = kind.predict(run.kept(), data, as_data(x[SPLIT > 0]), params)
    assert np.corrcoef(found["new_probability"].values[:, 1], inside)[0, 1] > 0.97
    assert (found["new_class"].values == np.where(codes[SPLIT > 0] == 1, "yes", "no")).mean() > 0.8
    few = kind.predict(run.kept(), data, as_data(x[SPLIT > 0][:, :8]), params)
    assert np.corrcoef(few["new_decision"].values[:, 0], found["new_decision"].values[:, 0])[0, 1] > 0.5


def test_results_hold_together():
    x, codes, _, _ = tools.planted(6)
    x[::7, 3] = np.nan
    settings = {"n_factors": 4, "n_top": 5, "similarity": 0.5}
    run = tools.run("rank_factor", tools.inputs(x, codes), settings, chains=2, warmup=30, draws=30, thin=1)
    found = run.results
    loadings, interval = found["loadings"].values, found["loading_interval"].values
    assert ((interval[..., 0] <= loadings) & (loadings <= interval[..., 1])).mean() > 0.98
    assert ((loadings**3).sum(axis=1) >= 0).all()
    size = (loadings**2).sum(axis=1)
    assert (np.diff(size) <= 0).all()
    table = found["top_features"].columns
    assert len(table["Factor"]) == 20
    first = np.abs(table["Loading"][:5])
    assert (np.diff(first) <= 0).all()
    agreement = found["agreement"].columns
    assert (agreement["In order"] >= agreement["With margin"]).all()
    assert agreement["In order"].mean() > 0.7
    edge, weight = found["network_edge"].values, found["network_weight"].values
    names = found["network_node"].values
    assert (np.abs(weight) >= 0.5).all()
    assert ((found["network_confidence"].values >= 0) & (found["network_confidence"].values <= 1)).all()
    place = [int(name[1:]) for name in names[edge[0]]]
    assert cosines(loadings[:, place].T)[0, 1] == pytest.approx(weight[0])
    assert "no test samples" in found["caption"]
    assert found["loading_images"].dims == ("factor", "feature")
    rise = np.diff(found["order_fit"].values, axis=1)
    assert (rise[np.isfinite(rise)] > 0).mean() > 0.6
    low, high = np.moveaxis(found["order_fit_interval"].values, -1, 0)
    assert (low <= high)[np.isfinite(low)].all()


def test_fitted_values_by_order_know_ties():
    """Bins hold samples of like rank, those within ties all with that value; the chosen feature comes first."""
    x, codes, _, _ = tools.planted(6)
    x[:, 4] = np.repeat([1.0, 2.0], 80)
    settings = {"n_factors": 3, "shown_feature": "f4"}
    found = tools.run("rank_factor_vb", tools.inputs(x, codes), settings, max_sweeps=12).results
    names = found["shown_features"].values
    assert names[0] == "f4"
    assert sorted(names) == sorted(f"f{j}" for j in range(30))
    fit, w = found["order_fit"].values, found["scores"].values @ found["loadings"].values
    np.testing.assert_allclose(fit[0], np.repeat([w[:80, 4].mean(), w[80:, 4].mean()], 10))
    free = next(i for i, name in enumerate(names) if int(name[1:]) % 3 == 0)
    j = int(names[free][1:])
    np.testing.assert_allclose(fit[free, 2], w[np.argsort(x[:, j])[16:24], j].mean())


def test_draws_are_aligned_by_order_and_sign():
    rng = np.random.default_rng(2)
    a = rng.standard_normal((40, 5))
    order, signs = rng.permutation(5), np.array([1, -1, 1, -1, -1.0])
    turned = (a * signs)[:, order] * 1.3 + 0.05 * rng.standard_normal((40, 5))
    found, flip = align(turned, a)
    assert np.abs(turned[:, found] * flip - 1.3 * a).max() < 0.5


def test_probabilities_are_the_label_terms_of_each_class():
    """Two and three classes: exp(-2 sum of hinges) for the labels that each class would give, over their sum."""
    f = np.random.default_rng(3).standard_normal((4, 5, 3)) * 1.5
    for values in (f, f[:, :, :1]):
        g = values.shape[2]
        y = np.array([[-1.0], [1.0]]) if g == 1 else 2 * np.eye(g) - 1
        term = np.exp(-2 * np.maximum(0, 1 - y * values[:, :, None, :]).sum(axis=-1))
        expected = (term / term.sum(axis=-1, keepdims=True)).mean(axis=0)
        np.testing.assert_allclose(class_shares(values), expected)


@pytest.mark.slow
@pytest.mark.parametrize("g", [1, 3])
def test_probabilities_of_normal_values(g):
    f, sd = np.array([[0.3, -0.2, 1.0]])[:, :g], np.array([[1.0, 0.5, 0.7]])[:, :g]
    rng = np.random.default_rng(1)
    drawn = f + sd * rng.standard_normal((200_000, g))
    np.testing.assert_allclose(class_probabilities(f, sd), class_shares(drawn[:, None]), atol=0.005)


def test_slices_do_not_change_the_numbers(monkeypatch):
    from plaidwork.plugins.rank_factor import gibbs

    x, codes, _, _ = tools.planted(3)
    found = []
    for size in (gibbs.SLICE, 1):
        monkeypatch.setattr(gibbs, "SLICE", size)
        given = tools.inputs(x, codes, split=SPLIT)
        run = tools.run(
            "rank_factor", given, {"n_factors": 4, "scheme": "pairs"}, **{**SHORT, "warmup": 3, "draws": 3}
        )
        found.append(run.kept().stack("decision"))
    assert (found[0] == found[1]).all()


def told_of_chains(shift, n=40, seed=1):
    """What is said of four chains whose probabilities of test samples differ by ``shift`` in the last one; those of fitted samples differ always."""
    setup = replace(tools.tiny()[0], test=np.arange(4, 4 + n))
    likely = np.tile(tools.generator(seed).choice([0.1, 0.9], 4 + n), (4, 1))
    likely[-1, 4:] += np.where(likely[-1, 4:] > 0.5, -shift, shift)
    likely[-1, :4] = 1.0 - likely[-1, :4]
    return chains_alike(np.stack([likely, 1.0 - likely], axis=2), setup)


@pytest.mark.parametrize(("shift", "used"), [(0.0, True), (0.05, True), (0.3, False), (0.8, False)])
def test_it_is_told_whether_predictions_can_be_used(shift, used):
    told = told_of_chains(shift)
    share = "0 %" if shift > 0.4 else "100 %"
    assert f"for {share} of the test samples" in told
    assert f"differ by {shift / 2:.2f} on average" in told  # three of the six pairs of chains differ
    assert ("can be used" in told) == used
    assert ("cannot be used yet" in told) == (not used)


def test_nothing_is_told_of_one_chain():
    assert chains_alike(np.full((1, 4, 2), 0.5), tools.tiny()[0]) == ""


@pytest.mark.long
def test_an_unsettled_verdict_says_whether_predictions_can_be_used():
    x, codes, _, _ = tools.planted(3)
    given = tools.inputs(x, codes, split=SPLIT)
    run = tools.run("rank_factor", given, {"n_factors": 6}, **{**SHORT, "chains": 2})
    verdict = run.diagnosis().verdict
    assert not verdict.settled
    assert verdict.text.endswith(run.results["still_holds"])
