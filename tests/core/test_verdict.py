"""One verdict per run: everything that tells of convergence repeats it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import toys

from plaidwork.core.api import Result, Variable
from plaidwork.core.cli.looking import describe_run
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.exporting import export_run
from plaidwork.core.session.session import Session
from plaidwork.core.study import Study
from tests.registries import registry_of

DATA = Dataset("numbers", toys.matrix(), tuple(f"r{i}" for i in range(8)), tuple(f"c{i}" for i in range(4)))


class Doubter(toys.Walk):
    """Draws that nothing can be said against, but the model has a doubt."""

    spec = replace(toys.Walk.spec, id="toy.doubter", title="Doubter")

    def step(self, state, data, params, rng, clock):
        state["place"], state["items"] = rng.normal(size=len(state["place"])), np.zeros(1)
        level = float(state["place"].mean())
        return {"lp": level, "level": level}

    def summarise(self, kept, data, params):
        return {"doubt": "The modes are not mixed: two chains differ"}


class Capped(toys.Climb):
    """Climbs too slowly to converge within its sweeps."""

    spec = replace(toys.Climb.spec, id="toy.capped", title="Capped")

    def converged(self, traces, tolerance):
        return False


def fitted(model, session=None, **schedule):
    """A run of a toy model in a session, its results made."""
    session = session or Session()
    plan = make_plan(model(), {"X": DATA}, {}, schedule=model.spec.schedule.with_(**schedule), seed=1)
    run = session.add_run(plan)
    execute(run, plan)
    return run, session


def test_the_verdict_is_worked_out_once_for_the_same_draws(monkeypatch):
    from plaidwork.core.draws import diagnostics

    run, _ = fitted(toys.Walk)
    first = run.diagnosis()
    monkeypatch.setattr(diagnostics, "diagnose", None)
    assert run.diagnosis() is first


def test_command_line_and_export_repeat_the_verdict(tmp_path):
    run, session = fitted(toys.Walk, draws=60, thin=1)
    verdict = run.diagnosis().verdict
    assert not verdict.settled
    assert describe_run(run)["verdict"] == verdict.title
    export_run(run, tmp_path / "out", session, registry_of(toys.Walk))
    assert json.loads((tmp_path / "out" / "run.json").read_text())["verdict"]["title"] == verdict.title
    assert verdict.title in (tmp_path / "out" / "README.txt").read_text()
    lines = (tmp_path / "out" / "diagnostics.csv").read_text().splitlines()
    assert lines[0].startswith("Quantity,R-hat")
    assert len(lines) == 1 + len(run.diagnosis().quantities)


def test_restarts_are_called_so_and_have_no_draws(tmp_path, capsys):
    from plaidwork.core.cli import main

    _, session = fitted(toys.Climb, chains=3)
    path = session.save(tmp_path / "restarts.plaidwork")
    assert main(["info", str(path)]) == 0
    told = capsys.readouterr().out
    assert "sweeps in 3 restarts, seed 1" in told
    assert "draws" not in told
    export_run(next(iter(session.runs.values())), tmp_path / "out", session)
    assert "The last states of 3 restarts, seed 1" in (tmp_path / "out" / "README.txt").read_text()


def test_a_search_tells_of_every_fit_whether_it_has_settled():
    study = Study.grid(toys.Walk(), {"X": toys.matrix()}, {"stride": [0.1, 1]})
    study.run()
    assert all(job.verdict and not job.settled for job in study.jobs)
    assert list(study.table().columns["Convergence"]) == [job.verdict for job in study.jobs]
    again = type(study.jobs[0]).from_json(study.jobs[0].to_json())
    assert (again.verdict, again.settled) == (study.jobs[0].verdict, False)


def test_what_a_model_holds_against_its_draws_is_part_of_the_verdict():
    run, _ = fitted(Doubter, draws=600, thin=1, chains=4)
    results, run.results = run.results, {}
    assert run.diagnosis().verdict.settled
    run.results = results
    verdict = run.diagnosis().verdict
    assert (verdict.kind, verdict.title) == ("warn", "The modes are not mixed")
    assert "two chains differ" in verdict.text
    assert "can be trusted" not in verdict.text


def test_what_a_model_says_can_be_used_ends_an_unsettled_verdict():
    run, _ = fitted(toys.Walk, draws=60, thin=1)
    plain = run.diagnosis().verdict
    run.results = {"still_holds": "The sign is the same in all chains."}
    told = run.diagnosis().verdict
    assert not plain.settled
    assert told.text == f"{plain.text} The sign is the same in all chains."
    assert told.title == plain.title
    settled, _ = fitted(Doubter, draws=600, thin=1, chains=4)
    settled.results = {"still_holds": "The sign is the same in all chains."}
    assert "The sign" not in settled.diagnosis().verdict.text


def test_a_restart_that_hit_the_cap_has_not_converged_however_small_its_last_step():
    run, _ = fitted(Capped, chains=3)
    assert run.chains[0].sweep == Capped.spec.schedule.max_sweeps
    verdict = run.diagnosis().verdict
    assert (verdict.kind, verdict.title) == ("warn", "Not converged yet")
    assert "ended after 40 sweeps" in verdict.text
    run, _ = fitted(toys.Climb, chains=3)
    assert run.diagnosis().verdict.word == "Settled"


def test_a_chain_is_named_by_its_number_when_an_earlier_one_kept_nothing():
    run, _ = fitted(Capped, chains=3)
    run.chains[0].draws = type(run.chains[0].draws)(run.spec.variables)
    assert "Restart 1," not in run.diagnosis().verdict.text


@pytest.mark.parametrize("model", [toys.Climb, Capped])
def test_a_kept_number_besides_the_traces_is_judged_too(model):
    """Of a variational model: what a diagnosis lists need not be a trace."""

    class Kept(model):
        spec = replace(model.spec, variables=(*model.spec.variables, Variable("rate")))

        def draws(self, state, data, params):
            return {**super().draws(state, data, params), "rate": 2.5}

        def summarise(self, kept, data, params):
            return {"rate": Result(kept.stack("rate")[0, 0], ())}

    run, _ = fitted(Kept, chains=2)
    found = run.diagnosis()
    rate = next(q for q in found.quantities if q.name == "rate")
    assert rate.source == "variable"
    assert found.series(rate).tolist() == [[2.5], [2.5]]
