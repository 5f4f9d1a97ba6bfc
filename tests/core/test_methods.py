"""What to write in the paper: computed from the run, with a word when it has not settled."""

import numpy as np
import pytest
from toys import SCHEDULE, Climb, Walk, matrix

from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.report import methods_text
from plaidwork.core.report.methods import RHAT, _short
from plaidwork.core.session.session import Session


def told(model, schedule=SCHEDULE, **params):
    session = Session(name="s")
    plan = make_plan(model, {"X": as_dataset("X", matrix())}, params, schedule=schedule, seed=7)
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    return methods_text(session, run), run


def test_a_sampler():
    text, run = told(Walk())
    rows, columns = matrix().shape
    assert f"“X” ({rows}" in text
    assert f"× {columns}" in text
    assert f"“{run.spec.title}” (version {run.spec.version}" in text
    assert "(seed 7)" in text
    assert "R-hat" in text
    assert RHAT in text
    assert f"NumPy {np.__version__}" in text
    assert ("has not settled" in text) is not run.diagnosis().verdict.settled


def test_an_ascent_names_its_restarts_and_no_r_hat():
    text, run = told(Climb())
    assert "variational inference" in text
    assert "R-hat" not in text
    assert ("has not settled" in text) is not run.diagnosis().verdict.settled


def test_settings_that_were_chosen_are_told():
    spec = Walk.spec
    one = next(p for p in spec.hyperparameters if p.kind in ("float", "int"))
    text, _ = told(Walk(), **{one.name: one.default + 1})
    assert f"{one.title}: " in text
    assert "(default" in text
    assert "All settings had their default values" in told(Walk())[0]


def test_nothing_kept_yet():
    session = Session(name="s")
    run = session.add_run(make_plan(Walk(), {"X": as_dataset("X", matrix())}, {}, schedule=SCHEDULE))
    assert "nothing has been kept of this run yet" in methods_text(session, run)


@pytest.mark.parametrize(
    ("citation", "short"),
    [
        ("Caldas, J., Kaski, S. (2008). Bayesian biclustering.", "Caldas, Kaski 2008"),
        ("Ishiguro, K., Sato, I., Nakano, M. (2016). Infinite.", "Ishiguro et al. 2016"),
        ("Argelaguet, R., Velten, B., et al. (2018). Multi-omics.", "Argelaguet et al. 2018"),
        ("Fong, C., & Grimmer, J. (2016). Discovery.", "Fong, Grimmer 2016"),
        ("A book without a year.", "A book without a year."),
    ],
)
def test_short_citations(citation, short):
    assert _short(citation) == short
