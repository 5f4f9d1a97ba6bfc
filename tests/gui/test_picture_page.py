"""The page of all pictures: those of plugins, their failures, choices of older sessions, pictures without a window."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from PySide6.QtCore import Qt

from plaidwork.core.api_pictures import Axis, Bars, Items, Panel, Picture, PictureFactory, Points
from plaidwork.core.contract.model import Result
from plaidwork.core.contract.plugin_info import PluginInfo
from plaidwork.core.contract.spec import View
from plaidwork.core.plugins.registry import Registry
from plaidwork.gui.results.picture_page import PicturePage
from plaidwork.gui.results.render import render_view
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench
from tests.gui.factor_runs import CURVE, choose, click, factor_run

OWN = View("picture", "Own", "scores", options={"factory": "guest.own"})


def guest_run(load):
    """A finished run in a window that knows a plugin with this picture."""
    module = ModuleType("guest_pictures")
    module.plaidwork_views = lambda: [PictureFactory("guest.own", "Own", load)]
    registry = Registry()
    registry._found = lambda: iter([(PluginInfo("guest", "guest_pictures", "installed"), lambda: module)])
    old, run = factor_run()
    workbench = Workbench(registry.load())
    workbench.set_session(old.session)
    return workbench, run


def own(results, choices):
    """Scores of the patients on a factor."""
    k = choices.among("factor", "Factor", [f"factor {i + 1}" for i in range(8)], searched=True)
    size, rows = choices.number("size", "Size", 4, 12, 8), choices.flag("rows", "By row", True)
    score = results.array("scores")[:, k]
    at = np.arange(len(score)) if rows else np.argsort(score)
    points = Points(at, score, size, read=lambda i: f"patient {i + 1}: {score[i]:.2f}", of=Items("row", at))
    return Picture(
        f"Factor {k + 1} reaches {score.max():.1f}",
        "From the plugin.",
        (Panel((points,), Axis("patient"), Axis("score")),),
        table={"Score": score},
    )


def test_a_plugins_own_picture_is_like_any_other(opened, qtbot, tmp_path):
    workbench, run = bench = guest_run(own)
    page = opened(bench, OWN)
    best = run.results["scores"].values.max(axis=0)
    assert page._headline.text() == f"Factor 1 reaches {best[0]:.1f}"
    assert page._caption.text() == "From the plugin."
    choose(qtbot, page.control("factor"), "factor 3")
    page.control("size").set_value(5)
    page.control("rows").click()
    assert page.wait(20_000)
    assert page._headline.text() == f"Factor 3 reaches {best[2]:.1f}"
    assert page.loaded.panels[0].marks[0].size == 5
    assert run.view_settings["choices"]["Own"] == {"Factor": "factor 3", "Size": 5, "By row": False}
    assert page.search("factor 8") == ["factor 8"]
    assert page.wait(20_000)
    assert page._headline.text().startswith("Factor 8")
    assert page.search("patient 17:") == [page.loaded.panels[0].marks[0].text(16)]
    assert page.chart.current.piece == 16
    qtbot.keyClick(page.chart, Qt.Key.Key_Return)
    assert len(workbench.selection(run).get("row")) == 1
    for kind in ("png", "svg", "pdf"):
        assert page.export_picture(tmp_path / f"own.{kind}").stat().st_size > 1000
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "own.csv")
    dialog.close()
    assert len((tmp_path / "own.csv").read_text().splitlines()) == 181


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (lambda results, choices: 1 / 0, "ZeroDivisionError"),
        (lambda results, choices: "nothing", "returned str, not a Picture"),
        (lambda results, choices: Picture("h", panels=(Panel((Points([1], [1, 2]),)),)), "one length"),
    ],
)
def test_a_picture_that_fails_names_its_plugin(opened, load, words):
    page = opened(guest_run(load), OWN)
    assert page.state == "This picture could not be drawn"
    told = page._pane.accessibleName()
    assert "guest" in told
    assert words in told


def test_a_read_out_that_fails_is_told_instead(opened, qtbot):
    def load(results, choices):
        return Picture("h", panels=(Panel((Bars([0, 1], [0, 0], [1, 2], read=lambda i: {}[i]),)),))

    page = opened(guest_run(load), OWN)
    qtbot.keyClick(page.chart, Qt.Key.Key_Right)
    assert "guest" in page.told[-1]
    assert "KeyError" in page.told[-1]


def test_a_picture_of_a_plugin_that_is_gone(opened):
    assert opened(factor_run(), OWN).state == "This picture could not be drawn"
    assert opened(factor_run(), View("picture", "Own", "scores")).state == "This picture could not be drawn"


def test_choices_of_older_sessions_are_taken_up(opened):
    """They were kept under the words beside the controls, lists by their text."""
    _, run = bench = factor_run()
    run.view_settings["choices"] = {"Course": {"Show": "factor 2"}}
    page = opened(bench, CURVE)
    assert page.control("show").currentText() == "factor 2"
    assert [mark.name for mark in page.loaded.panels[0].marks if mark.read is not None] == ["factor 2"]
    run.view_settings["choices"] = {"Course": {"Show": "factor 99", "Gone": 7}}
    assert opened(bench, CURVE).control("show").currentText() == "all"


def test_controls_that_come_and_go_keep_their_names(opened, qtbot):
    """Stacked curves are not chosen one by one: that control goes, and comes again as it was."""
    _, run = bench = factor_run()
    x = np.linspace(-2, 2, 30)
    share = np.exp(np.stack([-x, 0 * x, x]))
    run.results["stack"] = Result(share / share.sum(axis=0), ("kind", "place"), label="share")
    page = opened(bench, View("curve", "Shares", "stack"))
    choose(qtbot, page.control("show"), "kind 2")
    assert page.wait(20_000)
    first = page.control("drawn")
    for number, visible in ((1, False), (0, True), (1, False)):
        click(qtbot, page.control("drawn")._group.button(number), 5, 5)
        assert page.wait(20_000)
        assert page.control("show").isVisible() is visible
    assert page.control("drawn") is first
    assert run.view_settings["choices"]["Shares"] == {"Show": "kind 2", "As": "stacked"}
    assert opened(bench, View("curve", "Shares", "stack")).control("drawn").current == "stacked"


def test_new_results_keep_the_zoom(opened, qtbot):
    workbench, run = bench = factor_run()
    page = opened(bench, CURVE)
    qtbot.keyClick(page.chart, Qt.Key.Key_Plus)
    before = page.chart.zoom
    workbench.results_changed.emit(run.id)
    assert page.wait(20_000)
    assert page.chart.zoom == before != type(before)()
    choose(qtbot, page.control("show"), "factor 2")
    assert page.wait(20_000)
    assert not page.chart.zoomed


def test_selection_zoom_and_escape(opened, qtbot):
    workbench, run = bench = guest_run(own)
    page = opened(bench, OWN)
    workbench.selection(run).set("row", (4,))
    assert page.chart.selected == {"row": frozenset({4})}
    qtbot.keyClick(page.chart, Qt.Key.Key_Plus)
    assert page.chart.zoomed
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.chart.zoomed
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert workbench.selection(run).get("row") == ()
    page.pick("row", (3,))
    page.pick("bin", (5,))  # links the marks of one picture only
    assert workbench.selection(run).get("row") == (3,)
    page.pick("row", (3,))
    assert workbench.selection(run).get("row") == ()
    page.pick("row", (8,))
    click(qtbot, page.chart, 2, 2)
    assert workbench.selection(run).get("row") == ()


def test_without_a_window_there_are_no_controls(qapp):
    """The picture of the command line has the size asked for, and the ground of its scheme where controls would be."""
    workbench, run = factor_run()
    light = render_view(workbench.session, run, CURVE, (640, 400), "light", 2.0)
    dark = render_view(workbench.session, run, CURVE, (640, 400), "dark", 1.0)
    assert (light.width(), light.height()) == (1280, 800)
    assert (dark.width(), dark.height()) == (640, 400)
    assert light.pixelColor(3, 3).lightness() > 200 > 60 > dark.pixelColor(3, 3).lightness()
    assert theme().scheme == "light"


def test_the_page_follows_the_colours(opened):
    page = opened(factor_run(), CURVE)
    assert isinstance(page, PicturePage)
    light = page.grab().toImage()
    theme().set_mode("dark")
    assert page.grab().toImage() != light
