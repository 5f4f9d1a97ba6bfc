"""Behaviour of the small widgets."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QTableView, QVBoxLayout, QWidget

from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets import (
    Card,
    Chip,
    ColorBar,
    DataTable,
    DockHeader,
    FlowLayout,
    KeyFigure,
    Label,
    MessageBar,
    SegmentedControl,
    Skeleton,
    SliderField,
    StatePane,
    button,
    data_table,
    table_model,
    tool_button,
)


def test_a_label_takes_a_second_line_before_it_is_cut(qtbot):
    """In a page that gives the rest of its height to the picture; what is too long for two lines is shown as a tool tip."""
    page = QWidget()
    qtbot.addWidget(page)
    made, column = Label("one two three four five six", "title", elide=True, lines=2), QVBoxLayout(page)
    column.addWidget(made)
    column.addWidget(QWidget(), 1)
    page.show()
    heights, tips = [], []
    for width in (500, 160, 90):
        page.resize(width, 400)
        QApplication.processEvents()
        page.grab()
        heights.append(made.height())
        tips.append(made.toolTip())
    assert heights[1] == heights[2] == 2 * heights[0] > 20
    assert tips == ["", "", made.text()]


def test_label_shows_markup_as_text_and_elides(qtbot):
    made = Label("<b>follicular lymphoma variant translocation</b>", elide=True)
    qtbot.addWidget(made)
    assert made.textFormat() == Qt.TextFormat.PlainText
    assert made.minimumSizeHint().width() <= 24
    made.resize(60, 20)
    made.grab()
    assert made.toolTip() == made.text()
    made.resize(600, 20)
    made.grab()
    assert made.toolTip() == ""
    made.setText("short")
    assert made.toolTip() == ""


def test_label_colour_follows_role_and_theme(qtbot):
    made = Label("x", color="warn")
    qtbot.addWidget(made)
    light = made.palette().color(made.foregroundRole()).name().upper()
    assert light == "#955F00"
    theme().set_mode("dark")
    assert made.palette().color(made.foregroundRole()).name().upper() == "#E8B54A"
    made.set_color("muted")
    assert made.palette().color(made.foregroundRole()).name().upper() == theme().hex("muted")


def test_card_clicks_by_mouse_and_key(qtbot):
    made = Card(clickable=True)
    qtbot.addWidget(made)
    made.resize(80, 60)
    made.show()
    with qtbot.waitSignal(made.clicked):
        qtbot.mouseClick(made, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(made.clicked):
        qtbot.keyClick(made, Qt.Key.Key_Return)
    quiet = Card()
    qtbot.addWidget(quiet)
    with qtbot.assertNotEmitted(quiet.clicked):
        qtbot.mouseClick(quiet, Qt.MouseButton.LeftButton)


def test_chip_grows_with_its_word(qtbot):
    made = Chip("OK", "ok")
    qtbot.addWidget(made)
    narrow = made.sizeHint().width()
    made.set("Not settled yet", "warn")
    assert made.sizeHint().width() > narrow
    assert made.kind == "warn"
    made.grab()
    with pytest.raises(ValueError, match="neutral"):
        Chip("x", "loud")


def test_message_bar_shows_newest_and_counts(qtbot):
    bar, heard = MessageBar(), []
    qtbot.addWidget(bar)
    assert not bar.isVisibleTo(None)
    first = bar.post("info", "One", "Text")
    bar.post("error", "Two", "Text", [("Retry", lambda: heard.append("retry"))], key="save")
    assert bar.current.title == "Two"
    assert bar.count == 2
    bar.post("error", "Two again", key="save")
    assert bar.count == 2
    bar.dismiss("save")
    assert bar.current.number == first
    bar.post(
        "warn", "Three", "", [("Do it", lambda: heard.append("done"))], on_close=lambda: heard.append("x")
    )
    from PySide6.QtWidgets import QPushButton

    live = [b for b in bar.findChildren(QPushButton) if b.text() == "Do it"]
    qtbot.mouseClick(live[0], Qt.MouseButton.LeftButton)
    assert heard == ["done"]
    assert bar.current.title == "One"
    bar.close_current()
    assert bar.count == 0
    assert bar.isHidden()
    bar.grab()
    with pytest.raises(ValueError, match="info"):
        bar.post("loud", "x")


def test_message_bar_times_out_and_stays_narrow(qtbot):
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.post("ok", "Saved to " + "x" * 50, "", seconds=0.02)
    with qtbot.waitSignal(bar.emptied, timeout=20_000):
        pass
    bar.post("warn", "word " * 40, "more " * 80, [("Recover", lambda: None), ("Later", lambda: None)])
    assert bar.minimumSizeHint().width() <= 640


def test_message_bar_keeps_its_number_after_closing_itself(qtbot):
    bar = MessageBar()
    qtbot.addWidget(bar)
    bar.post("info", "x", on_close=lambda: bar.post("info", "y"))
    bar.close_current()
    assert bar.current.title == "y"


def test_state_pane_actions_and_progress(qtbot):
    heard = []
    pane = StatePane("clock", "Ordering", "About 6 s left.", [("Cancel", lambda: heard.append(1))], 0.4)
    qtbot.addWidget(pane)
    pane.resize(500, 400)
    pane.show()
    from PySide6.QtWidgets import QProgressBar, QPushButton

    bar = pane.findChild(QProgressBar)
    assert bar.value() == 400
    assert bar.height() == size.PROGRESS
    qtbot.mouseClick(pane.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert heard == [1]
    pane.set(
        "error", "Failed", "", [("Details", lambda: 0, "quiet"), ("Again", lambda: 0, "primary", "refresh")]
    )
    assert bar.isHidden()
    QApplication.processEvents()
    visible = [b.text() for b in pane.findChildren(QPushButton) if not b.isHidden()]
    assert visible == ["Details", "Again"]
    pane.set_progress(3.0)
    assert bar.value() == 1000


def test_skeleton_and_key_figure_paint(qtbot):
    for made in (
        Skeleton(),
        Skeleton(0, 0),
        KeyFigure("Sweep"),
        DockHeader("Session", [tool_button("plus", "Add")]),
    ):
        qtbot.addWidget(made)
        made.resize(200, 120)
        assert not made.grab().isNull()
    figure = KeyFigure("Agreement", "Not yet", "R-hat 1.21")
    qtbot.addWidget(figure)
    figure.set_value("Settled", color="ok")
    assert (figure.value, figure.note) == ("Settled", "R-hat 1.21")


def test_segmented_control_by_mouse_and_key(qtbot):
    made = SegmentedControl([("data", "Data"), ("fit", "Fit"), "Residual"])
    qtbot.addWidget(made)
    made.show()
    assert made.current == "data"
    heard = []
    made.changed.connect(heard.append)
    made.set_current("fit")
    qtbot.keyClick(made, Qt.Key.Key_Right)
    qtbot.keyClick(made, Qt.Key.Key_Right)
    qtbot.keyClick(made, Qt.Key.Key_Left)
    assert heard == ["fit", "Residual", "fit"]
    with pytest.raises(KeyError, match="Residual"):
        made.set_current("nothing")
    made.grab()


def test_slider_field_values(qtbot):
    made = SliderField("Membership at least", 0.5, 1.0, 0.8, step=0.01)
    qtbot.addWidget(made)
    assert made.value == 0.8
    with qtbot.waitSignal(made.value_changed) as caught:
        made.set_value(0.9)
    assert caught.args == [0.9]
    made.set_range(0.0, 0.85)
    assert made.value == 0.85
    texts = [w.text() for w in made.findChildren(Label)]
    assert texts == ["Membership at least", "0.85"]


def test_color_bar_paints_with_clip_triangles(qtbot):
    made = ColorBar("loom", "−2.4", "0", "+2.4", label="log intensity")
    qtbot.addWidget(made)
    made.resize(320, 30)
    plain = made.grab().toImage()
    made.set_limits("−2.4", "0", "+2.4", clipped=(True, True))
    assert made.grab().toImage() != plain


def test_flow_layout_breaks_rows(qtbot):
    pane = QWidget()
    qtbot.addWidget(pane)
    flow = FlowLayout(pane)
    for k in range(6):
        item = QWidget()
        item.setFixedSize(80, 20)
        item.setObjectName(str(k))
        flow.addWidget(item)
    assert flow.heightForWidth(600) == 20
    assert flow.heightForWidth(180) == 3 * 20 + 2 * 8
    pane.resize(180, 100)
    pane.show()
    assert flow.itemAt(2).geometry().topLeft() == QPoint(0, 28)
    flow.itemAt(3).widget().setFixedSize(80, 30)
    pane.resize(180, 101)
    QApplication.processEvents()
    assert [flow.itemAt(k).geometry().y() for k in range(6)] == [0, 0, 33, 28, 66, 66], (
        "in the middle of their row"
    )


@pytest.fixture
def table(qtbot):
    made = DataTable(
        {
            "Block": ["EWS high", "BL low", "RMS high"],
            "Size": [75, 96, 8712],
            "Shift": np.array([0.75, math.nan, -1.125]),
        },
        swatch=[4, None, "teal"],
        filter_line=True,
    )
    qtbot.addWidget(made)
    made.resize(420, 200)
    return made


def shown(table) -> list[str]:
    return [table.model.text(r, 0) for r in range(table.model.rowCount())]


def test_table_text_and_alignment(table):
    model = table.model
    assert model.text(2, 1) == "8\u202f712"
    assert model.text(1, 2) == "–"
    assert model.text(2, 2) == "\u22121.125"
    right = Qt.AlignmentFlag.AlignRight
    role = Qt.ItemDataRole.TextAlignmentRole
    assert model.data(model.index(0, 1), role) & right
    assert not model.data(model.index(0, 0), role) & right
    assert model.headerData(1, Qt.Orientation.Horizontal, role) & right
    assert table.view.rowHeight(0) == size.ROW
    table.grab()


def test_table_sorts_with_missing_last(table):
    table.view.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert shown(table) == ["RMS high", "EWS high", "BL low"]
    table.view.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert shown(table) == ["EWS high", "RMS high", "BL low"]
    table.view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert shown(table) == ["BL low", "EWS high", "RMS high"]
    table.view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert shown(table) == ["EWS high", "BL low", "RMS high"]


def test_table_selection_names_given_rows(table, qtbot):
    table.view.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    with qtbot.waitSignal(table.row_selected) as caught:
        table.view.selectRow(0)
    assert caught.args == [2]
    table.set_filter("HIGH")
    assert shown(table) == ["RMS high", "EWS high"]
    assert table.selected_rows() == [2]
    table.select_row(0)
    assert table.selected_rows() == [0]
    table.set_filter("")
    assert table.selected_rows() == [0]


def test_table_copy_and_csv(table, tmp_path):
    table.select_row(2)
    table.copy()
    assert QApplication.clipboard().text() == "Block\tSize\tShift\nRMS high\t8712\t-1.125"
    path = tmp_path / "t.csv"
    table.to_csv(path)
    rows = list(csv.reader(path.open(encoding="utf-8")))
    assert rows[0] == ["Block", "Size", "Shift"]
    assert rows[2] == ["BL low", "96", ""]


def test_table_refuses_unequal_columns(table):
    with pytest.raises(ValueError, match="equal length, got a: 1, b: 2"):
        table.set_columns({"a": [1], "b": [1, 2]})
    table.set_columns({})
    assert table.model.rowCount() == 0
    table.grab()


def test_table_numbers_share_decimals_and_none_is_missing(qtbot):
    made = DataTable(
        {"Mean": [1.5, None, -2.0, 0.25], "Whole": [1.0, 2.0, np.nan, 4000.0], "On": [True, 0, 1, 2]}
    )
    qtbot.addWidget(made)
    texts = [[made.model.text(r, c) for r in range(4)] for c in range(3)]
    assert texts[0] == ["1.50", "–", "\u22122.00", "0.25"]
    assert texts[1] == ["1", "2", "–", "4\u202f000"]
    assert texts[2][0] == "True"


def test_table_numbers_that_are_not_zero_never_read_zero(qtbot):
    made = DataTable(
        {"Share": [0.2118, 1.37e-7, 0.0265, 0.0], "Name": list("abcd")}, status=["ok", "", "", ""]
    )
    qtbot.addWidget(made)
    assert [made.model.text(r, 0) for r in range(4)] == ["0.2118", "< 0.0001", "0.0265", "0"]
    icons = [made.model.data(made.model.index(r, 0), Qt.ItemDataRole.DecorationRole) for r in (0, 1)]
    assert icons[1] is not None  # keeps the place, so that all words begin on one line
    assert not icons[1].isNull()


def test_table_is_fast_with_many_rows(qtbot):
    made = DataTable({"Gene": [f"gene {i}" for i in range(20_000)], "Mean": np.arange(20_000.0)})
    qtbot.addWidget(made)
    made.set_filter("gene 1999")
    assert made.model.rowCount() == 11


def test_buttons_call_without_arguments(qtbot):
    pane, heard = QWidget(), []
    qtbot.addWidget(pane)
    layout = QVBoxLayout(pane)
    for made in (button("Go", lambda: heard.append(1)), tool_button("plus", "Add", lambda: heard.append(2))):
        layout.addWidget(made)
        qtbot.mouseClick(made, Qt.MouseButton.LeftButton)
    assert heard == [1, 2]
    with pytest.raises(ValueError, match="primary"):
        button("x", kind="loud")


def test_a_large_figure_that_has_no_room_is_smaller_before_it_is_cut(qtbot):
    from plaidwork.gui.widgets import KeyFigure

    figure = KeyFigure("Convergence", "–", "4 of 4")
    qtbot.addWidget(figure)
    figure.resize(400, 60)
    figure.show()
    figure.set_value("Not converged")
    label = figure._value
    large, height = label.font().pointSizeF(), label.minimumHeight()
    figure.resize(label.fontMetrics().horizontalAdvance("Not converged") - 10, 60)
    assert label.font().pointSizeF() < large
    assert label.fontMetrics().horizontalAdvance("Not converged") <= figure.width()
    assert label.minimumHeight() == height
    figure.resize(400, 60)
    assert label.font().pointSizeF() == large


def test_a_table_of_very_many_columns_measures_and_formats_only_some(qtbot, monkeypatch):
    formatted, measured = [], []
    monkeypatch.setattr(table_model, "column_format", lambda values: formatted.append(1) or str)
    monkeypatch.setattr(QTableView, "resizeColumnToContents", lambda view, column: measured.append(column))
    made = DataTable({f"c{number}": np.arange(3.0) for number in range(2000)})
    qtbot.addWidget(made)
    assert len(measured) <= data_table.MOST_FITTED
    assert len(formatted) <= data_table.MOST_FITTED
    assert made.model.data(made.model.index(0, 1999)) == "0.0"
    assert len(formatted) <= data_table.MOST_FITTED + 1


def test_names_are_never_cut_for_columns_of_numbers(qtbot):
    """They take what others leave, and with little room the table scrolls."""
    names = [f"EWS sample {i}" for i in range(9)]
    made = DataTable({"Sample": names, **{f"Value of class {k}": np.arange(9.0) for k in range(8)}})
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    view = made.view
    needed = view.sizeHintForColumn(0)
    assert view.columnWidth(0) >= needed
    assert view.horizontalHeader().length() > view.viewport().width()
    made.resize(2000, 300)
    assert view.horizontalHeader().length() == view.viewport().width()
    assert view.columnWidth(0) > needed + 200
    made.resize(500, 300)
    assert needed <= view.columnWidth(0) <= needed + 60
