"""Fits of a search ranked by how well they predict, in all and view by view."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.cli.studying import _print_by_view
from plaidwork.core.contract.spec import Input
from plaidwork.core.errors import SettingError
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

    def log_likelihood(self, chain, draws, data, params, index, rows, columns):
        block = data["X"]
        level = np.array([float(chain.draw("level", int(draw))) for draw in draws])
        values = (block.values if block.truth is None else block.truth)[rows, columns]
        return stats.norm.logpdf(values, level[:, None], params["stride"])


class InViews(Spread):
    """Several matrices, every cell N(0, stride)."""

    spec = replace(
        Spread.spec,
        id="toy.in_views",
        inputs=(Input("X", missing=True, holdout="cells", many=True),),
        variables=Spread.spec.variables[1:2],
        views=(),
    )

    def init(self, data, params, rng):
        return {"sweep": 0, "place": np.zeros(3)}

    def step(self, state, data, params, rng, clock):
        return {"lp": 0.0, "level": 0.0}

    def draws(self, state, data, params):
        return {"level": 0.0}

    def summarise(self, kept, data, params):
        return {}

    def log_likelihood(self, chain, draws, data, params, index, rows, columns):
        block = data["X"][index]
        values = (block.values if block.truth is None else block.truth)[rows, columns]
        return stats.norm.logpdf(np.broadcast_to(values, (len(draws), len(rows))), 0.0, params["stride"])


def in_views(seeds=(1, 2), **options):
    """A narrow view, for which 0.3 is best, and a wide one, for which 4 is, 1 and 4 in doubt for a third."""
    rng = np.random.default_rng(5)
    views = [rng.normal(0, spread, (30, 20)) for spread in (0.3, 4.0)]
    study = Study.grid(
        InViews(),
        {"X": views},
        {"stride": [0.3, 1.0, 4.0]},
        seeds=seeds,
        holdout=0.3,
        metric="elpd",
        **options,
    )
    study.run(InlineExecutor)
    return study


def test_each_view_has_its_own_best_setting(capsys):
    study = in_views()
    found = study.by_view().columns
    rows = list(zip(*(found[head].tolist() for head in ("View", "stride", "Note", "Below the best", "Fits"))))
    views = list(dict.fromkeys(found["View"].tolist()))
    best = {view: stride for view, stride, note, _, _ in rows if note == "best"}
    assert best == {views[0]: 0.3, views[1]: 4.0}
    assert {fits for *_, fits in rows} == {2}
    place = rows.index((views[0], 1.0, "", pytest.approx(rows[1][3]), 2))
    jobs = {(job.params["stride"], job.seed): job for job in study.jobs}
    apart = [jobs[1.0, seed].behind(jobs[0.3, seed], 0) for seed in (1, 2)]
    assert found["Below the best"][place] == pytest.approx(np.mean([one[0] for one in apart]))
    errors = [one[1] for one in apart]
    assert found["SE of the difference"][place] == pytest.approx(np.hypot(*errors) / 2)
    cells = study.plan(study.jobs[0]).data["X"][0]
    own = stats.norm.logpdf(cells.truth[cells.held_out], 0, 0.3)
    assert jobs[0.3, 1].metrics[f"elpd {views[0]}"] == pytest.approx(own.sum())
    assert jobs[0.3, 1].metrics[f"elpd_se {views[0]}"] == pytest.approx(own.std() * len(own) ** 0.5)
    assert jobs[0.3, 1].score.by_block()[views[0]] == jobs[0.3, 1].score.sum(0)
    _print_by_view(study)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert lines[1].startswith(f"  {views[0]}  stride 0.3  ")
    assert lines[1].endswith("  best")
    assert lines[2].endswith(" below the best")


def test_fits_can_be_ranked_by_one_view():
    study = in_views(seeds=(1,))
    views = study.jobs[0].score.blocks
    assert study.best.params["stride"] != 0.3  # a wide view counts more than a narrow one
    study.rank_by(f"elpd {views[0]}")
    assert (study.best.params["stride"], study.metric.goal) == (0.3, "up")
    assert study.metric.title == f"Expected log density, {views[0]}"
    again = Study.grid(
        InViews(), study.inputs, {"stride": [0.3, 4.0]}, holdout=0.3, metric=f"elpd {views[0]}"
    )
    again.run(InlineExecutor)
    assert again.best.params["stride"] == 0.3
    with pytest.raises(SettingError, match="is not the name of a trace"):
        Study.grid(InViews(), study.inputs, {}, metric="no such thing")


def test_one_view_has_no_table_of_views():
    assert study_of(Spread).by_view() is None
    assert study_of(toys.Walk).by_view() is None


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
