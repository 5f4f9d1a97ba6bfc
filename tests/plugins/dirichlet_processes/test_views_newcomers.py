"""New samples of several views: their clusters and density against sums over all blocks and clusters, and what was planted."""

import numpy as np
import pytest
from dp_tools import Chain, Chains
from mv_rows import GIVEN, Placed, plain
from mv_tools import GAP, MODEL, keep, matrices, planted
from plaid_tools import with_fault

from plaidwork.core import fit
from plaidwork.core.analysing import run_analysis
from plaidwork.core.findings.new_samples import new_samples
from plaidwork.plugins.dirichlet_processes.multi_view import newcomers as placing
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import newcomers

DEFAULTS = MODEL.spec.check_params({})
NEW = {
    "all views": {"a": [1.9, 0.1], "b": [1, 2], "c": [5.0]},
    "one view": {"a": [1.9, GAP], "b": [GAP, GAP], "c": [GAP]},
    "a cell of two views": {"a": [GAP, GAP], "b": [GAP, 0], "c": [7.0]},
}
DRAWS = (
    Placed(),
    Placed(beta=((0.1, 0.3), (0.6, 0.2), (0.3, 0.3, 0.3)), a0=2.0, alpha=(0.4, 3.0, 1.0)),
)
"""The same blocks and clusters, so that every cluster of a draw is one of those shown."""


def expected(row, params):
    """Probability of each cluster of the draws and a new one by view, and log density, averaged over the draws."""
    shares, densities = [], []
    for placed in DRAWS:
        whole = {name: np.vstack([values, row[name]]) for name, values in GIVEN.items()}
        unknown = {name: np.vstack([values, np.full(values.shape[1], GAP)]) for name, values in GIVEN.items()}
        terms = placed.terms(whole, 5, params, (0, 1, 2))
        total = np.logaddexp.reduce(list(terms.values()))
        chance = {key: np.exp(one - total) for key, one in terms.items()}
        shares.append([
            [sum(one for key, one in chance.items() if key[1 + v] == c) for c in range(len(beta) + 1)]
            for v, beta in enumerate(placed.beta)
        ])  # fmt: skip
        before = np.logaddexp.reduce(list(placed.terms(unknown, 5, params, (0, 1, 2)).values()))
        densities.append(total - before)
    means = [np.mean([one[v] for one in shares], axis=0) for v in range(3)]
    return means, np.logaddexp.reduce(densities) - np.log(len(DRAWS))


def distances(kind):
    """Of clusters and density of a new sample from those sums, the largest."""
    data, params, row = matrices(**GIVEN), plain(), NEW[kind]
    given = {name: [values] for name, values in row.items() if not np.isnan(values).all()}
    kept = Chains([Chain([placed.draw(data, params)]) for placed in DRAWS])
    found = MODEL.predict(kept, data, matrices(**given), params)
    shares, density = expected(row, params)
    off = [abs(found["assignments"].columns["Log density"][0] - density)]
    for v, (share, labels) in enumerate(zip(shares, DRAWS[0].clusters, strict=True)):
        names = found[f"place_{v + 1}"].values
        shown = MODEL.summarise(kept, data, params)["labels"].values[v]
        order = [shown[labels.index(k)] for k in range(len(share) - 1)]
        assert names[-1] == "None of them"
        off.append(np.abs(found[f"probability_{v + 1}"].values[0][[*order, -1]] - share).max())
    return max(off)


@pytest.mark.parametrize("kind", NEW)
def test_clusters_and_density_of_a_new_sample(kind):
    assert distances(kind) < 1e-9


FAULTS = {
    "a new cluster forgotten": ("place_new", "share[i, slots + v] += part * free", "pass"),
    "the number of samples forgotten": ("place_new", "links.members.sum() + a0", "1.0 + a0"),
    "blocks not weighed by the row": ("place_new", "weights[k] - total - log_terms", "-log_terms"),
    "clusters of a block not counted": ("term", "float(links.uses[k, s]) if", "0.0 if"),
    "a lacking view counted": ("weigh_row", "density[s] = 1.0", "density[s] = 0.5"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_new_sample_are_found(fault, monkeypatch):
    name, old, new = FAULTS[fault]
    wrong = with_fault(getattr(newcomers, name), old, new)
    if name == "term":
        names = {"term": wrong, "log_terms": with_fault(newcomers.log_terms, term=wrong)}
        wrong = with_fault(newcomers.place_new, **names)
    elif name != "place_new":
        wrong = with_fault(newcomers.place_new, **{name: wrong})
    monkeypatch.setattr(placing, "place_new", wrong)
    assert max(distances(kind) for kind in NEW) > 1e-3


@pytest.mark.long
def test_clusters_of_a_view_are_predicted_from_another():
    """Of planted views with one clustering; a sample far off is like none of the clusters of its view."""
    data, truth = planted("identical", n=150)
    fitted = {block.name: np.where(block.observed, block.values, GAP)[:100] for block in data["views"]}
    old = matrices(**fitted)
    kept = keep(old, DEFAULTS, 2, 60, 30)
    shown = MODEL.summarise(kept, old, DEFAULTS)["labels"].values
    both = (shown >= 0).all(axis=0)
    match = {
        k: np.bincount(truth[1][:100][both & (shown[1] == k)]).argmax() for k in range(shown[1].max() + 1)
    }
    first = data["views"][0]
    there = 100 + np.flatnonzero(first.observed[100:].all(axis=1))
    found = MODEL.predict(kept, old, matrices(a=[*first.values[there], np.full(4, 90.0)]), DEFAULTS)
    probability = found["probability_2"].values
    assert probability.sum(axis=1) == pytest.approx(np.ones(len(there) + 1))
    right = [match.get(int(k), -1) == one for k, one in zip(probability[:-1].argmax(axis=1), truth[1][there], strict=True)]  # fmt: skip
    assert np.mean(right) > 0.9
    assert np.median(probability[:-1].max(axis=1)) > 0.8
    assert found["probability_1"].values[-1, -1] > 0.9
    m = len(there) + 1
    assert found["headline"] == f"{m} new samples, 1 like none of the clusters in “a”, {m} without “b” (predicted from “a”)"  # fmt: skip
    assert set(found["assignments"].columns["Views given"]) == {"a"}


@pytest.mark.long
def test_the_page_of_new_samples_takes_one_view_or_several():
    """Through the host: matrices told apart by their columns, tables and maps with names of the fit's clusters."""
    rng = np.random.default_rng(4)
    kind = np.repeat([0, 1], 20)
    a, b = (8.0 * kind[:, None] + rng.normal(size=(40, 2)) for _ in range(2))
    run = fit(
        "multi_view_clusters", {"views": {"a": a[:30], "b": b[:30]}}, seed=2, chains=2, warmup=30, draws=10
    )
    for given in ({"a": a[30:]}, {"b": b[30:], "a": a[30:]}):
        record = run_analysis(run, "multi_view_clusters.new_samples", {"new_views": given})
        found = record.results
        table, share = found["assignments"].columns, found["probability_2"]
        assert share.values.shape == (10, len(found["place_2"].values))
        assert share.dims == ("new_sample", "place_2")
        assert set(table["Views given"]) == {", ".join(sorted(given))}
        largest = found["place_2"].values[share.values.argmax(axis=1)]
        assert (largest == table["Cluster in b"]).all()
        assert share.values[:, -1].max() < 0.5
        shown = new_samples(type(MODEL))().views(found)
        assert {view.kind for view in shown} == {"table", "heatmap"}
