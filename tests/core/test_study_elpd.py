"""Fits of a search ranked by how well they predict."""

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.study import Study
from tests import toys


class Spread(toys.Walk):
    """Cells are N(level, stride): the setting is a standard deviation."""

    likelihood_of = "X"

    def step(self, state, data, params, rng, clock):
        state["place"], state["items"] = 0.05 * rng.normal(size=len(state["place"])), np.zeros(1)
        level = float(state["place"].mean())
        return {"lp": level, "level": level}

    def log_likelihood(self, chain, draws, data, params, place, rows, columns):
        block = data["X"]
        level = np.array([float(chain.draw("level", int(draw))) for draw in draws])
        values = (block.values if block.truth is None else block.truth)[rows, columns]
        return stats.norm.logpdf(values, level[:, None], params["stride"])


def study_of(model, **options):
    rng = np.random.default_rng(0)
    study = Study.grid(model(), {"X": rng.normal(0, 1, (20, 10))}, {"stride": [0.3, 1.0, 4.0]}, **options)
    study.run(InlineExecutor)
    return study


@pytest.mark.parametrize("holdout", [0.0, 0.2])
def test_fits_are_ranked_by_what_they_predict(holdout):
    study = study_of(
        Spread, metric="elpd", holdout=holdout, schedule=toys.SCHEDULE.with_(draws=60, warmup=20)
    )
    assert study.metric.goal == "up"
    assert study.best.params["stride"] == 1.0
    for job in study.jobs:
        assert job.metrics["elpd_se"] > 0
        assert 0 <= job.metrics["elpd_rough"] <= 1
    count = 200 if not holdout else int(study.plan(study.jobs[0]).data["X"].held_out.sum())
    assert study.best.metric == pytest.approx(-1.42 * count, rel=0.25)  # the entropy of N(0, 1)


def test_a_model_without_densities_has_no_such_metric():
    study = study_of(toys.Walk)
    assert "elpd" not in {metric.key for metric in study.known_metrics()}
    assert "elpd" in {metric.key for metric in study_of(Spread).known_metrics()}


def test_fits_of_the_same_observations_are_compared_one_by_one():
    study = study_of(Spread, metric="elpd", schedule=toys.SCHEDULE.with_(draws=60, warmup=20))
    first, *rest = study.ranked()
    for job in rest:
        gap, error = job.behind(first)
        assert gap == pytest.approx(first.metric - job.metric)
        assert 0 < error < gap / 2
    assert first.behind(first) == (0.0, 0.0)
    other = study_of(Spread, holdout=0.2)
    assert other.jobs[0].behind(first) is None  # other observations
    first.clear()
    assert rest[0].behind(first) is None


def test_fits_get_weights():
    study = study_of(Spread, metric="elpd", schedule=toys.SCHEDULE.with_(draws=60, warmup=20))
    table = study.table().columns
    best = study.best.number - 1
    for title in ("Stacking weight", "Pseudo-BMA weight"):
        assert table[title].sum() == pytest.approx(1.0)
        assert table[title].argmax() == best
        assert table[title][best] > 0.8
    assert "Stacking weight" not in study_of(toys.Walk).table().columns
