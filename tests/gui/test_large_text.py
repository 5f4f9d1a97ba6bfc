"""Texts of 200 % and high contrast: nothing is cut on the main pages of a small window, and lines and texts are seen."""

import itertools

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QToolButton

from plaidwork.core.findings.analysis import AnalysisSpec
from plaidwork.core.session.session import Session
from plaidwork.gui import tokens
from plaidwork.gui.analyses.rail import Rail
from plaidwork.gui.data.role_chips import RoleChip
from plaidwork.gui.palettes import contrast
from plaidwork.gui.pictures.style import paper_style, screen_style
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.theme import TEXT_SCALES, theme
from plaidwork.gui.tokens import size
from plaidwork.gui.workbench import Workbench
from tests.gui.result_runs import ToyModel, toy_run
from tests.gui.window_tools import dataset, plan, toy_registry, window_on
from tests.registries import registry_of
from tests.walk import complaints, settle

PAGES = ("welcome", "set-up", "traces", "view 0", "settings")


@pytest.fixture
def twice(qapp, tmp_path, monkeypatch):
    """Texts twice as large."""
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    theme().set_text_scale(2.0)
    yield
    theme().set_text_scale(1.0)


def shown(window, page, run):
    window.resize(1024, 640)
    if page == "set-up":
        window.actions_by_key["new_fit"].trigger()
    elif page != "welcome":
        window.show_session()
        window.workspace.go_to(f"{run.id}/{page}")
    settle(window.workspace.current_page() or window)
    settle(window)


def bench_for(page):
    if page == "welcome":
        return Workbench(toy_registry()), None
    if page == "set-up":
        bench, session = Workbench(toy_registry()), Session(name="numbers")
        session.add_dataset(dataset())
        bench.set_session(session)
        return bench, None
    made, run = toy_run()
    bench = Workbench(registry_of(ToyModel))
    bench.set_session(made.session)
    return bench, run


@pytest.mark.parametrize("scheme", tokens.SCHEMES)
@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_cut_at_twice_the_size(twice, qtbot, tmp_path, page, scheme):
    theme().set_mode(scheme)
    bench, run = bench_for(page)
    with window_on(bench, tmp_path) as window:
        shown(window, page, run)
        assert complaints(window) == []


def test_all_of_a_long_verdict_is_read(twice, qtbot, tmp_path):
    bench, _ = bench_for("set-up")
    with window_on(bench, tmp_path) as window:
        window.show_session()
        window.commands._start_plan(plan(), "")
        run = window.current_run()
        qtbot.waitUntil(lambda: run.status == "done" and bool(run.results), timeout=20_000)
        window.messages.close_current()
        shown(window, "diagnostics", run)
        card = window.workspace.current_page().verdict
        qtbot.waitUntil(card.isVisible, timeout=20_000)
        text = (
            "Averages over all chains would mix different solutions: look at each by itself, or run longer. "
        )
        card._text.setText(text * 4)
        settle(window)
        assert card._text.height() >= card._text.heightForWidth(card._text.width())


def test_lines_of_the_list_of_analyses_grow_with_the_texts(qtbot):
    """They lay on each other."""
    rail = Rail()
    qtbot.addWidget(rail)
    rail.fill([AnalysisSpec(id="toy", version="1", title="Count", summary="What is counted.", needs={})], ())
    high = {}
    for scale in (1.0, 2.0, 1.0):
        theme().set_text_scale(scale)
        high[scale] = rail.visualItemRect(rail.item(1)).height()
        body, caption = (QFontMetrics(theme().font(role)).height() for role in ("body", "caption"))
        assert high[scale] >= body + 2 * caption
    assert high[2.0] == 2 * high[1.0]


def test_what_draws_its_own_words_grows_with_them(qtbot):
    chip = RoleChip("class", "Label", 0)
    qtbot.addWidget(chip)
    wide = {}
    for scale in (1.0, 2.0):
        theme().set_text_scale(scale)
        wide[scale] = chip.sizeHint().width()
        assert chip.font().pointSizeF() == pytest.approx(theme().font("caption").pointSizeF())
    theme().set_text_scale(1.0)
    assert wide[2.0] > wide[1.0]


def test_the_icon_of_what_is_wrong_is_not_cut(qtbot):
    line = ErrorLine()
    qtbot.addWidget(line)
    line.set_text("A reason.")
    for scale in (1.0, 2.0, 1.0):
        theme().set_text_scale(scale)
        drawn = line._icon.pixmap()
        assert drawn.width() / drawn.devicePixelRatio() <= line._icon.width()


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_recent_sessions_keep_their_lines_in_a_small_window(qapp, tmp_path, scale):
    theme().set_text_scale(scale)
    entries = [
        {
            "path": str(tmp_path / f"session {k}.plaidwork"),
            "line": "Walk 1",
            "time": "2026-11-20T10:00:00+00:00",
        }
        for k in range(6)
    ]
    with window_on(Workbench(toy_registry()), tmp_path) as window:
        window.resize(1024, 640)
        window.welcome.set_recent(entries)
        settle(window)
        assert complaints(window) == []
    theme().set_text_scale(1.0)


def test_texts_and_the_rows_that_hold_them_grow(qapp):
    points, row = theme().base_points, size.ROW
    for scale in TEXT_SCALES:
        theme().set_text_scale(scale)
        assert theme().base_points == pytest.approx(points * scale)
        assert QFontMetrics(theme().font("body")).height() <= size.ROW
    theme().set_text_scale(1.0)
    assert row == size.ROW
    with pytest.raises(ValueError, match=r"1\.25"):
        theme().set_text_scale(3.0)


def test_commands_change_the_size_and_the_contrast_and_keep_them(qapp, tmp_path):
    with window_on(Workbench(toy_registry()), tmp_path) as window:
        press = window.findChild(QToolButton)
        small = press.iconSize().width()
        for _ in range(5):
            window.actions_by_key["larger_text"].trigger()
        assert theme().text_scale == 2.0
        assert press.iconSize().width() > small, "icons of an open window grow with the words"
        assert window.settings.text("text_scale") == "2.0"
        window.actions_by_key["smaller_text"].trigger()
        assert theme().text_scale == 1.5
        window.actions_by_key["high_contrast"].trigger()
        assert theme().high_contrast
        assert window.settings.flag("high_contrast")
        window.actions_by_key["high_contrast"].trigger()
        assert not theme().high_contrast
    theme().set_text_scale(1.0)
    theme().set_contrast("system")


@pytest.mark.parametrize("scheme", tokens.SCHEMES)
def test_high_contrast(qapp, scheme):
    def code(name):
        return tokens.color_code(name, scheme, contrast=True)

    for ground in ("window", "surface", "sunken", "hover"):
        for ink in ("text", "muted", "faint", "link"):
            assert contrast(code(ink), code(ground)) >= 7, (ink, ground)
    for line, ground in itertools.product(("control", "border", "axis", "tint_line"), ("window", "surface")):
        assert contrast(code(line), code(ground)) >= 4.5, (line, ground)
    for state in ("ok", "warn", "error"):
        assert contrast(code(state), code("surface")) >= 7
        assert contrast(code(state), code(f"{state}_on")) >= 4.5
    assert contrast(code("on_accent"), code("accent")) >= 7
    assert contrast(code("neutral"), code("surface")) >= 3


def test_pictures_on_the_screen_have_high_contrast_and_those_on_paper_do_not(qapp):
    theme().set_contrast("high")
    try:
        assert screen_style().color("text").name().upper() == "#000000"
        assert paper_style(8).color("text").name().upper() == tokens.COLORS["text"][0]
        assert theme().hex("muted") == tokens.HIGH_CONTRAST["muted"][0]
    finally:
        theme().set_contrast("system")
    assert theme().hex("muted") == tokens.COLORS["muted"][0]
