"""What the views of a fit are drawn from: cells in order, groups of several draws, the test half drawn by share."""

import numpy as np
import pytest
import rank_factor_tools as tools

from plaidwork.core.api import random_test
from plaidwork.core.api_scores import score
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.rank_factor import similarity
from plaidwork.plugins.rank_factor.checks import split_of
from plaidwork.plugins.rank_factor.posterior import match_groups

SHORT = {"chains": 1, "warmup": 30, "draws": 20, "thin": 1, "max_sweeps": 30}


@pytest.mark.parametrize("scheme", ["levels", "pairs"])
def test_cells_in_order(scheme):
    x, codes, _, _ = tools.planted(2, n=60, d=12)
    x[:, 3] = 1.0  # left out
    x[5, 0] = np.nan
    given = tools.inputs(x, codes, split=(np.arange(60) >= 45).astype(int))
    run = tools.run("rank_factor_vb", given, {"scheme": scheme, "n_factors": 4, "n_levels": 5}, **SHORT)
    found = {
        name: run.results[name].values for name in ("cell_order", "feature_levels", "feature_thresholds")
    }
    order, levels, c = found["cell_order"], found["feature_levels"], found["feature_thresholds"]
    assert order.shape == (60, 12)
    assert (order[:, 3] == -1).all()
    assert levels[3] == 0
    assert order[5, 0] == -1
    assert (order[45:] < 0).all() == (scheme == "pairs")  # test samples are in no pair
    train, w = np.arange(45), run.results["scores"].values @ run.results["loadings"].values
    for j in (0, 7):
        known = train[~np.isnan(x[train, j])]
        if scheme == "levels":
            assert levels[j] == 5
            cut = np.quantile(x[known, j], np.arange(1, 5) / 5, method="inverted_cdf")
            level = (x[known, j][:, None] > cut).sum(axis=1)
            ends = np.concatenate([[-np.inf], c[j, :4], [np.inf]])
            wrong = (w[known, j] < ends[level]) | (w[known, j] > ends[level + 1])
            np.testing.assert_array_equal(order[known, j], wrong)
        else:
            assert set(order[known, j]) <= {0, 1}
    share = (order[order >= 0] == 0).mean()
    assert share > (0.5 if scheme == "levels" else 0.3)


def test_a_single_wrong_pair_is_found():
    from plaidwork.plugins.rank_factor.fit_of_features import _violated
    from plaidwork.plugins.rank_factor.setup import setup_of

    class Mean:
        loadings = np.array([[1.0]])
        scores = np.array([[0.0], [1.0], [3.0], [2.0], [4.0], [9.0]])

    data = tools.data_of([[0.0], [1.0], [2.0], [3.0], [4.0], [np.nan]], [0, 1, 0, 1, 0, 1])
    setup = setup_of(data, tools.params_of(scheme="pairs", n_levels=0))
    assert _violated(Mean, setup, 0, 0).tolist() == [0, 0, 1, 1, 0, -1]


def test_groups_of_all_draws_are_in_one_order():
    rng = np.random.default_rng(1)
    truth = rng.choice(4, 200, p=[0.1, 0.5, 0.3, 0.1])
    draws = []
    for _ in range(6):
        name = rng.permutation(5)
        moved = np.where(rng.random(200) < 0.05, rng.integers(0, 4, 200), truth)
        draws.append(name[moved])
    orders = match_groups(draws, 5)
    sizes = [np.bincount(draw, minlength=5)[order] for draw, order in zip(draws, orders, strict=True)]
    assert list(sizes[0]) == sorted(sizes[0], reverse=True)
    whole = np.bincount(truth, minlength=5)
    for size in sizes:
        assert np.abs(np.sort(size)[::-1] - np.sort(whole)[::-1]).max() < 15
        assert np.abs(size - sizes[0]).max() < 15
    for draw, order in zip(draws, orders, strict=True):
        place = np.argsort(order)  # the first draw's number of each group
        first = np.argsort(orders[0])
        assert (place[draw] == first[draws[0]]).mean() > 0.85


def test_the_share_for_the_test_is_drawn_from_each_class():
    labels = np.repeat([0, 1, 2], [40, 20, 1])
    x = np.random.default_rng(0).standard_normal((62, 5))
    codes = np.append(labels, -1)
    data = tools.data_of(x, codes, ("a", "b", "c"))
    test = random_test(codes, 0.25)
    assert np.bincount(codes[test], minlength=3).tolist() == [10, 5, 0]
    np.testing.assert_array_equal(test, random_test(codes, 0.25))
    train, again = split_of(data, tools.params_of(test_share=0.25))
    np.testing.assert_array_equal(again, test)
    assert sorted([*train, *test]) == list(range(62))
    assert len(split_of(data, tools.params_of())[1]) == 0
    given = tools.data_of(x, codes, ("a", "b", "c"), split=(np.arange(62) < 6).astype(int))
    assert split_of(given, tools.params_of(test_share=0.5))[1].tolist() == list(range(6))


def test_a_drawn_test_half_is_predicted():
    x, codes, _, _ = tools.planted(4, n=120, d=20)
    run = tools.run("rank_factor_vb", tools.inputs(x, codes), {"n_factors": 4, "test_share": 0.25}, **SHORT)
    assert run.results["metrics"].columns["Part"].tolist() == ["Training", "Test"]
    assert int(run.results["metrics"].columns["Number"][1]) == 30
    assert "test samples wrong" in run.results["headline"]
    test = run.results["part"].values == "test"
    found = score(codes[test], run.results["probability"].values[test])  # what the calibration page shows
    table = run.results["metrics"].columns
    assert (table["Brier score"][1], table["AUC"][1]) == (found.brier.value, found.auc.value)
    assert run.results["headline"] == found.text("test samples")
    assert (run.results["part"].values == "test").sum() == 30


def test_views_are_offered_by_the_settings():
    spec = registry().model("rank_factor").spec

    def offered(**changes):
        return [view.title for view in spec.views if view.offered(tools.params_of(**changes))]

    assert offered().count("One feature") == 1
    assert "Sizes of the groups" not in offered()
    assert "By group and class" in offered(classifier="nonlinear")
    kinds = [v for v in spec.views if v.title == "One feature" and v.offered(tools.params_of(scheme="pairs"))]
    assert "thresholds" not in kinds[0].source


def test_links_of_many_features(monkeypatch):
    """The same as from the whole matrix of cosines, in parts."""
    monkeypatch.setattr(similarity, "CHUNK", 7)
    a = np.random.default_rng(3).standard_normal((40, 3))
    a[5] = 0.0
    links, weight = similarity._strongest(similarity.unit_rows(a), 0.6)
    whole = similarity.cosines(a)
    size = np.abs(whole) - 2 * np.eye(40)
    near = np.argsort(-size, axis=1)[:, : similarity.STRONGEST]
    wanted = {tuple(sorted((i, j))) for i in range(40) for j in near[i].tolist() if size[i, j] >= 0.6}
    assert {tuple(link) for link in links.tolist()} == wanted
    np.testing.assert_allclose(weight, whole[links[:, 0], links[:, 1]])
    assert (np.diff(np.abs(weight)) <= 1e-12).all()
    assert not (links == 5).any()


def test_signs_of_loadings_over_the_draws():
    x, codes, _, _ = tools.planted(6, n=60, d=15)
    settings = {"n_factors": 4, "n_top": 15}
    run = tools.run("rank_factor", tools.inputs(x, codes), settings, chains=1, warmup=60, draws=40, thin=1)
    share, mean = (run.results[name].values for name in ("top_confidence", "top_loadings"))
    assert share.shape == mean.shape
    assert share.min() >= 0
    assert share.max() == 1
    strong = np.abs(mean) > 0.7 * np.abs(mean).max()
    assert share[strong].mean() > 0.9
    assert share[strong].mean() > share[~strong].mean()
