"""Live traces and diagnostics of a run, through their widgets."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Trace, Variable
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import ModelError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session
from plaidwork.gui.monitor.chain_panel import ChainPanel, sampling_rows
from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.monitor.live_page import LivePage
from plaidwork.gui.monitor.trace_plot import TracePlot
from plaidwork.gui.status_line import _at_most
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.theme import theme
from plaidwork.gui.widgets import Label
from plaidwork.gui.workbench import Workbench
from tests import toys
from tests.gui.window_tools import plan, toy_registry


@pytest.fixture
def finished(qapp):
    """A workbench with a finished run."""
    workbench = Workbench(toy_registry())
    session = Session(name="walks")
    fitted = plan(draws=200, chains=3)
    run = session.add_run(fitted)
    execute(run, fitted)
    workbench.set_session(session)
    yield workbench, run
    wait_for_tasks()
    qapp.processEvents()


def test_decimation_keeps_every_spike_and_the_length_of_short_curves():
    y = np.random.default_rng(0).normal(size=50_000)
    y[31_234] = 1000
    y[77] = -1000
    x, thin = decimate(y, 2000)
    assert len(x) == len(thin) <= 2010
    assert thin.max() == 1000
    assert thin.min() == -1000
    assert np.all(np.diff(x) > 0)
    assert np.array_equal(y[(x - 1).astype(int)], thin)
    short, same = decimate(y[:10])
    assert np.array_equal(short, np.arange(1, 11))
    assert np.array_equal(same, y[:10])


def test_decimation_takes_nan():
    y = np.full(9000, np.nan)
    y[4000:] = 1.0
    _x, thin = decimate(y, 1000)
    assert np.nanmax(thin) == 1.0


def test_live_page_shows_one_line_per_chain_and_the_progress(finished, qtbot):
    workbench, run = finished
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.resize(900, 600)
    page.show()
    qtbot.waitUntil(lambda: len(page._plots) == 2, timeout=20_000)  # small plots are made one by one
    assert [plot.trace.name for plot in page._plots] == ["lp", "level"]
    assert [len(line.y) for line in page._plots[0].lines] == [205, 205, 205]
    assert page._figures["sweep"].value == "615"
    qtbot.waitUntil(lambda: workbench.verdict(run) is not None, timeout=20_000)
    page.tick()
    verdict = run.diagnosis().verdict
    assert verdict.kind != "ok", "a random walk does not settle in 200 draws"
    assert page._figures["verdict"].value == verdict.word
    assert "Agreement" not in {figure.accessibleName().partition(":")[0] for figure in page._figures.values()}


def test_a_run_is_judged_once_however_often_pages_ask(finished, qtbot, monkeypatch):
    """The page in front asks whenever the run changes, and a new verdict is such a change."""
    workbench, run = finished
    qtbot.waitUntil(lambda: workbench.verdict(run) is not None, timeout=20_000)
    asked = []
    monkeypatch.setattr(type(run), "diagnosis", lambda run: asked.append(run.id))
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    for _ in range(3):
        page.tick()
    wait_for_tasks()
    assert not asked


def test_space_holds_drawing_only(finished, qtbot):
    workbench, run = finished
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.show()
    qtbot.keyClick(page, Qt.Key.Key_Space)
    assert "held" in page._figures["sweep"].note
    qtbot.keyClick(page, Qt.Key.Key_Space)
    assert "held" not in page._figures["sweep"].note


def test_diagnostics_show_a_verdict_and_follow_the_chosen_row(finished, qtbot):
    from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage

    workbench, run = finished
    page = DiagnosticsPage(workbench, run)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    qtbot.waitUntil(page.verdict.isVisible, timeout=20_000)
    assert page._diagnosis.verdict.title
    titles = [q.title for q in page._diagnosis.quantities]
    assert "level" in titles
    row = titles.index("level")
    view = page.table.view
    cell = view.visualRect(view.model().index(row, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    theme().set_mode("dark")
    theme().set_mode("light")
    assert page.trace.title == "Level"
    assert len(page.trace.lines) == 3
    assert np.array_equal(page.trace.lines[0].y, run.draws["level"][0])


def test_the_quantity_and_the_order_of_diagnostics_come_back(finished, qtbot):
    from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage

    workbench, run = finished

    def opened():
        page = DiagnosticsPage(workbench, run)
        qtbot.addWidget(page)
        page.show()
        qtbot.waitUntil(lambda: page._diagnosis is not None, timeout=20_000)
        return page

    page = opened()
    assert not workbench.view_changed
    view, row = page.table.view, len(page._diagnosis.quantities) - 1
    page.table.sort_by("Mean", True)
    shown = page.table._model.shown_row(row)
    place = view.visualRect(page.table._model.index(shown, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert workbench.view_changed
    chosen = page._diagnosis.quantities[row].title
    assert page._chosen == chosen
    page.refresh()
    assert page._chosen == chosen
    again = opened()
    assert again._chosen == chosen
    assert again.table.selected_rows() == [row]
    assert again.table.sorting() == ["Mean", True]


def test_dots_have_the_colours_of_the_marks_beside_them(finished, qtbot):
    """Also where R-hat is small, and the mark is for too few effective draws."""
    from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage

    page = DiagnosticsPage(*finished)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    qtbot.waitUntil(page.verdict.isVisible, timeout=20_000)
    few = tuple(replace(q, rhat=1.002, ess_bulk=50.0, status="warn") for q in page._diagnosis.quantities)
    page._draw_dots(replace(page._diagnosis, quantities=few))
    (dots,) = [item for item in page.dots.area.items if isinstance(item, pg.ScatterPlotItem)]
    assert {spot.brush().color().name() for spot in dots.points()} == {theme().color("warn").name()}


def test_a_sampler_has_no_best_but_the_chain_at_the_highest_level(finished, qtbot):
    workbench, run = finished
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.tick()
    levels = [record.trace.snapshot()["lp"][-100:].mean() for record in run.chains]
    figure = page._figures["primary"]
    assert not figure.accessibleName().startswith("Best")
    assert figure.note == f"highest: chain {int(np.argmax(levels)) + 1}"
    wait_for_tasks()


def test_a_count_that_the_settings_leave_out_has_no_figure(qapp, qtbot):
    traces = (
        Trace("lp", primary=True),
        Trace("left", "groups in use", kind="count"),
    )  # the name of another figure
    spec = replace(toys.Walk.spec, traces=traces, variables=(), views=(), hyperparameters=())
    workbench = Workbench(toy_registry())
    pages = []
    for number in (np.nan, 3.0):
        run = run_of_noise(spec)
        for record in run.chains:
            rows = record.trace
            record.trace = type(rows)([trace.name for trace in traces])
            for _ in range(12):
                record.trace.append({"lp": 1.0, "left": number})
        workbench.session.runs[run.id] = run
        page = LivePage(workbench, run)
        qtbot.addWidget(page)
        qtbot.addWidget(page.side_panel())
        page.tick()
        pages.append(page)
    gone, there = (page._figures["count left"] for page in pages)
    assert gone.isHidden()
    assert pages[0]._lines["count left"].isHidden()
    assert pages[1]._figures["left"].value != "3"
    assert not there.isHidden()
    assert there.value == "3"
    wait_for_tasks()


def test_settings_page_lists_what_was_changed_and_keeps_notes(finished, qtbot):
    from plaidwork.gui.monitor.settings_page import SettingsPage

    workbench, run = finished
    page = SettingsPage(workbench, run)
    qtbot.addWidget(page)
    page.show()
    qtbot.keyClicks(page.notes.editor, "looks right")
    assert run.notes == "looks right"
    assert workbench.dirty


def test_a_setting_with_a_short_value_leaves_its_line_to_the_name(qtbot):
    """Beside one whose value is long: names and values stand in lines, not in columns."""
    from plaidwork.gui.monitor.settings_page import SettingsPage

    pane = QWidget()
    qtbot.addWidget(pane)
    name = "Fit the priors to the scale of the data before the first sweep"
    pane.setLayout(
        SettingsPage._column([("Priors", [(name, "yes", False), ("Uncertainty of it", "value " * 9, True)])])
    )
    pane.resize(480, 120)
    pane.show()
    QApplication.processEvents()
    shown = {label.text(): label for label in pane.findChildren(QLabel)}
    assert shown[name].width() >= shown[name].fontMetrics().horizontalAdvance(name)


def test_restarts_are_compared_where_they_ended_and_by_their_way_there(qapp, qtbot):
    """R-hat, ESS and ranks say nothing of restarts: no such column, dots or bars."""
    from plaidwork.gui.run_pages import DIAGNOSTICS, run_pages

    workbench = Workbench(toy_registry())
    session = Session(name="climbs")
    fitted = plan(toys.Climb, chains=3)
    run = session.add_run(fitted)
    execute(run, fitted)
    workbench.set_session(session)
    page = next(info for info in run_pages(workbench, run) if info.key.endswith(DIAGNOSTICS)).make()
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    qtbot.waitUntil(page.verdict.isVisible, timeout=20_000)
    model = page.table.view.model()
    heads = [model.headerData(i, Qt.Orientation.Horizontal, 0) for i in range(model.columnCount())]
    assert heads == ["Quantity", "Restart 1", "Restart 2", "Restart 3"]
    assert not page.dots.isVisible()
    assert not page.ranks[0].isVisible()
    assert [line.name for line in page.trace.lines] == ["Restart 1", "Restart 2", "Restart 3"]
    assert len(page.trace.lines[0].y) == run.chains[0].sweep
    objective = run.spec.primary_trace.title
    assert page._diagnosis.quantities[0].title == page.trace.title.lower() == objective, "as the verdict says"
    methods = page.verdict.buttons.itemAt(0).widget()
    assert methods.text() == "What to write in the paper…"
    with qtbot.waitSignal(page.methods_asked) as asked:
        qtbot.mouseClick(methods, Qt.MouseButton.LeftButton)
    assert asked.args == [run.id]
    wait_for_tasks()


class Keeper(toys.Climb):
    """A variational model that keeps numbers of which it makes no trace."""

    spec = replace(
        toys.Climb.spec,
        id="toy.keeper",
        title="Keeper",
        variables=(*toys.Climb.spec.variables, Variable("rate", label="precision rate"), Variable("level")),
    )

    def draws(self, state, data, params):
        found = super().draws(state, data, params)
        return {**found, "rate": 2.5 + found["place"][0], "level": float(found["place"].mean())}


def test_restarts_show_what_is_kept_at_the_end_though_no_trace_has_its_name(qapp, qtbot):
    from plaidwork.gui.run_pages import run_pages

    workbench = Workbench(toy_registry())
    session = Session(name="climbs")
    fitted = plan(Keeper, chains=3)
    run = session.add_run(fitted)
    execute(run, fitted)
    workbench.set_session(session)
    page = next(info for info in run_pages(workbench, run) if info.key.endswith("diagnostics")).make()
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    qtbot.waitUntil(page.verdict.isVisible, timeout=20_000)
    view, model = page.table.view, page.table.view.model()
    titles = [q.title for q in page._diagnosis.quantities]
    assert {"precision rate", "level"} <= set(titles)
    row = titles.index("precision rate")
    shown = [model.index(row, column).data() for column in range(1, 4)]
    kept = run.draws["rate"][:, -1]
    assert [float(text) for text in shown] == pytest.approx(kept, rel=1e-4)
    cell = view.visualRect(model.index(row, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=cell)
    assert page.trace.title == "Precision rate"
    points = [item for item in page.trace.area.items if isinstance(item, pg.ScatterPlotItem)]
    assert points[-1].getData()[1] == pytest.approx(kept)
    wait_for_tasks()


class Descent(toys.Walk):
    """Lower is better."""

    spec = replace(
        toys.Walk.spec,
        id="toy.descent",
        title="Descent",
        traces=(Trace("lp", "loss", primary=True, goal="down"),),
    )

    def step(self, state, data, params, rng, clock):
        state["place"], state["items"] = rng.normal(size=len(state["place"])), np.zeros(0)
        state.setdefault("at", float(rng.integers(1, 10**6)) / 10**6)
        return {"lp": state["at"]}


def test_the_best_is_the_lowest_where_lower_is_better(qapp, qtbot):
    workbench = Workbench(toy_registry())
    session = Session(name="descents")
    fitted = plan(Descent, chains=3)
    run = session.add_run(fitted)
    execute(run, fitted)
    workbench.set_session(session)
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.tick()
    levels = [record.trace.snapshot()["lp"][-1] for record in run.chains]
    assert float(page._figures["primary"].value) == pytest.approx(min(levels), rel=1e-3)
    assert page._figures["primary"].note == f"lowest: chain {int(np.argmin(levels)) + 1}"
    wait_for_tasks()


def test_the_level_of_a_short_run_has_nothing_of_its_warm_up(finished, qtbot):
    workbench, run = finished
    run.schedule = replace(run.schedule, warmup=190)
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.tick()
    name = run.spec.primary_trace.name
    series = [record.trace.snapshot()[name] for record in run.chains]
    sign = -1.0 if run.spec.primary_trace.goal == "down" else 1.0
    level = max(sign * values[190:].mean() for values in series)
    assert float(page._figures["primary"].value.replace("−", "-")) == pytest.approx(sign * level, rel=1e-2)
    assert f"last {len(series[0]) - 190} sweeps" in page._figures["primary"].toolTip()


def test_of_a_run_that_failed_early_there_is_nothing_to_wait_for(qapp, qtbot):
    from plaidwork.gui.monitor.diagnostics_page import DiagnosticsPage

    workbench = Workbench(toy_registry())
    session = Session(name="stumbles")
    fitted = plan(fail_at=2)
    run = session.add_run(fitted)
    with pytest.raises(ModelError):
        execute(run, fitted)
    workbench.set_session(session)
    assert run.status == "failed"
    page = DiagnosticsPage(workbench, run)
    qtbot.addWidget(page)
    page.show()
    told = [label.text() for label in page._empty.findChildren(Label)]
    assert "The run failed before a draw was kept." in told
    wait_for_tasks()


def run_of_noise(spec, chains=3):
    """A finished run of a declaration alone: random traces, and of every variable what is declared of it."""
    rng = np.random.default_rng(2)
    schedule = Schedule(chains=chains, max_sweeps=20)
    run = Run("noise", "Noise", spec, {}, schedule, 1, 0.0, {}, "", [], status="done")
    for number in range(chains):
        record = ChainRecord(spec, schedule, 1, number)
        for _ in range(12):
            record.trace.append({trace.name: float(rng.normal()) for trace in spec.traces})
        kinds = {"float": float, "int": np.int64, "bool": bool}
        record.draws.append(
            {
                variable.name: rng.normal(size=(2,) * len(variable.dims)).astype(kinds[variable.dtype])
                for variable in spec.variables
            }
        )
        record.sweep, record.converged = 12, True
        run.chains.append(record)
    return run


@pytest.mark.slow
def test_every_quantity_of_every_built_in_optimised_model_can_be_shown(qapp, qtbot):
    """What is diagnosed may be a trace or a kept number, whichever a model declares."""
    from plaidwork.core.plugins.registry import Registry
    from plaidwork.gui.monitor.restart_diagnostics import RestartDiagnosticsPage

    specs = [spec for spec in Registry().load().specs() if spec.algorithm != "mcmc"]
    assert len(specs) > 3
    sources = set()
    for spec in specs:
        workbench = Workbench(toy_registry())
        run = run_of_noise(spec)
        session = Session(name=spec.id)
        session.runs[run.id] = run
        workbench.set_session(session)
        page = RestartDiagnosticsPage(workbench, run)
        qtbot.addWidget(page)
        qtbot.waitUntil(lambda page=page: page._diagnosis is not None, timeout=20_000)
        assert page.table.view.model().rowCount() == len(page._diagnosis.quantities)
        for row, quantity in enumerate(page._diagnosis.quantities):
            page.table.select_row(row)
            page._choose_row(row)
            sources.add(quantity.source)
            assert page.trace.title.casefold() == quantity.title.casefold()
    assert sources == {"trace", "variable"}
    wait_for_tasks()


def test_a_trace_declared_logarithmic_is_drawn_so(finished, qtbot):
    from dataclasses import replace

    from plaidwork.gui.monitor.trace_plot import TracePlot

    _workbench, run = finished
    plot = TracePlot(run, replace(run.spec.traces[0], y_log=True), large=False)
    qtbot.addWidget(plot)
    name = plot.trace.name
    plot.draw([{name: np.array([100.0, 0.0, 0.01, 1.0])}] * len(run.chains))
    line = plot.lines[0]
    np.testing.assert_array_equal(line.curve.getOriginalDataset()[1], [2, np.nan, -2, 0])
    assert plot.y_axis.tickStrings([-2.0, 0.0, 2.0], 1, 1) == ["0.01", "1", "100"]
    assert plot.read_out(3.0, -2.0).endswith(": 0.01")
    np.testing.assert_array_equal(plot.data()[plot.y_axis.word or "y"][:4], [100, 0, 0.01, 1])


def test_a_trace_that_the_settings_hold_still_is_not_shown(qapp, qtbot):
    lp, level = toys.Walk.spec.traces
    rate = Trace("rate", "Taken", kind="acceptance", when={"fail_at": 0})
    spec = replace(toys.Walk.spec, traces=(lp, replace(level, when={"stride": 9.0}), rate))
    run = run_of_noise(spec)
    workbench = Workbench(toy_registry())
    workbench.session.runs[run.id] = run
    found = []
    for stride in (0.5, 9.0):
        run.params = {"stride": stride, "fail_at": 0 if stride == 0.5 else 3}
        page = LivePage(workbench, run)
        qtbot.addWidget(page)
        qtbot.addWidget(page.side_panel())
        page.resize(900, 700)
        page.show()
        qtbot.waitUntil(lambda page=page: len(page._plots) == (1 if run.params["stride"] == 0.5 else 2))
        found.append(("rate" in page.side_panel()._rates, [plot.trace.name for plot in page._plots]))
    assert found == [(True, ["lp"]), (False, ["lp", "level"])]
    wait_for_tasks()


def test_small_plots_that_wait_for_their_turn_leave_no_hole(finished, qtbot):
    """A plot that is not painted yet is not seen either: a widget that is but does not paint would show as black."""
    page = LivePage(*finished)
    page._maker.stop()
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.resize(900, 700)
    page.show()
    for _ in range(6):  # two plots are made, the small one is placed, and has its turn
        page._make_next()
        qtbot.wait(40)
        dark = page.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        grey = np.frombuffer(dark.constBits(), np.uint8).reshape(dark.height(), -1)
        assert (grey[:, : dark.width()] < 4).mean() < 0.01
    assert len(page._plots) == 2
    assert all(plot.isVisible() for plot in page._plots)


def test_a_long_value_cuts_no_title_but_its_own(finished, qtbot):
    """“Kept draws” is cut when there is no room beside its own number, not because another row is long."""
    workbench, run = finished
    run.goal = run.schedule.with_(budget=60.0)  # “until settled, about 1 min at most”
    panel = ChainPanel(workbench, run)
    qtbot.addWidget(panel)
    panel.resize(250, 700)
    panel.show()
    QApplication.processEvents()
    title = next(label for label in panel.findChildren(Label) if label.text() == "Kept draws")
    assert title.width() >= title.fontMetrics().horizontalAdvance("Kept draws")


def test_words_of_the_figures_are_whole_where_there_is_room_for_all(finished, qtbot):
    """A short number leaves its room to a long note."""
    workbench, run = finished
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.resize(720, 600)
    page.show()
    figure = page._figures["verdict"]
    figure.set_value("Settled", "largest R-hat 1.003, of all the quantities")
    assert figure.cut
    page._share_row()
    qtbot.waitUntil(lambda: not any(one.cut for one in page._figures.values()))
    page.resize(740, 600)
    QApplication.processEvents()
    assert not any(one.cut for one in page._figures.values())


def test_labels_of_the_figures_come_before_their_notes(finished, qtbot):
    workbench, run = finished
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    page.resize(640, 600)
    page.show()
    for figure in page._figures.values():
        figure.set_value("1", "far more words than there is room for in a row of figures")
    page._share_row()
    QApplication.processEvents()
    assert all(figure.cut for figure in page._figures.values())
    assert not any(figure._label.cut(figure._label.width()) for figure in page._figures.values())


def test_a_legend_that_lacks_restarts_names_none(qapp, qtbot):
    """There were two restarts at first, and then more than a legend has room for."""
    run, more = run_of_noise(toys.Climb.spec, 2), run_of_noise(toys.Climb.spec, 6)
    plot = TracePlot(run, run.spec.primary_trace, True)
    qtbot.addWidget(plot)
    assert len(plot.legend.entries) == 2
    run.chains = more.chains
    plot.draw([record.trace.snapshot() for record in run.chains])
    assert len(plot.lines) == 6
    assert plot.legend.entries == []


def test_what_is_left_of_restarts_is_said_to_be_the_most(qapp, qtbot):
    """They end as soon as they gain no more."""
    workbench = Workbench(toy_registry())
    run = run_of_noise(toys.Climb.spec, 2)
    run.status = "running"
    page = LivePage(workbench, run)
    qtbot.addWidget(page)
    qtbot.addWidget(page.side_panel())
    assert page._figures["left"].accessibleName().startswith("Time left at most")


def test_a_budget_that_is_spent_does_not_promise_an_end_in_no_time():
    assert _at_most(-3.0) == "ends after a first look"
    assert _at_most(12.0).startswith("at most ")


@pytest.mark.parametrize(("active", "shown"), [(True, "250"), (False, "50")])
def test_until_it_ends_a_run_that_settles_says_how_many_draws_were_asked_for(active, shown):
    """Its schedule is one to the next look."""
    now = Schedule(warmup=20, draws=50)
    run = SimpleNamespace(schedule=now, goal=replace(now, draws=250, budget=60.0), active=active)
    assert ("Kept draws", shown, "per chain") in sampling_rows(cast("Run", run))
