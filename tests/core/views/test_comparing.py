"""Runs beside each other: planted things are paired whatever their order, signs and items; settings and scores."""

from dataclasses import replace

import numpy as np
import pytest
from toys import SCHEDULE, matrix

from plaidwork.core.api import Hyperparameter, Input, Model, ModelSpec, Result, Trace, Variable
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session
from plaidwork.core.views.comparing import (
    Things,
    agreement_picture,
    match,
    pairs_picture,
    scores_of,
    settings_that_differ,
    things_of,
)

ITEMS = 60


class Finder(Model):
    """Never fits; its results are put there."""

    spec = ModelSpec(
        id="toy.finder",
        version="1.0",
        title="Finder",
        summary="Finds.",
        inputs=(Input("X", dims=("row", "column")),),
        hyperparameters=(Hyperparameter("width", "float", 1.0), Hyperparameter("depth", "int", 2)),
        dims={"factor": "factors"},
        variables=(Variable("level"),),
        traces=(Trace("fit", primary=True),),
        schedule=SCHEDULE,
    )

    def init(self, data, params, rng):
        return {}

    def step(self, state, data, params, rng, clock):
        return {"fit": 0.0}

    def draws(self, state, data, params):
        return {"level": 0.0}

    def summarise(self, kept, data, params):
        return {}


def things(values, names=None, members=False):
    names = tuple(f"item {k}" for k in range(values.shape[1])) if names is None else names
    labels = tuple(f"Factor {k + 1}" for k in range(len(values)))
    return Things("factor", labels, {"column": (names, values)}, members)


def two_runs(shuffle=(2, 0, 1), noise=0.2, columns=None):
    """A session with two runs whose three factors are the same but for order, signs and noise."""
    rng = np.random.default_rng(5)
    session = Session(name="Compared")
    names = tuple(f"c{k}" for k in range(ITEMS))
    data = session.add_dataset(Dataset("data", matrix(8, ITEMS), tuple("abcdefgh"), names))
    true = rng.normal(size=(3, ITEMS))
    signs = np.array([1.0, -1.0, 1.0])
    found = []
    for values, width in (
        (true, 1.0),
        ((signs[:, None] * true + noise * rng.normal(size=true.shape))[list(shuffle)], 3.0),
    ):
        run = session.add_run(make_plan(Finder(), {"X": data}, {"width": width}, seed=len(found) + 1))
        run.results = {
            "spread": Result(np.abs(values[0]), ("column",)),
            "loadings": Result(values, ("factor", "column")),
            "loadings_sd": Result(np.full(values.shape, 0.1), ("factor", "column")),
        }
        run.results_draws = 10
        found.append(run)
    return session, found


def test_planted_factors_are_paired_whatever_their_order_and_sign():
    """Correlations of 60 items with noise of a fifth of the signal are above 0.9; of other factors below 0.5 (4 standard
    errors of 0.13)."""
    session, runs = two_runs()
    one, other = (things_of(session, run) for run in runs)
    assert (one.dim, one.members) == ("factor", False)
    assert set(one.values) == {"column"}
    paired = match(one, other)
    assert paired.partner.tolist() == [1, 2, 0]
    assert (paired.matched > 0.9).all()
    away = paired.agreement[~(np.arange(3)[None, :] == paired.partner[:, None])]
    assert (away < 0.5).all()


def test_agreement_of_a_perfect_copy_is_one_and_of_another_law_is_not():
    """Power: with no signal in common no factor counts as found again."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3, ITEMS))
    assert np.allclose(match(things(values), things(-values[::-1])).matched, 1.0)
    other = match(things(values), things(rng.normal(size=(3, ITEMS))))
    assert (other.matched < 0.6).all()


def test_memberships_are_paired_by_jaccard():
    rows = np.zeros((2, 10))
    rows[0, :4], rows[1, 5:9] = 1, 1
    other = np.zeros((3, 10))
    other[2, :3], other[0, 5:10] = 1, 1
    paired = match(things(rows, members=True), things(other, members=True))
    assert paired.partner.tolist() == [2, 0]
    assert np.allclose(paired.matched, [3 / 4, 4 / 5])
    assert paired.agreement[0, 1] == 0


def test_items_are_paired_by_name():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2, 20))
    names = tuple(f"n{k}" for k in range(20))
    order = rng.permutation(20)[:15]
    part = things(values[:, order], tuple(names[k] for k in order))
    assert np.allclose(match(things(values, names), part).matched, 1.0)
    with pytest.raises(SettingError):
        match(things(values, names), things(values, tuple(f"m{k}" for k in range(20))))


def test_more_things_than_partners():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, ITEMS))
    paired = match(things(values), things(values[[2]]))
    assert paired.partner.tolist() == [-1, -1, 0, -1]
    assert paired.matched.tolist()[:2] == [0, 0]


def test_the_picture_of_the_agreement():
    session, runs = two_runs()
    picture = agreement_picture(session, runs)
    assert picture.headline == "3 of 3 factors of Finder 1 found again in Finder 2"
    (panel,) = picture.panels
    (cells,) = panel.marks
    assert (np.diag(cells.values) > 0.9).all()  # partners stand on the diagonal
    assert panel.x.names == ("factor 2", "factor 3", "factor 1") or len(panel.x.names) == 3
    assert len(picture.table["Partner"]) == 3
    noisy = agreement_picture(session, [runs[0], two_runs(noise=30.0)[1][1]])
    assert noisy.headline.startswith("0 of 3")
    three = agreement_picture(session, [*runs, runs[0]])
    assert len(three.panels) == 2
    assert "each of the other 2" in three.headline


def test_pairs_stand_beside_each_other_with_their_signs_turned():
    session, runs = two_runs()
    picture = pairs_picture(session, runs)
    assert len(picture.panels) == 3
    for panel in picture.panels:
        points = panel.marks[-1]
        assert np.corrcoef(points.x, points.y)[0, 1] > 0.9
        assert (panel.x.low, panel.x.high) == (panel.y.low, panel.y.high)


def test_memberships_are_counted():
    session, runs = two_runs()
    for run, ends in zip(runs, ((0, 10), (2, 12)), strict=True):
        values = np.zeros((1, ITEMS))
        values[0, slice(*ends)] = 0.9
        run.results = {"members": Result(values, ("factor", "column"))}
    (panel,) = pairs_picture(session, runs).panels
    reads = panel.marks[0].read
    assert reads == ("48 in neither", "2 only in Finder 1", "2 only in Finder 2", "8 in both")


class Scored:
    """A score as ``Run.score`` gives it, of observations of its own."""

    def __init__(self, elpd, of="same"):
        self.elpd, self.of = np.asarray(elpd, dtype=float), of

    def sum(self):
        return float(self.elpd.sum()), float(np.sqrt(len(self.elpd)) * self.elpd.std(ddof=1))

    def same_observations(self, other):
        return self.of == other.of

    def difference(self, other):
        return Scored(self.elpd - other.elpd).sum()


@pytest.mark.parametrize(
    ("other", "of", "told"),
    [
        (-0.5, "same", "Finder 1 predicts best"),
        (0.5, "same", "Finder 2 predicts best"),
        (0.0, "same", "No run predicts clearly better than the others"),
        (-0.5, "others", "The scores are of different observations: they cannot be compared"),
    ],
)
def test_scores_are_ranked_by_their_paired_difference(monkeypatch, other, of, told):
    """Errors of the sums are 14 and more; paired differences of 50 have one of 1.4, those of 0 none beyond 2 errors."""
    _, runs = two_runs()
    rng = np.random.default_rng(4)
    one = rng.normal(scale=1.4, size=100)
    scores = [Scored(one), Scored(one + other + 0.1 * rng.normal(size=100) - 0.02 * (other == 0), of)]
    for run, score in zip(runs, scores, strict=True):
        monkeypatch.setattr(run, "score", lambda score=score: score)
        run.chains[0].draws.append({"level": 0.0})
    picture = scores_of(runs)
    assert picture.headline == told
    assert len(picture.table["Log density"]) == 2


def test_runs_that_cannot_be_paired_say_why():
    session, runs = two_runs()
    runs[1].results = {"loadings": replace(runs[1].results["loadings"], dims=("other", "column"))}
    assert "no factors, blocks or topics" in agreement_picture(session, runs).empty[1]
    assert not pairs_picture(session, runs).panels
    runs[1].results = {"loadings": Result(np.zeros((0, ITEMS)), ("factor", "column"))}
    assert "found nothing" in agreement_picture(session, runs).empty[1]
    with pytest.raises(SettingError):
        agreement_picture(session, runs[:1])
    assert scores_of(runs).empty[0] == "No scores"


def test_only_settings_that_differ_are_listed():
    _, runs = two_runs()
    table = settings_that_differ(runs)
    rows = dict(zip(table[""], zip(table["Finder 1"], table["Finder 2"]), strict=True))
    assert rows["Width"] == ("1", "3")
    assert rows["Seed"] == ("1", "2")
    assert not {"Depth", "Model", "Data"} & set(rows)
