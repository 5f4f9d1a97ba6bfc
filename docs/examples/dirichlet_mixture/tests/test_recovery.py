"""Planted clusters are found, with the right words; bad data are refused with words."""

from __future__ import annotations

import copy
import csv
from importlib import resources

import numpy as np
import pytest
from exact import block

import plaidwork_dirichlet_mixture as package
from plaidwork.core.api import POSITION, Clock, ModelError
from plaidwork_dirichlet_mixture import model, sweep
from plaidwork_dirichlet_mixture.model import DirichletMixture
from plaidwork_dirichlet_mixture.partitions import distances
from plaidwork_dirichlet_mixture.starts import new_state, scaling

MODEL = DirichletMixture()


class Chain:
    """What one chain kept, as ``summarise`` reads it."""

    def __init__(self, found):
        self.found, self.n_draws = found, len(found)

    def draw(self, name, i):
        return np.asarray(self.found[i][0][name])

    def stack(self, name):
        return np.array([draws[name] for draws, _ in self.found])

    def kept_trace(self, name):
        return np.array([traces[name] for _, traces in self.found])


class Chains:
    """What all chains kept."""

    def __init__(self, chains):
        self.chains = tuple(chains)


def fit(data, params, chains=2, warmup=60, draws=80):
    """Chains by hand, as the host makes them, and their results."""
    kept = []
    for chain in range(chains):
        rng = np.random.Generator(np.random.PCG64DXSM([7, chain]))
        state, found, sweep = MODEL.init(data, params, rng), [], 0
        while sweep < warmup + draws:
            traces = MODEL.step(state, data, params, rng, Clock(sweep, warmup))
            if traces is None:
                continue
            sweep += 1
            if sweep > warmup:
                found.append((MODEL.draws(state, data, params), traces))
        kept.append(Chain(found))
    return MODEL.summarise(Chains(kept), data, params)


def planted(n=120, d=3, seed=9):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    centres = np.array([[4.0] * d, [-4.0] * d, [4.0, -4.0] * d][:3], dtype=object)
    values = np.array([np.array(centres[k][:d], float) for k in truth]) + rng.normal(size=(n, d))
    return 10 * values + 50, truth


@pytest.mark.parametrize("form", ["full", "diagonal"])
def test_planted_clusters(form):
    values, truth = planted()
    found = fit(block(values), MODEL.spec.check_params({"covariance": form, "within": 0.1}))
    assert distances(found["labels"].values, truth[None])[0] < 0.1  # one outlier may stand alone
    assert (found["clusters"].columns["Items"] > 5).sum() == 3
    assert found["headline"].startswith(f"{len(found['clusters'])} clusters of 120 items: ")
    assert found["number"].values[found["number_probability"].values.argmax()] in (3, 4)
    assert found["credible_ball"].values < 1.0
    detail = found["centres"].columns
    first = values[found["labels"].values == 0].mean(axis=0)
    assert detail["Mean"][:3].astype(float) == pytest.approx(first, abs=1.0)
    assert np.all((detail["Low"][:3] < first) & (first < detail["High"][:3]))


def test_missing_cells_are_integrated_out():
    values, truth = planted()
    values[np.random.default_rng(1).random(values.shape) < 0.1] = np.nan
    known = ~np.isnan(values).all(axis=1)
    found = fit(block(values[known]), MODEL.spec.check_params({"covariance": "diagonal", "within": 0.1}))
    assert (found["clusters"].columns["Items"] > 5).sum() == 3
    assert distances(found["labels"].values, truth[known][None])[0] < 0.4


def sample_data():
    folder = resources.files(package) / "samples" / "four-groups"
    rows = list(csv.reader((folder / "pebbles.csv").read_text(encoding="utf-8").splitlines()))[1:]
    groups = [row[1] for row in csv.reader((folder / "truth.csv").read_text(encoding="utf-8").splitlines())][
        1:
    ]
    return np.array([[float(cell) for cell in row[1:]] for row in rows]), np.unique(
        groups, return_inverse=True
    )[1]


def test_the_four_kinds_of_pebbles():
    values, truth = sample_data()
    found = fit(block(values), MODEL.spec.check_params({}))
    assert len(found["clusters"]) == 4
    assert distances(found["labels"].values, truth[None])[0] < 0.4


def test_the_example_is_complete():
    (sample,) = package.plaidwork_samples()
    assert sample.model == MODEL.spec.id
    data = sample.load()["X"]
    assert data.shape == (170, 5)
    assert data.row_names[0] == "pebble 001"


@pytest.mark.parametrize(
    ("values", "settings", "words"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], {}, "1 cell is missing; the full form needs every cell"),
        ([[np.nan, np.nan], [2.0, 3.0]], {"covariance": "diagonal"}, "1 row has no known cell: “i1”"),
    ],
)
def test_gaps_are_refused_with_words(values, settings, words):
    params = MODEL.spec.check_params(settings)
    (problem,) = [p for p in MODEL.validate(block(values), params) if p.severity == "error"]
    assert words in problem.message
    assert problem.hint
    with pytest.raises(ModelError, match=words[:20]):
        MODEL.init(block(values), params, np.random.default_rng(1))


def test_what_is_noteworthy_is_said():
    said = [p.message for p in MODEL.validate(block([[1.0, 2.0], [1.0, 3.0]]), MODEL.spec.check_params({}))]
    assert said == ["All known cells of column “f1” are equal."]
    assert MODEL.validate(block([[1.0]]), MODEL.spec.check_params({}))[0].message == "The matrix has one row."


def test_a_long_sweep_comes_in_slices():
    values = np.random.default_rng(2).normal(size=(400, 150))
    data, params = block(values), MODEL.spec.check_params({})
    rng = np.random.default_rng(3)
    state = MODEL.init(data, params, rng)
    slices = 1
    while MODEL.step(state, data, params, rng, Clock(0, 1)) is None:
        slices += 1
    assert slices > 2


def test_a_state_of_version_1_goes_on_in_the_middle_of_a_sweep(monkeypatch):
    """There phases 0, 1 and 6 of ``at`` were what are stages today, with the row in ``at`` too."""
    monkeypatch.setattr(model, "SLICE", 2)
    data, params = block(planted(30)[0]), MODEL.spec.check_params({"launch_scans": 1})
    rng, stopped = np.random.Generator(np.random.PCG64DXSM(1)), []
    state = MODEL.init(data, params, rng)
    while MODEL.step(state, data, params, rng, Clock(0, 0)) is None:
        stopped.append((copy.deepcopy(state), copy.deepcopy(rng)))
    phases = {"clusters": 0, "labels": 1, "splits and merges": 2, "means and alpha": 6}
    assert {old[POSITION]["stage"] for old, _ in stopped} == set(phases)
    for old, bits in stopped:
        stage, row = old.pop(POSITION).values()
        if stage == "splits and merges":
            old["at"][sweep.PHASE] += 2
        else:
            old["at"][[sweep.PHASE, sweep.ROW]] = phases[stage], row
        again = MODEL.upgrade_state(old, 1, data, params)
        while MODEL.step(again, data, params, bits, Clock(0, 0)) is None:
            pass
        assert again["labels"].tolist() == state["labels"].tolist()
        assert again["alpha"] == state["alpha"]


def test_moves_cross_between_modes():
    """Two near groups of 1000 items are better one cluster by 70 nats: single items never get there, moves do."""
    rng = np.random.default_rng(0)
    centres = 2 * rng.normal(size=(6, 10))
    groups = rng.integers(0, 6, 1000)
    data = block(centres[groups] + rng.normal(size=(1000, 10)))
    reached = {}
    for moves in (0, 3):
        params = MODEL.spec.check_params({"split_merge": moves})
        state = new_state(groups, 1.0, *scaling(data["X"], True), params)
        traces = [MODEL.step(state, data, params, rng, Clock(sweep, 0)) for sweep in range(120)]
        reached[moves] = np.mean([found["log_joint"] for found in traces[-20:] if found])
    assert reached[3] > reached[0] + 40
