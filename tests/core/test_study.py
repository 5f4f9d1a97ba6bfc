"""Studies: what is planned, that it runs like single fits, ranking, stopping, and the command."""

import json
import math
import time

import numpy as np
import pytest
import toys
from toys import Climb, Walk

from plaidwork.core.cli import main
from plaidwork.core.contract.model import Result
from plaidwork.core.errors import DataError, SettingError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor, ThreadExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins import registry as module
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.study import Metric, Study, study_table
from tests.registries import registry_of

DATA = {"X": toys.matrix()}


def _study(**options):
    return Study.grid(Walk(), DATA, {"stride": ["0.1", 1]}, seeds=(1, 2, 3), **options)


def test_a_grid_is_every_combination_with_every_seed():
    study = Study.grid(Walk(), DATA, {"stride": [0.1, 1], "fail_at": (0, 99)}, seeds=(5, 6), metric="lp")
    assert [job.number for job in study.jobs] == list(range(1, 9))
    assert [(job.params["stride"], job.params["fail_at"], job.seed) for job in study.jobs[:4]] == [
        (0.1, 0, 5), (0.1, 0, 6), (0.1, 99, 5), (0.1, 99, 6),
    ]  # fmt: skip
    assert {job.status for job in study.jobs} == {"waiting"}
    assert study.varied == ("stride", "fail_at")
    assert (study.metric.name, study.metric.goal) == ("lp", "up")


@pytest.mark.parametrize(
    ("grid", "options", "error", "match"),
    [
        ({"stride": [0.1, -1]}, {}, SettingError, "> 0"),
        ({"strides": [1]}, {}, SettingError, "Did you mean “stride”"),
        ({"stride": []}, {}, SettingError, "no value for “Stride”"),
        ({"stride": [1]}, {"hyperparameters": {"stride": 2}}, SettingError, "given twice"),
        ({"stride": [1]}, {"seeds": ()}, SettingError, "needs a seed"),
        ({"stride": range(1, 102)}, {"seeds": range(100)}, SettingError, "10000 jobs. Found 10100"),
        ({"stride": [100]}, {}, DataError, "too long"),
        ({}, {"metric": "not a name"}, SettingError, "not the name of a trace"),
    ],
)
def test_what_no_job_could_run_with_is_told_before(grid, options, error, match):
    with pytest.raises(error, match=match):
        Study.grid(Walk(), DATA, grid, **options)


@pytest.mark.long
@pytest.mark.parametrize("executor", [InlineExecutor, ThreadExecutor])
def test_every_job_equals_a_fit_of_its_own(executor):
    study = _study()
    ended = []
    ranked = study.run(executor, at_once=3, ended=lambda job: ended.append(job.number))
    assert sorted(ended) == [1, 2, 3, 4, 5, 6]
    assert {job.status for job in study.jobs} == {"done"}
    for job in study.jobs[::2]:
        plan = make_plan(Walk(), study.inputs, job.params, seed=job.seed)
        run = Run.from_plan(plan)
        execute(run, plan, InlineExecutor())
        np.testing.assert_array_equal(run.draws["place"], job.run.draws["place"])
        assert job.metric == pytest.approx(run.kept().kept_trace("lp").mean())
        assert job.seconds > 0
    metrics = [job.metric for job in ranked]
    assert metrics == sorted(metrics, reverse=True)
    assert study.best is ranked[0]


def test_jobs_come_one_by_one_and_at_most_n_run():
    under_way, most = set(), []

    def progress(run, event):
        under_way.add(run.id)
        most.append(len(under_way))

    study = _study()
    for job in study.iterate(at_once=2, progress=progress):
        assert job.ended
        under_way.discard(job.run_id)
    assert max(most) <= 3  # one may have ended and not been told yet


def test_metrics():
    study = _study()
    study.run(InlineExecutor)
    run = study.jobs[0].run
    kept = run.kept().kept_trace("lp")
    assert Metric("lp", over="best").of(run) == kept.max()
    assert Metric("lp", over="best", goal="down").of(run) == kept.min()
    assert Metric(lambda run: 7).of(run) == 7.0
    run.results["score"] = Result(np.array([[3.5]]))
    assert Metric("score").of(run) == 3.5
    with pytest.raises(SettingError, match=r"called “place”.*lp, level, score"):
        Metric("place").of(run)
    climb = Study.grid(Climb(), DATA, seeds=(1,), metric="elbo")
    climb.run(InlineExecutor)
    last = [values[-1] for values in climb.jobs[0].run.traces["elbo"]]
    assert climb.jobs[0].metric == pytest.approx(np.mean(last))


def test_goal_comes_from_the_trace_and_down_ranks_upside_down():
    assert Study.grid(Climb(), DATA).metric.goal == "up"
    study = _study(metric=Metric("level", goal="down"))
    metrics = [job.metric for job in study.run(InlineExecutor)]
    assert metrics == sorted(metrics)


def test_a_failing_job_is_last_and_the_rest_goes_on():
    study = Study.grid(Walk(), DATA, {"fail_at": [2, 0]}, metric=lambda run: math.nan)
    ranked = study.run(InlineExecutor)
    assert [job.status for job in ranked] == ["done", "failed"]
    assert "The walk has ended" in study.jobs[0].message
    assert study.best is None
    broken = Study.grid(Walk(), DATA, metric=lambda run: 1 / 0)
    broken.run(InlineExecutor)
    assert broken.jobs[0].status == "failed"
    assert broken.jobs[0].message.startswith("ZeroDivisionError")


def test_stop_ends_what_runs_and_starts_nothing_else():
    study = Study.grid(
        Walk(), DATA, {"stride": [1, 2, 3, 4]}, schedule=Walk.spec.schedule.with_(draws=1_000_000)
    )
    began = time.monotonic()
    far = set()

    def progress(run, event):
        if run.sweeps_done > 20:
            far.add(run.id)
        if len(far) == 2:
            study.stop()

    study.run(at_once=2, progress=progress)
    assert time.monotonic() - began < 120
    assert sorted(job.status for job in study.jobs) == ["stopped", "stopped", "waiting", "waiting"]
    assert study.best is None
    assert study.jobs[0].run.n_draws > 0


@pytest.mark.slow
def test_one_job_can_be_stopped():
    study = Study.grid(
        Walk(), DATA, {"stride": [1, 2]}, schedule=Walk.spec.schedule.with_(draws=20_000, chains=1)
    )

    def progress(run, event):
        if "Stride 1" in run.title and run.sweeps_done > 5:
            study.stop_job(1)

    study.run(progress=progress)
    assert [job.status for job in study.jobs] == ["stopped", "done"]


def test_leaving_the_loop_stops_the_rest():
    study = _study()
    for _ in study.iterate(InlineExecutor):
        break
    assert study.control.stopping
    assert sum(job.status == "waiting" for job in study.jobs) >= 3


def test_only_the_best_runs_stay():
    study = _study()
    study.run(InlineExecutor, keep=2)
    kept = [job for job in study.jobs if job.run is not None]
    assert {job.number for job in kept} == {job.number for job in study.ranked()[:2]}
    assert all(math.isfinite(job.metric) for job in study.jobs)


def test_tables():
    study = Study.grid(Walk(), DATA, {"stride": [0.1, 1], "fail_at": [0]}, seeds=(1, 2))
    study.run(InlineExecutor)
    table = study.table()
    assert list(table.columns) == [
        "Job",
        "stride",
        "fail_at",
        "Seed",
        "Status",
        "lp",
        "Rank",
        "Convergence",
        "Sweeps",
        "Seconds",
    ]
    assert sorted(table.columns["Rank"]) == [1, 2, 3, 4]
    best = list(table.columns["Rank"]).index(1)
    assert table.columns["lp"][best] == max(table.columns["lp"])
    grouped = study.by_setting()
    assert list(grouped.columns["Jobs"]) == [2, 2]
    metrics = {
        job.seed: job.metric for job in study.jobs if job.params["stride"] == grouped.columns["stride"][0]
    }
    assert grouped.columns["lp"][0] == pytest.approx(np.mean(list(metrics.values())))
    assert grouped.columns["sd"][0] == pytest.approx(np.std(list(metrics.values()), ddof=1))


def test_a_study_is_saved_with_its_session(tmp_path):
    study = _study()
    study.run(InlineExecutor, keep=1)
    session = Session()
    study.add_to(session)
    study.add_to(session)
    assert len(session.studies) == 1
    assert json.loads(json.dumps(session.studies)) == session.studies
    back = open_session(session.save(tmp_path / "s.plaidwork"))
    assert back.studies == session.studies
    assert list(back.runs) == [study.best.run_id]
    assert [note["action"] for note in back.history] == ["study"]
    table = study_table(back.studies[0])
    np.testing.assert_array_equal(table.columns["lp"], study.table().columns["lp"])


def test_held_out_cells_differ_between_seeds():
    study = Study.grid(Walk(), DATA, seeds=(1, 2), holdout=0.25)
    masks = [study.plan(job).data["X"].held_out for job in study.jobs]
    assert (masks[0] != masks[1]).any()


# the command ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def command(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "_shared", registry_of(Walk))
    np.savetxt(tmp_path / "m.csv", toys.matrix(), delimiter=",")
    out = tmp_path / "s.plaidwork"
    base = [
        "study",
        "toy.walk",
        "--input",
        f"X={tmp_path / 'm.csv'}",
        "--out",
        str(out),
        "--executor",
        "inline",
    ]
    return lambda *more: (main([*base, *more]), out)


def test_command(command, capsys):
    code, out = command(
        "--grid", "stride=0.1,1", "--seeds", "1,2", "--keep", "2", "--metric", "level", "--goal", "down"
    )
    assert code == 0
    session = open_session(out)
    assert len(session.runs) == 2
    assert [job["status"] for job in session.studies[0]["jobs"]] == ["done"] * 4
    metric = session.studies[0]["metric"]
    assert (metric["name"], metric["goal"], metric["over"]) == ("level", "down", "mean")
    told = capsys.readouterr()
    assert "4/4" in told.err
    assert told.out.splitlines()[0].startswith("   1  fit ")


@pytest.mark.slow
def test_command_with_processes(command):
    code, out = command("--seeds", "1,2", "--jobs", "2", "--executor", "processes")
    assert code == 0
    assert [job["status"] for job in open_session(out).studies[0]["jobs"]] == ["done", "done"]


def test_command_as_json(command, capsys):
    code, _ = command("--grid", "stride=0.1,1", "--jobs", "2", "--json")
    assert code == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["job", "job", "saved"]
    assert lines[-1]["best"] in (1, 2)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--grid", "stride=0.1,x"], "“x”"),
        (["--grid", "stride"], "--grid needs NAME=VALUE"),
        (["--grid", "stride=1", "--grid", "stride=2"], "given twice"),
        (["--seeds", "1,a"], "whole numbers"),
        (["--jobs", "0"], "At least one job"),
    ],
)
def test_command_tells_wrong_use(command, capsys, more, words):
    code, out = command(*more)
    assert code == 2
    assert words in capsys.readouterr().err
    assert not out.exists()


def test_command_of_failing_jobs(command, capsys):
    code, out = command("--set", "fail_at=1")
    assert code == 3
    assert "The walk has ended" in capsys.readouterr().err
    assert out.exists()
