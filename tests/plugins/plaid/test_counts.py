"""Plaid of counts and links: planted blocks, sparse and missing cells, what is said before and after."""

import numpy as np
import plaid_counts_tools as counts
import plaid_tools as tools
import pytest
from scipy.sparse import csr_matrix

from plaidwork.core import fit
from plaidwork.core.api import Clock
from plaidwork.plugins.plaid.counts.draws import CountDraw, draw_of, log_probability
from plaidwork.plugins.plaid.counts.entries import entries_of, make_entries
from plaidwork.plugins.plaid.counts.model import PlaidCounts
from plaidwork.plugins.plaid.counts.results import about_levels, count_doubts, dispersion
from plaidwork.plugins.plaid.kernels import counts_draw, counts_scan
from plaidwork.plugins.plaid.models import InfinitePlaid

MODEL = PlaidCounts()


def settings(**more):
    return MODEL.spec.check_params(more)


def chain(data, seed, sweeps, warmup, **more):
    """(state, traces by name) of the sweeps after the warm-up."""
    state, traces = tools.run(MODEL, data, more, seed, warmup, sweeps)
    return state, {name: trace[warmup:] for name, trace in traces.items()}


ALIKE = {"row_degrees": False, "column_degrees": False}
"""A single block is the product of a row and a column factor: with degrees these would do."""


@pytest.mark.long
def test_a_planted_block_is_found_in_counts_and_in_links():
    for links in (False, True):
        values, rows, columns = counts.planted(3, n=60, levels=(1.0,), share=0.3, links=links)
        _, traces = chain(counts.with_truth(values, rows, columns), 1, 60, 60, **ALIKE)
        assert traces["nmi"].max() > 0.95
        assert np.median(traces["n_blocks"]) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("links", [False, True], ids=["counts", "links"])
@pytest.mark.parametrize("degrees", [0.0, 0.7], ids=["alike", "degrees"])
def test_four_planted_blocks(links, degrees):
    """Of 4 chains 3 at least end at the planted blocks; surplus small ones may come and go."""
    values, rows, columns = counts.planted(1, n=240, links=links, degrees=degrees)
    data = counts.with_truth(values, rows, columns)
    nmi = [chain(data, seed, 60, 200, blocks_add="alike")[1]["nmi"].max() for seed in range(4)]
    assert sum(value > 0.9 for value in nmi) >= 3


def test_sparse_and_dense_data_give_the_same_draws():
    values, rows, columns = counts.planted(2, n=40, levels=(1.0,), share=0.3)
    states = [
        chain(counts.with_truth(form(values), rows, columns), 4, 10, 10)[0] for form in (np.array, csr_matrix)
    ]
    one, other = (state["copies"]["0"] for state in states)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_fit_never_makes_a_sparse_matrix_dense(monkeypatch):
    values, rows, columns = counts.planted(2, n=40, levels=(1.0,), share=0.3)
    data = counts.with_truth(csr_matrix(values), rows, columns)

    def refused(self, *args, **more):
        raise AssertionError("made dense")

    for name in ("toarray", "todense"):
        monkeypatch.setattr(csr_matrix, name, refused)
    chain(data, 4, 5, 5)
    assert not [p for p in MODEL.validate(data, settings()) if p.severity == "error"]


def test_a_sparse_fit_from_end_to_end(tmp_path):
    values, _, _ = counts.planted(2, n=40, levels=(1.2,), share=0.3)
    run = fit("plaid_counts", {"X": csr_matrix(values)}, seed=1, chains=2, warmup=30, draws=30)
    assert run.results["fit"].values.shape == (40, 40)
    assert run.results["coverage"].values.max() <= 1.0
    run.save(tmp_path / "links.plaidwork")
    assert (tmp_path / "links.plaidwork").stat().st_size > 0


def test_evidence_is_the_change_of_the_likelihood():
    """Of every row and column, with missing cells and other blocks, for counts and for links."""
    rng = np.random.default_rng(0)
    values, known = rng.poisson(0.8, (7, 6)).astype(float), rng.random((7, 6)) < 0.8
    rest = 0.1 + rng.random((7, 6))
    picked = rng.random(6) < 0.6
    for links in (False, True):
        data = tools.matrix(values, observed=known)
        entries = make_entries(data, settings(likelihood="bernoulli" if links else "poisson"))
        rates = rest[entries.row, entries.column]
        gain = counts_scan.evidence(entries, entries.by_columns, rates, picked, 0.7, 7)
        shown = np.minimum(values, 1) if links else values
        change = log_probability(shown, rest + 0.7 * picked, links) - log_probability(shown, rest, links)
        assert gain == pytest.approx((change * known).sum(axis=1))


def test_the_likelihood_is_that_of_all_observed_cells():
    data = tools.matrix(counts.SMALL, observed=counts.SMALL_KNOWN)
    rows, columns = np.array([[1, 1, 0], [0, 1, 1]], bool), np.array([[1, 0, 1], [1, 1, 0]], bool)
    u, v, theta = np.array([0.5, 2.0, 1.0]), np.array([1.0, 0.3, 2.0]), np.array([0.6, 1.4])
    draw = CountDraw(rows, columns, theta, 0.4, u, v, False, False)
    for links in (False, True):
        entries = make_entries(data, settings(likelihood="bernoulli" if links else "poisson"))
        found = counts_draw.log_likelihood(entries, rows, columns, theta, 0.4, u, v)
        wanted = log_probability(counts.SMALL, draw.rates(), links)
        if not links:
            from scipy.special import gammaln

            wanted = wanted + gammaln(counts.SMALL + 1)
        assert found == pytest.approx(wanted[counts.SMALL_KNOWN].sum(), rel=1e-5)


def test_held_out_cells_do_not_enter_the_fit_and_are_scored():
    values, *_ = counts.planted(2, n=40, levels=(1.0,), share=0.3)
    held = np.random.default_rng(0).random(values.shape) < 0.2
    found = [
        chain(tools.matrix(np.where(held, other, values), held_out=held), 3, 10, 10)
        for other in (values, np.full(values.shape, 1.0))
    ]
    one, other = (state["copies"]["0"] for state, _ in found)
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert found[0][1]["held_out"][-1] > found[1][1]["held_out"][-1]


def test_densities_of_cells_of_a_sparse_matrix():
    values, rows, columns = counts.planted(2, n=40, levels=(1.0,), share=0.3)
    data, params = counts.with_truth(csr_matrix(values), rows, columns), settings()
    rng = tools.generator(1)
    state = MODEL.init(data, params, rng)
    tools.sweep(MODEL, state, data, params, rng, Clock(0, 0))
    kept = tools.kept_of_draws(MODEL, [MODEL.draws(state, data, params)])
    i, j = np.array([0, 5, 39]), np.array([2, 7, 39])
    found = MODEL.log_likelihood(kept, np.array([0]), data, params, 0, i, j)
    draw = draw_of(kept, 0, entries_of(data, params).links, True)
    assert found[0] == pytest.approx(draw.density(i, j, values[i, j]))


def messages(values, severity, **more):
    data = more.pop("data", None) or tools.matrix(values)
    return [p.message for p in MODEL.validate(data, settings(**more)) if p.severity == severity]


def test_what_is_said_before_a_fit():
    links = np.eye(6)
    assert "All observed cells are 0" in messages(np.zeros((3, 3)), "error")[0]
    assert "All observed cells equal 1" in messages(np.ones((3, 3)), "error")[0]
    assert "No cell is 0" in messages(np.ones((3, 3)) + np.eye(3), "error", likelihood="bernoulli")[0]
    assert not messages(links, "error")
    uneven = links * np.arange(6.0) ** 4
    assert any("vary" in text for text in messages(uneven, "warning"))
    assert not any("vary" in text for text in messages(uneven, "warning", likelihood="bernoulli"))


def test_the_gaussian_model_names_the_one_for_counts():
    values = np.zeros((20, 20))
    values[:3, :4] = 1.0
    model = InfinitePlaid()
    (hint,) = (
        p.hint for p in model.validate(tools.matrix(values), model.spec.check_params({})) if "mostly" not in p.where
        if p.message.startswith("97 %")
    )  # fmt: skip
    assert "Plaid of counts and links" in hint


def test_what_is_said_after_a_fit():
    rng = np.random.default_rng(1)
    expected = np.full((30, 30), 2.0)
    for spread, varies in ((0.0, False), (1.0, True)):
        values = rng.poisson(expected * np.exp(spread * rng.standard_normal(expected.shape))).astype(float)
        entries = make_entries(tools.matrix(values), settings(likelihood="poisson"))
        found, cells = dispersion(entries, expected.astype(np.float32))
        assert cells == 900
        assert found == pytest.approx(((values - 2) ** 2).sum() / 1800, rel=1e-5)
        text = count_doubts(entries, [np.array([3, 4])], 9, expected)
        assert ("0/1" in text) == varies
    assert "At most" in count_doubts(entries, [np.array([9, 9])], 9, None)


def test_levels_that_may_have_taken_a_block_over_are_told():
    values, *_ = counts.planted(2, n=30, levels=(1.2,), share=0.3)
    for levels in (True, False):
        more = {"row_degrees": levels, "max_blocks": 1}
        run = fit(
            "plaid_counts", {"X": values}, more, seed=1, chains=1, warmup=20, draws=20, executor="inline"
        )
        assert ("taken over by the levels" in run.results["caption"]) == levels
    assert not about_levels(2, True)


def test_slices_and_copies_go_on_alike(monkeypatch):
    import copy

    from plaidwork.plugins.plaid.counts import sweep

    values, rows, columns = counts.planted(2, n=30, levels=(1.0,), share=0.3)
    data, params = counts.with_truth(values, rows, columns), settings()
    monkeypatch.setattr(sweep, "SLICE_ENTRIES", 1)
    found = []
    for saved in (False, True):
        rng = tools.generator(4)
        state = MODEL.init(data, params, rng)
        for t in range(12):
            while MODEL.step(state, data, params, rng, Clock(t, 8)) is None:
                if saved:
                    state, rng = copy.deepcopy(state), copy.deepcopy(rng)
        found.append(state["copies"]["0"])
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])
