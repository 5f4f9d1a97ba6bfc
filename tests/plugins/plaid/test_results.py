"""What a run shows: every declared view has its source, blocks carry no labels of a draw, time and memory."""

import time
import tracemalloc

import numpy as np
import plaid_tools as tools
import pytest
from plaid_tools import chains_of, kept_of, made_draw
from sparing import every

from plaidwork.core import fit
from plaidwork.core.api import ModelData, Result, Table
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

ROWS = np.array([np.arange(30) < 12, np.arange(30) >= 22])
COLUMNS = np.array([np.arange(40) < 15, np.arange(40) >= 28])
THETA = np.array([4.0, -3.0])


def data_with_truth(seed=0):
    x = np.einsum("k,ki,kj->ij", THETA, ROWS, COLUMNS) + np.random.default_rng(seed).standard_normal((30, 40))
    return ModelData(
        {
            "X": tools.block(x),
            "true_rows": tools.block(ROWS.T, name="true_rows"),
            "true_columns": tools.block(COLUMNS.T, name="true_columns"),
        }
    )


@pytest.mark.long
@pytest.mark.parametrize("model", every([InfinitePlaid(), BayesianPlaid()], 2), ids=["infinite", "fixed"])
def test_views_find_their_sources(model):
    data = data_with_truth()
    kept, params = chains_of(model, data, {}, 2, 150, 60)
    results = model.summarise(kept, data, params)
    for view in model.spec.views:
        for source in view.source.values():
            assert source.startswith("data:") or source in results, source
        assert all(isinstance(results[name], str) for name in (view.headline, view.caption) if name)
    blocks = results["blocks"]
    assert list(blocks.columns) == ["Block", "Rows", "Columns", "Shift", "Low", "High", "Present", "Chains"]
    assert results["fit"].values.dtype == results["coverage"].values.dtype == np.float32
    assert list(results["chains"].columns)[-2:] == ["NMI", "Used"]


@pytest.mark.long
def test_planted_blocks_are_listed():
    model, data = InfinitePlaid(), data_with_truth()
    kept, params = chains_of(model, data, {}, 2, 300, 100)
    results = model.summarise(kept, data, params)
    table = results["blocks"].columns
    assert table["Rows"][:2].tolist() == [12, 8]
    assert table["Shift"][:2] == pytest.approx(THETA, abs=0.4)
    assert (table["Low"][:2] < THETA).all()
    assert (table["High"][:2] > THETA).all()
    assert results["headline"].startswith("2 blocks cover")
    assert np.abs(results["fit"].values - np.einsum("k,ki,kj->ij", THETA, ROWS, COLUMNS)).mean() < 0.3


def test_order_of_blocks_in_a_draw_does_not_matter():
    model, data = InfinitePlaid(), data_with_truth()
    plain = [made_draw(ROWS, COLUMNS, THETA) for _ in range(10)]
    mixed = [d if i % 2 else made_draw(ROWS[::-1], COLUMNS[::-1], THETA[::-1]) for i, d in enumerate(plain)]
    found = [
        model.summarise(kept_of(model, [draws]), data, model.spec.check_params({}))
        for draws in (plain, mixed)
    ]
    for name, result in found[0].items():
        if isinstance(result, Result) and result.values.dtype.kind == "U":
            assert result.values.tolist() == found[1][name].values.tolist()
        elif isinstance(result, Result):
            np.testing.assert_allclose(result.values, found[1][name].values, rtol=1e-6, err_msg=name)
        elif isinstance(result, Table):
            assert all((result.columns[c] == found[1][name].columns[c]).all() for c in result.columns), name


def test_chain_far_below_the_best_is_left_out_and_said():
    model, data = InfinitePlaid(), data_with_truth()
    good = [made_draw(ROWS, COLUMNS, THETA, -100.0 - i % 3) for i in range(20)]
    bad = [made_draw(~ROWS, COLUMNS, THETA, -900.0) for _ in range(20)]
    results = model.summarise(kept_of(model, [good, bad]), data, model.spec.check_params({}))
    assert results["chains"].columns["Used"].tolist() == ["yes", "no"]
    assert "from the best of 2 chains" in results["caption"]
    assert "under Co-membership" in results["caption"]
    assert results["headline"].endswith("in the best chain")
    assert results["blocks"].label == "Blocks of the best chain"
    assert results["blocks"].columns["Chains"].tolist() == [1, 1]
    assert results["block_rows"].values[0] == pytest.approx(ROWS[0].astype(float))


@pytest.mark.parametrize("n_draws", [0, 1])
def test_snapshot_before_and_at_the_first_draw(n_draws):
    model, data = InfinitePlaid(), data_with_truth()
    nothing = made_draw(np.zeros((0, 30), bool), np.zeros((0, 40), bool), np.zeros(0), -1.0)
    results = model.summarise(kept_of(model, [[nothing] * n_draws]), data, model.spec.check_params({}))
    assert results["headline"] == ("No draws yet" if n_draws == 0 else "No block found")


@pytest.mark.parametrize(
    ("shape", "n_draws"),
    [
        ((100, 200), 100),
        pytest.param((2000, 1500), 20, marks=pytest.mark.slow),
        pytest.param((100, 200), 1000, marks=pytest.mark.slow),
        pytest.param((2000, 1500), 100, marks=pytest.mark.slow),
    ],
)
def test_time_and_memory(shape, n_draws):
    model, rng = InfinitePlaid(), np.random.default_rng(0)
    data = ModelData({"X": tools.block(rng.standard_normal(shape))})
    rows, columns = (rng.random((10, n)) < 0.15 for n in shape)
    chains = [
        [
            made_draw(rows, columns, rng.standard_normal(10), float(rng.standard_normal()))
            for _ in range(n_draws)
        ]
        for _ in range(4)
    ]
    kept = kept_of(model, chains)
    model.summarise(kept_of(model, [chains[0][:2]]), data, model.spec.check_params({}))  # loads the kernels
    start = time.process_time()
    model.summarise(kept, data, model.spec.check_params({}))
    assert time.process_time() - start < 6.0  # about 1.5 s on an idle machine
    tracemalloc.start()
    model.summarise(kept, data, model.spec.check_params({}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 8 * np.prod(shape) + 6e7


def test_levels_of_rows_and_columns_stand_beside_their_memberships():
    rng = np.random.default_rng(3)
    rows, columns = 2.0 * rng.standard_normal(40), 2.0 * rng.standard_normal(30)
    x = rows[:, None] + columns + 0.3 * rng.standard_normal((40, 30))
    found, plain = (
        fit(
            "infinite_plaid",
            {"X": x},
            params,
            seed=1,
            chains=1,
            warmup=warmup,
            draws=draws,
            executor="inline",
        ).results
        for params, warmup, draws in (({"effects": True}, 60, 40), ({"effects_if_needed": False}, 4, 4))
    )
    for side, levels in (("row", rows), ("column", columns)):
        table = found[f"{side}_memberships"]
        assert list(table.columns)[:2] == [side.capitalize(), "Level"]
        np.testing.assert_allclose(table.columns["Level"], levels - levels.mean(), atol=1.5)
        assert np.corrcoef(table.columns["Level"], levels)[0, 1] > 0.99
    assert "Level" not in plain["row_memberships"].columns
