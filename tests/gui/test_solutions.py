"""Solutions in the window: chosen above every picture, told in the diagnostics and in exported pictures."""

from dataclasses import replace

import numpy as np
import pytest

from plaidwork.core import providers
from plaidwork.core.api import Result, View
from plaidwork.core.findings.solutions import weigh
from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage
from plaidwork.gui.results.registry import make_view
from plaidwork.gui.studies.detail import comparison
from plaidwork.gui.workbench import Workbench
from tests.core.test_solutions import Mode, a_run
from tests.core.test_study_elpd import Spread, study_of

LONGEST = 120_000
"""Milliseconds that a wait may last: the first diagnosis of a process loads or compiles its kernels, on cores that others may hold."""
VIEWS = (View("coefficients", "Place", "place"), View("text", "Words", "words"))


class Shown(Mode):
    """Tells its level as a picture."""

    spec = replace(Mode.spec, id="toy.shown", views=VIEWS)

    def summarise(self, kept, data, params):
        levels = np.concatenate([chain.stack("level") for chain in kept.chains])
        return {"place": Result(np.full(6, levels.mean()), ("column",)), "words": "Levels."}


@pytest.fixture
def bench(qtbot, monkeypatch):
    """Workbench and run whose chains found two solutions; the toy is no plugin, so its model is handed over."""
    run, plan = a_run([0.0, 4.0, 0.0], model=Shown)

    def summarise(part):
        part.results = plan.model.summarise(part.kept(), plan.data, plan.params)
        part.results_draws = part.n_draws

    monkeypatch.setattr(
        providers, "weigh_solutions", lambda of, found: weigh(of, run.session.datasets, plan.model, found)
    )
    monkeypatch.setattr(providers, "summarise_run", summarise)
    summarise(run)
    workbench = Workbench()
    workbench.set_session(run.session)
    workbench.judge(run)
    qtbot.waitUntil(lambda: workbench.diagnosis(run) is not None, timeout=LONGEST)
    return workbench, run


def page_of(qtbot, workbench, run, place=0):
    page = make_view(workbench, run, run.spec.views[place])
    qtbot.addWidget(page)
    qtbot.waitUntil(lambda: page.loaded is not None and not page.busy, timeout=LONGEST)
    return page


def level(page):
    return float(np.asarray(page._sources.result("values").values)[0])


def test_one_solution_is_chosen_for_all_pictures(qtbot, bench):
    workbench, run = bench
    one, other = page_of(qtbot, workbench, run), page_of(qtbot, workbench, run)
    assert not one._solution.isHidden()
    assert one._solution.itemText(1).startswith("Solution 1 (0.")
    assert level(one) == pytest.approx(4 / 3, abs=0.05)
    assert "found 2 different solutions" in one._caption.text()
    one._solution.setCurrentIndex(2)
    one._solution.activated.emit(2)
    for page in (one, other):
        qtbot.waitUntil(lambda page=page: "Solution 2 of 2, chain 2" in page._caption.text(), timeout=LONGEST)
        assert level(page) == pytest.approx(4.0, abs=0.05)
        assert page._solution.currentIndex() == 2
    again = page_of(qtbot, workbench, run)  # as when the session is opened again
    assert level(again) == pytest.approx(4.0, abs=0.05)
    one._solution.activated.emit(0)
    qtbot.waitUntil(lambda: level(one) < 2, timeout=LONGEST)
    assert run.results["place"].values[0] == pytest.approx(4 / 3, abs=0.05)


def test_a_run_whose_chains_agree_offers_no_choice(qtbot):
    run, plan = a_run([0.0, 0.0], model=Shown)
    run.results = plan.model.summarise(run.kept(), plan.data, plan.params)
    workbench = Workbench()
    workbench.set_session(run.session)
    page = page_of(qtbot, workbench, run)
    workbench.judge(run)
    qtbot.waitUntil(lambda: workbench.diagnosis(run) is not None, timeout=LONGEST)
    assert page._solution.isHidden()
    assert "solution" not in page._caption.text()


def test_the_choice_comes_with_the_verdict(qtbot, bench):
    """A picture may be up before the chains are judged."""
    workbench, run = bench
    workbench.judgements.clear()
    page = page_of(qtbot, workbench, run)
    assert page._solution.isHidden()
    workbench.judge(run)
    qtbot.waitUntil(lambda: not page._solution.isHidden(), timeout=LONGEST)
    qtbot.waitUntil(lambda: "different solutions" in page._caption.text(), timeout=LONGEST)


def test_the_diagnostics_list_the_solutions(qtbot, bench):
    workbench, run = bench
    page = DiagnosticsPage(workbench, run)
    qtbot.addWidget(page)
    assert not page.solutions.isHidden()
    assert page.solutions.table.model.rowCount() == 2
    page.solutions.table.row_activated.emit(1)
    assert workbench.selection(run).get("solution") == (2,)


def test_fits_are_compared_by_what_they_predict():
    study = study_of(Spread, metric="elpd")
    best, *rest = study.ranked()
    table = comparison(study, [rest[0], best])
    rows = dict(zip(table[""], table[f"Fit {rest[0].number}"], strict=True))
    assert " ± " in rows[f"Log density below fit {best.number}"]
    assert "Log density below fit" not in " ".join(comparison(study, [best])[""])
