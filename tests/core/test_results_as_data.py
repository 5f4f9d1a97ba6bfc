"""Results of one run as data of another: what is offered, what comes with the values, and a fit to them."""

import json

import numpy as np
import pytest

from plaidwork.core.cli import main
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SessionError
from plaidwork.core.session.fitting import fit
from plaidwork.core.session.results_as_data import data_of, results_as_data
from plaidwork.core.session.session import Session, open_session


@pytest.fixture(scope="module")
def factors():
    """A session with a short fit of two views of 30 samples in two groups."""
    rng = np.random.default_rng(4)
    group = np.repeat([-2.0, 2.0], 15)
    names = tuple(f"s{n}" for n in range(30))
    session = Session("factors")
    for view, count in (("genes", 12), ("drugs", 9)):
        values = np.outer(group, rng.normal(size=count)) + rng.normal(size=(30, count))
        columns = tuple(f"{view} {k}" for k in range(count))
        table = {"group": np.where(group > 0, "high", "low").astype(object)}
        session.add_dataset(
            Dataset(view, values, names, columns, row_table=table, row_label="patients", column_label=view)
        )
    views = [session.datasets["genes"], session.datasets["drugs"]]
    run = fit(
        "group_factor",
        {"views": views},
        {"n_factors": 3},
        max_sweeps=30,
        chains=1,
        session=session,
        executor="inline",
    )
    return session, run


def test_what_is_found_of_samples_and_features_is_offered(factors):
    session, run = factors
    offered = {one.name: one for one in results_as_data(run, session.datasets)}
    assert offered["scores"].shape == run.results["scores"].values.shape
    assert offered["scores"].of == "samples"
    assert offered["loadings:drugs"].shape == (9, offered["scores"].shape[1])
    assert offered["loadings:drugs"].of == "features"
    assert "variance_explained" not in offered  # neither samples nor features
    assert "correlation" not in offered


def test_scores_come_with_names_annotations_and_their_history(factors):
    session, run = factors
    made = data_of(run, session.datasets, "scores")
    assert np.array_equal(made.values, run.results["scores"].values)
    assert made.row_names == session.datasets["genes"].row_names
    assert made.column_names == tuple(run.results["factor"].values)
    assert list(made.row_table["group"]) == list(session.datasets["genes"].row_table["group"])
    assert (made.row_label, made.column_label, made.samples_in) == ("patients", "factors", "rows")
    for part in (run.title, "“genes”", "“drugs”", "seed 1"):
        assert part in made.source.note


def test_weights_are_those_of_their_matrix(factors):
    session, run = factors
    made = data_of(run, session.datasets, "loadings:drugs")
    assert made.row_names == session.datasets["drugs"].column_names
    view = run.results["variable_view"].values
    assert np.array_equal(made.values, run.results["loadings"].values[:, view == "drugs"].T)


def test_factors_have_the_names_that_the_user_gave_them(factors, monkeypatch):
    session, run = factors
    monkeypatch.setitem(run.item_names, "factor", {"0": "Outcome"})
    assert data_of(run, session.datasets, "scores").column_names[0] == "Outcome"


def test_a_result_that_is_not_there_is_told_with_those_that_are(factors):
    session, run = factors
    with pytest.raises(SessionError, match="“nonsense”") as told:
        data_of(run, session.datasets, "nonsense")
    assert "scores" in told.value.hint


def test_the_command_lists_and_adds(factors, tmp_path, capsys):
    session, _ = factors
    path = tmp_path / "a.plaidwork"
    session.save(path)
    assert main(["data", str(path), "--json"]) == 0
    assert "scores" in [one["name"] for one in json.loads(capsys.readouterr().out)]
    assert main(["data", str(path), "scores", "loadings:drugs"]) == 0
    told = capsys.readouterr().out
    added = open_session(path).datasets
    assert len(added) == 4
    for name in [*added][2:]:
        assert name in told
    assert main(["data", str(path), "nonsense"]) == 2
    assert "There are: scores" in capsys.readouterr().err


@pytest.mark.long
def test_factors_are_clustered_and_the_clusters_are_labels(factors):
    """The two groups of samples come back as clusters of the factor values; their labels can be fitted to again."""
    session, run = factors
    scores = data_of(run, session.datasets, "scores")
    clusters = fit(
        "dp_mixture", {"views": [scores]}, chains=2, warmup=60, draws=60, budget=0, executor="inline"
    )
    labels = data_of(clusters, {scores.name: scores}, "labels")
    assert labels.kind == "categorical"
    assert labels.row_names == scores.row_names
    given = list(scores.row_table["group"])
    pairs = {(labels.categories[code], word) for code, word in zip(labels.values, given)}
    assert len(pairs) == len({word for _, word in pairs}) == 2, pairs
