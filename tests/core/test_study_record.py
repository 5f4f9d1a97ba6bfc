"""Studies that are kept: metrics declared, picks, going on, fitting again, study files and the command on sessions."""

import json
import math
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
import toys
from toys import Climb, Walk

from plaidwork.core.cli import main
from plaidwork.core.contract.hyperparameter import DeclarationError, Hyperparameter
from plaidwork.core.contract.metric import Metric, metrics_of
from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec_json import spec_from_json, spec_to_json
from plaidwork.core.errors import SessionError, SettingError
from plaidwork.core.inference import executor, memory
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan, replan
from plaidwork.core.plugins import registry as module
from plaidwork.core.plugins.registry import PluginInfo, Registry
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.study import Study, choice_of_run, combinations, study_records
from plaidwork.core.study.cost import measure_cost
from tests.registries import registry_of

DATA = {"X": toys.matrix()}


class Scored(Walk):
    """A walk with a number among its results, and a bound that ranks no strides."""

    spec = replace(
        Walk.spec,
        id="toy.scored",
        title="Scored",
        metrics=(
            Metric("score", "Score", goal="down", doc="how far it went"),
            Metric("lp", "Bound", comparable_across=("fail_at",), doc="a bound depends on the stride"),
        ),
    )

    def summarise(self, kept, data, params):
        found = super().summarise(kept, data, params)
        return {**found, "score": Result(np.abs(found["place"].values).max()), "extra": Result(np.float64(7))}


class Wanting(Walk):
    """A second setting that matters at one value of the first only."""

    spec = replace(
        Walk.spec,
        id="toy.wanting",
        hyperparameters=(
            *Walk.spec.hyperparameters,
            Hyperparameter("far", "bool", False),
            Hyperparameter("miles", "int", 1, when={"far": True}),
        ),
    )


def count_hook():
    """A metric that a plugin brings."""

    def sweeps_squared(run):
        return run.sweeps_done**2

    return [
        Metric(sweeps_squared, "Squared"),
        Metric("level", "For others", models=("another.model",)),
    ]


@pytest.fixture
def plugins(monkeypatch):
    found = registry_of(Scored, Walk, Climb, plaidwork_metrics=count_hook)
    monkeypatch.setattr(module, "_shared", found)
    return found


def _study(**options):
    grid = options.pop("grid", {"stride": [0.1, 1]})
    return Study.grid(Scored(), DATA, grid, seeds=(1, 2, 3), **options)


def test_metrics_are_the_models_own_then_its_objective_then_those_of_plugins(plugins):
    found = metrics_of(Scored.spec, plugins.metrics)
    assert [(metric.key, metric.goal) for metric in found] == [
        ("score", "down"), ("lp", "up"), ("sweeps_squared", "up"),
    ]  # fmt: skip
    assert [metric.name for metric in metrics_of(Climb.spec)] == ["elbo"]
    study = _study()
    assert study.metric.key == "score"
    study.run(InlineExecutor)
    job = study.jobs[0]
    assert job.metrics["sweeps_squared"] == job.sweeps**2 == 30**2
    assert set(job.metrics) == {"score", "lp", "sweeps_squared", "extra"}
    assert [metric.key for metric in study.known_metrics()][-1] == "extra"


def test_a_plugin_that_brings_no_metric_fails_with_its_hook():
    plugin = ModuleType("toy_plugin")
    plugin.plaidwork_metrics = lambda: ["lp"]
    found = Registry()
    found._found = lambda: iter([(PluginInfo("toys", "toy_plugin", "test"), lambda: plugin)])
    assert "plaidwork_metrics() failed" in found.load().plugins[0].message
    assert found.metrics == ()


def test_declared_metrics_are_stored_with_the_declaration_and_checked():
    assert spec_from_json(json.loads(json.dumps(spec_to_json(Scored.spec)))) == Scored.spec
    with pytest.raises(DeclarationError, match="must be a name"):
        replace(Walk.spec, metrics=(Metric(lambda run: 1.0),))
    with pytest.raises(DeclarationError, match="unknown setting 'strides'"):
        replace(Walk.spec, metrics=(Metric("lp", comparable_across=("strides",)),))


def test_ranking_by_another_metric_warns_where_it_cannot_be_compared():
    study = _study()
    study.run(InlineExecutor)
    assert study.doubt() == ""
    first = [job.number for job in study.ranked()]
    assert [job.metric for job in study.ranked()] == sorted(job.metrics["score"] for job in study.jobs)
    study.rank_by("lp")
    assert study.doubt() == (
        "Bound cannot be compared across Stride: it ranks only fits with the same values. "
        "A bound depends on the stride."
    )
    assert [job.metric for job in study.ranked()] == sorted(
        (job.metrics["lp"] for job in study.jobs), reverse=True
    )
    study.rank_by("Score")
    assert [job.number for job in study.ranked()] == first
    with pytest.raises(SettingError, match=r"no metric “nothing”.*score"):
        study.rank_by("nothing")
    alone = _study(grid={"stride": [1]}, metric="lp")
    assert alone.doubt() == ""


@pytest.mark.long
def test_the_first_pick_is_confirmatory_and_every_later_one_exploratory(tmp_path):
    study, session = _study(), Session()
    study.run(InlineExecutor, keep=0)
    study.add_to(session)
    assert session.runs == {}
    first = study.choose(2, session)
    assert study.choose(2, session) is first
    run = study.open(2, session, InlineExecutor)
    assert run.log[-1].text.startswith("Fitted again")
    study.choose(5, session)
    assert [(c.number, c.exploratory, c.metric) for c in study.choices] == [
        (2, False, "Score"), (5, True, "Score"),
    ]  # fmt: skip
    study.put(session)
    back = open_session(session.save(tmp_path / "s.plaidwork"))
    (record,) = study_records(back.studies)
    assert record.choices == study.choices
    assert record.chosen.number == 5
    notes = [note for note in back.history if note["action"] == "study fit picked"]
    assert [(note["fit"], note["exploratory"]) for note in notes] == [(2, False), (5, True)]
    assert choice_of_run(back.studies, run.id) == study.choices[0]
    assert choice_of_run(back.studies, "another") is None


def test_what_is_not_done_cannot_be_picked_and_what_was_picked_stays():
    study = Study.grid(Walk(), DATA, {"fail_at": [2, 0, 99]})
    study.run(InlineExecutor)
    with pytest.raises(SettingError, match="Fit 1 is failed"):
        study.choose(1)
    study.choose(2)
    with pytest.raises(SettingError, match="was picked"):
        study.remove([2, 3])
    study.remove([1, 3])
    assert [job.number for job in study.jobs] == [2]
    with pytest.raises(SettingError, match="has no fit 3"):
        study.job(3)


def test_a_run_that_was_let_go_is_fitted_again_to_the_same_numbers():
    study, session = _study(), Session()
    study.run(InlineExecutor)
    draws = study.jobs[0].run.draws["place"]
    study.jobs[0].run = None
    run = study.open(1, session, InlineExecutor)
    np.testing.assert_array_equal(run.draws["place"], draws)
    assert study.open(1, session) is run
    study.jobs[0].metrics["score"] += 1e-12
    assert not study.compare_again(study.jobs[0], run)
    assert run.log[-1].level == "warning"


@pytest.mark.long
def test_memory_is_bounded_by_letting_go_of_the_worst():
    study = _study()
    study.run(InlineExecutor)
    size = study.jobs[0].nbytes
    assert size > 0
    bounded = _study()
    for _ in bounded.iterate(InlineExecutor, memory=2.5 * size):
        assert sum(job.nbytes for job in bounded.jobs) <= 2.5 * size
    kept = [job.number for job in bounded.jobs if job.run is not None]
    assert sorted(kept) == sorted(job.number for job in bounded.ranked()[:2])


@pytest.mark.slow
def test_an_interrupted_study_goes_on_after_it_was_stored(tmp_path, plugins):
    whole = _study()
    whole.run(InlineExecutor)
    study, session = _study(), Session()
    for job in study.iterate(InlineExecutor):
        if job.number == 2:
            break
    study.add_to(session)
    back = open_session(session.save(tmp_path / "s.plaidwork"))
    (record,) = study_records(back.studies)
    assert 0 < record.count("waiting") < 6
    again = Study.load(back, record, plugins)
    again.start_again()
    again.run(InlineExecutor)
    assert [job.metrics for job in again.jobs] == [job.metrics for job in whole.jobs]
    assert again.id == study.id
    values = next(iter(back.datasets.values()))
    back.datasets[values.name] = values.with_(values=values.values + 1)
    with pytest.raises(SessionError, match="have changed"):
        Study.load(back, record, plugins)
    del back.datasets[values.name]
    with pytest.raises(SessionError, match="not in the session"):
        Study.load(back, record, plugins)


@pytest.mark.long
def test_a_fit_under_way_goes_on_to_the_same_draws(tmp_path, plugins, monkeypatch):
    monkeypatch.setattr(executor, "CHECKPOINT_SECONDS", 0.0)
    whole, cut, kept = _study(), _study(), Session(name="s")
    whole.run(InlineExecutor)
    sweeps = 2 * whole.jobs[0].run.sweeps_done // 3

    def progress(run, event):
        if "Fit 3:" in run.title and run.sweeps_done == sweeps and not (tmp_path / "s.plaidwork").exists():
            cut.so_far(kept).save(tmp_path / "s.plaidwork")

    cut.run(InlineExecutor, progress=progress)
    assert not kept.runs
    back = open_session(tmp_path / "s.plaidwork")
    (record,) = study_records(back.studies)
    begun = back.runs[record.job(3).run_id]
    assert (begun.status, record.job(3).status) == ("stopped", "waiting")
    assert 0 < begun.sweeps_done <= sweeps
    again = Study.load(back, record, plugins)
    again.take_up(back, plugins)
    assert begun.id not in back.runs
    again.run(InlineExecutor)
    assert again.job(3).run is begun
    assert [job.metrics for job in again.jobs] == [job.metrics for job in whole.jobs]
    np.testing.assert_array_equal(begun.draws["place"], whole.job(3).run.draws["place"])


@pytest.mark.long
def test_a_stopped_fit_goes_on_where_it_was():
    whole, study = _study(), _study()
    whole.run(InlineExecutor)

    def progress(run, event):
        if "Fit 2:" in run.title and run.sweeps_done == 7:
            study.stop()

    study.run(InlineExecutor, progress=progress, keep=1)
    stopped = study.job(2).run
    assert (study.job(2).status, stopped.sweeps_done) == ("stopped", 7)
    study.start_again()
    study.run(InlineExecutor)
    assert study.job(2).run is stopped
    assert [job.metrics for job in study.jobs] == [job.metrics for job in whole.jobs]


def test_data_of_a_study_cannot_be_removed():
    study, session = _study(), Session()
    study.add_to(session)
    (name,) = session.datasets
    with pytest.raises(Exception, match="is used by Study of Scored"):
        session.remove_dataset(name)


@pytest.mark.slow
def test_a_paused_study_holds_all_fits_until_it_goes_on():
    study = _study(schedule=Walk.spec.schedule.with_(draws=400))
    seen = []

    def progress(run, event):
        if not seen and run.sweeps_done > 10:
            study.pause()
            seen.append([control.paused for control in study._under_way()])
            study.go_on()
            seen.append([control.paused for control in study._under_way()])

    study.run(InlineExecutor, progress=progress)
    assert seen == [[True], [False]]
    assert study.count("done") == 6


def test_a_plan_made_again_equals_a_new_one():
    plan = make_plan(Walk(), {"X": _study().inputs["X"]}, {"stride": 1}, holdout=0.2, seed=4)
    for seed in (4, 5):
        other = replan(plan, {"stride": 2}, seed)
        fresh = make_plan(Walk(), plan.inputs, {"stride": 2}, holdout=0.2, seed=seed)
        assert (other.params, other.seed, other.data_hash) == (fresh.params, seed, fresh.data_hash)
        np.testing.assert_array_equal(other.data["X"].held_out, fresh.data["X"].held_out)
    assert replan(plan, {}, 4).data is plan.data


def test_a_setting_that_does_not_matter_gives_no_second_fit():
    grid = {"far": [False, True], "miles": [1, 2, 3]}
    _, points = combinations(Wanting.spec, grid, {}, (1,))
    assert [(params["far"], params["miles"]) for params, _ in points] == [
        (False, 1), (True, 1), (True, 2), (True, 3),
    ]  # fmt: skip


@pytest.mark.long
def test_the_cost_is_measured_without_touching_the_study():
    study = _study()
    cost = measure_cost(study, 0.05)
    assert cost.seconds_per_fit > 0
    assert cost.memory_per_fit > 0
    assert not cost.at_most
    assert cost.seconds(6, 2) == pytest.approx(3 * cost.seconds_per_fit)
    assert study.count("waiting") == 6
    study.run(InlineExecutor)
    alone = _study()
    alone.run(InlineExecutor)
    assert [job.metrics for job in study.jobs] == [job.metrics for job in alone.jobs]


def test_an_older_record_can_be_read():
    old = {
        "id": "a", "title": "Old", "model": "toy.walk", "version": "1", "created": "", "inputs": {"X": ["x"]},
        "schedule": {"chains": 2}, "holdout": 0.0, "metric": {"name": "lp", "goal": "up", "over": "mean"},
        "varied": ["stride"],
        "jobs": [{"number": 1, "params": {"stride": 1.0}, "seed": 1, "status": "done", "metric": -1.0,
                  "seconds": 1.0, "message": "", "run": ""}],
    }  # fmt: skip
    (record,) = study_records([old, {"id": "damaged"}])
    assert record.jobs[0].metric == -1.0
    assert math.isnan(record.jobs[0].metrics.get("lp", math.nan))
    assert record.metric.key == "lp"


# the command ---------------------------------------------------------------------------------------------------------

FILE = """
model = "toy.scored"
title = "Strides"
seed = 1
seeds = [1, 2]
metric = "score"
[inputs]
X = "m.csv"
[grid]
stride = [0.1, 1.0]
"""


@pytest.fixture
def folder(plugins, tmp_path):
    np.savetxt(tmp_path / "m.csv", toys.matrix(), delimiter=",")
    (tmp_path / "search.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def _command(folder, *words):
    return main(["study", *map(str, words), "--executor", "inline"])


@pytest.mark.long
def test_a_study_file_a_pick_and_another_pick(folder, capsys):
    out = folder / "s.plaidwork"
    assert _command(folder, folder / "search.toml", "--out", out) == 0
    told = capsys.readouterr()
    assert "4/4" in told.err
    assert " left" in told.err
    assert "Score" in told.out
    assert _command(folder, out, "--pick", "3") == 0
    assert "the first pick" in capsys.readouterr().out
    assert _command(folder, out, "--pick", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["exploratory"] is True
    (record,) = study_records(open_session(out).studies)
    assert [choice.number for choice in record.choices] == [3, 1]
    assert record.title == "Strides"
    runs = open_session(out).runs
    assert {record.job(3).run_id, record.job(1).run_id} <= set(runs)


def test_memory_is_told_before_a_study(folder, capsys, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10)
    out = folder / "s.plaidwork"
    assert _command(folder, folder / "search.toml", "--out", out, "--jobs", "2") == 0
    told = capsys.readouterr().err
    assert "2 such fits at a time need about 1 MB of memory" in told
    assert told.index("at a time") < told.index("/4  ")


@pytest.mark.long
def test_going_on_with_a_stored_study(folder, plugins, capsys):
    study, session = _study(metrics=plugins.metrics), Session(name="s")
    for _ in study.iterate(InlineExecutor):
        break
    study.add_to(session)
    path = session.save(folder / "s.plaidwork")
    before = study_records(open_session(path).studies)[0].count("done")
    assert before < 6
    assert _command(folder, path, "--metric", "lp") == 0
    assert "cannot be compared across Stride" in capsys.readouterr().out
    (record,) = study_records(open_session(path).studies)
    assert record.count("done") == 6
    assert record.metric.key == "lp"


@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        (("seed = 1", "seed = 1\ngrids = 1"), [], "unknown"),
        (("stride = [0.1, 1.0]", "stride = 0.1"), [], "needs a list of values"),
        (("seeds = [1, 2]", "seeds = [1.5]"), [], "whole numbers"),
        (('metric = "score"', 'goal = "sideways"'), [], "up or down"),
        (("", ""), ["--set", "stride=1"], "brings its inputs"),
        (("", ""), ["--pick", "1"], "need a session"),
    ],
)
def test_a_wrong_study_file_is_told(folder, capsys, change, more, words):
    (folder / "search.toml").write_text(FILE.replace(*change), encoding="utf-8")
    assert _command(folder, folder / "search.toml", "--out", folder / "s.plaidwork", *more) == 2
    assert words in capsys.readouterr().err


def test_a_session_without_the_study_is_told(folder, capsys):
    path = Session(name="s").save(folder / "s.plaidwork")
    assert _command(folder, path) == 2
    assert "holds no study" in capsys.readouterr().err
    assert _command(folder, "toy.scored", "--out", folder / "t.plaidwork") == 2
    assert "--input is missing" in capsys.readouterr().err
