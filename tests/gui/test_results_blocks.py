"""The block picture and its panel, through real clicks, keys and wheels."""

from __future__ import annotations

import csv
import time

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QWidget
from shiboken6 import isValid

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Facts
from plaidwork.core.views.matrices import colour_limits
from plaidwork.gui.pictures.axes import placed_names
from plaidwork.gui.results import make_view
from plaidwork.gui.results.name_edit import NameEdit
from plaidwork.gui.theme import theme
from tests.gui.result_runs import VIEWS, block_results, make_dataset, make_run, toy_run


@pytest.fixture
def opened(qtbot):
    """Open a view of a run in a frame with its panel: (page, panel)."""
    kept = []

    def open_view(workbench, run, view=None, size=(1180, 640)):
        frame = QWidget()
        qtbot.addWidget(frame)
        page = make_view(workbench, run, view or run.spec.views[0])
        row = QHBoxLayout(frame)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(page, 1)
        panel = page.side_panel()
        if panel is not None:
            panel.setFixedWidth(330)
            row.addWidget(panel)
        frame.resize(*size)
        frame.show()
        settle(page)
        kept.append((frame, workbench))
        return page, panel

    return open_view


def settle(page) -> None:
    assert page.wait(20_000)
    QApplication.processEvents()
    assert page.wait(20_000)
    QApplication.processEvents()


def spot(page, row: int, column: int) -> QPoint:
    return page.canvas.point_of(row, column).toPoint()


def free_cell(page, block: int) -> tuple[int, int]:
    """A cell that only this block holds and that no tag covers."""
    rows, columns = page.blocks.masks
    for row in np.flatnonzero(rows[block]):
        for column in np.flatnonzero(columns[block]):
            at = page.canvas.point_of(int(row), int(column))
            tagged = any(page.canvas.tag_rect(b).contains(at) for b in range(len(page.blocks)))
            if page.blocks.blocks_at(row, column) == [block] and not tagged:
                return int(row), int(column)
    raise AssertionError("no such cell")


def wheel(canvas, at: QPoint, steps: int) -> None:
    event = QWheelEvent(
        QPointF(at),
        QPointF(canvas.mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


# -- picture ------------------------------------------------------------------------------------
def test_every_block_is_outlined_whole(opened):
    page, _ = opened(*toy_run())
    assert page.state == ""
    assert page._headline.text().startswith("3 blocks cover")
    picture = page.canvas.ordered
    for block in range(3):
        rows, columns = page.blocks.masks
        cells = sum(round(r.width()) * round(r.height()) for r in page.canvas.parts(block))
        cell = page.canvas.map_frame.area.width() / 30 * page.canvas.map_frame.area.height() / 40
        assert cells == pytest.approx(rows[block].sum() * columns[block].sum() * cell, rel=0.05)
        assert not page.canvas.tag_rect(block).isEmpty()
    assert sorted(picture.row_order.tolist()) == list(range(40))
    assert page.canvas.grab().toImage().pixelColor(5, 5).isValid()


def test_few_blocks_are_listed_whole_beside_the_picture(opened):
    _, panel = opened(*toy_run())
    (table,) = panel.tables[:1]
    assert table.view.verticalScrollBar().maximum() == 0


def test_cells_have_the_colour_of_their_value(opened):
    page, _ = opened(*toy_run())
    page.canvas.outlined = False
    page.canvas.show_blocks()
    image = page.canvas.grab().toImage()
    data, table = page.blocks.data, theme().lut("loom")
    low, high = data.limits
    for row, column in ((0, 0), (17, 3), (39, 29)):
        at = page.canvas.point_of(row, column)
        share = np.clip((data.values[row, column] - low) / (high - low), 0, 1)
        found = image.pixelColor(at.toPoint()).getRgb()[:3]
        assert np.abs(np.array(found) - table[int(share * 255.999)][:3]).max() <= 12


def test_click_isolates_and_orders_around_the_block(opened, qtbot):
    page, panel = opened(*toy_run())
    for block in (2, 0):
        row, column = free_cell(page, block)
        qtbot.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=spot(page, row, column))
        settle(page)
        assert page.blocks.selection.get("layer") == (block,)
        rows, columns = page.blocks.masks
        n, m = page.blocks.size(block)
        assert rows[block][page.canvas.ordered.row_order[:n]].all()
        assert columns[block][page.canvas.ordered.column_order[:m]].all()
        assert panel.tables[0].selected_rows() == [block]
        assert facts_of(page).title == f"Block {block + 1}"
    assert "around Block 1" in page._foot.text()
    qtbot.keyClick(page.canvas, Qt.Key.Key_Escape)
    settle(page)
    assert page.blocks.selected is None
    assert "ordered by block" in page._foot.text()


def test_click_on_a_tag_and_beside_all_blocks(opened, qtbot):
    page, _ = opened(*toy_run())
    qtbot.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=page.canvas.tag_rect(1).center().toPoint())
    settle(page)
    assert page.blocks.selected == 1
    rows, columns = page.blocks.masks
    lone = int(np.flatnonzero(~rows.any(0))[0]), int(np.flatnonzero(~columns.any(0))[0])
    qtbot.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=spot(page, *lone))
    assert page.blocks.selected is None


def test_double_click_opens_the_sub_matrix_and_escape_leaves(opened, qtbot):
    page, _ = opened(*toy_run())
    at = spot(page, *free_cell(page, 1))
    QTest.mouseDClick(page.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    settle(page)
    assert page.blocks.selected == 1
    (a, b), (c, d) = page.canvas.visible_range
    n, m = page.blocks.size(1)
    assert n <= b - a <= n + 3
    assert m <= d - c <= m + 3
    assert "of 40 genes" in page._foot.text()
    qtbot.keyClick(page.canvas, Qt.Key.Key_Escape)
    assert not page.canvas.zoomed
    assert page.blocks.selected == 1
    qtbot.keyClick(page.canvas, Qt.Key.Key_Escape)
    assert page.blocks.selected is None


def test_brackets_step_and_enter_opens(opened, qtbot):
    page, _ = opened(*toy_run())
    chosen = []
    for key in (
        Qt.Key.Key_BracketRight,
        Qt.Key.Key_BracketRight,
        Qt.Key.Key_BracketRight,
        Qt.Key.Key_BracketRight,
    ):
        qtbot.keyClick(page.canvas, key)
        chosen.append(page.blocks.selected)
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketLeft)
    assert chosen == [0, 1, 2, 0]
    assert page.blocks.selected == 2
    settle(page)
    qtbot.keyClick(page.canvas, Qt.Key.Key_Return)
    settle(page)
    assert page.canvas.zoomed


def test_wheel_zooms_about_the_pointer_and_drag_pans(opened, qtbot):
    page, _ = opened(*toy_run())
    canvas = page.canvas
    at = spot(page, 11, 7)
    for _ in range(3):
        wheel(canvas, at, 1)
    assert canvas.zoomed
    assert canvas.cell_at(QPointF(at)) == (11, 7)
    before = canvas.visible_range
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    for step in range(1, 6):
        moved = QPointF(at + QPoint(12 * step, 9 * step))
        QApplication.sendEvent(
            canvas,
            QMouseEvent(
                QEvent.Type.MouseMove,
                moved,
                QPointF(canvas.mapToGlobal(moved.toPoint())),
                Qt.MouseButton.NoButton,
                Qt.MouseButton.LeftButton,
                Qt.KeyboardModifier.NoModifier,
            ),
        )
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at + QPoint(60, 45))
    assert canvas.visible_range != before
    assert page.blocks.selected is None  # a drag is no click
    wheel(canvas, at, -30)
    assert not canvas.zoomed


def test_labels_appear_when_they_fit(opened):
    page, _ = opened(*toy_run(n=400, m=120))
    assert len(placed_names(page.canvas.map_frame.y, 16)) < 60
    page.canvas.show_part((0, 12), (0, 6))
    frame = page.canvas.map_frame
    assert [tick.text for tick in placed_names(frame.y, 16)] == list(frame.panel.y.names[:12])
    assert frame.area.left() > 30
    assert frame.area.bottom() < page.canvas.height() - 12


def test_hover_tells_names_and_value(opened, qtbot):
    page, _ = opened(*toy_run())
    told = []
    page.hovered.connect(told.append)
    row, column = free_cell(page, 0)
    qtbot.mouseMove(page.canvas, spot(page, row, column))
    value = page.blocks.data.values[row, column]
    shown = f"{value:+.2f}".replace("-", "−")
    assert told[-1] == f"gene {row + 1}, sample {column + 1}: {shown}, in Block 1"


def test_arrow_keys_move_a_cell_cursor(opened, qtbot):
    page, _ = opened(*toy_run())
    told = []
    page.hovered.connect(told.append)
    page.canvas.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right):  # the first one begins at the corner
        qtbot.keyClick(page.canvas, key)
    picture = page.canvas.ordered
    assert told[-1].startswith(f"gene {picture.row_order[0] + 1}, sample {picture.column_order[1] + 1}:")


# -- options ------------------------------------------------------------------------------------
def test_threshold_outlines_again_and_tells_when_nothing_is_left(opened, qtbot):
    workbench, run = toy_run()
    run.results["row_probability"] = Result(np.minimum(run.results["row_probability"].values, 0.91))
    page, _ = opened(workbench, run)
    before = page.blocks.size(0)
    page.threshold.slider.setFocus()
    qtbot.keyClick(page.threshold.slider, Qt.Key.Key_PageUp)
    assert page.blocks.selection.threshold == pytest.approx(0.6)
    assert page.blocks.size(0)[0] <= before[0]
    assert run.view_settings["selection"]["threshold"] == pytest.approx(0.6)
    page.threshold.set_value(0.95)
    assert page.state == "No block at this threshold"
    assert "The strongest has 0.91" in page._pane._text.text()
    assert page._headline.text() == "No block at this threshold"
    button = page._pane._buttons.itemAt(0).widget()
    assert button.text() == "Set to 0.91"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert page.state == ""
    assert page.threshold.value == pytest.approx(0.91)
    assert workbench.view_changed
    assert not workbench.dirty


def test_order_follows_the_threshold_when_it_rests(opened, qtbot):
    page, _ = opened(*toy_run())
    shown = page.canvas.ordered
    page.threshold.set_value(0.9)
    assert page.canvas.ordered is shown  # nothing jumps under the hand
    qtbot.waitUntil(lambda: page.canvas.ordered is not shown, timeout=20_000)


def test_data_fit_residual_coverage(opened, qtbot):
    page, _ = opened(*toy_run())
    seen = []
    offered = [
        segment
        for segment in page.mode.findChildren(type(page.mode._group.button(0)))
        if not segment.isHidden()
    ]
    for segment, mode in zip(offered, ("data", "fit", "residual")):
        qtbot.mouseClick(segment, Qt.MouseButton.LeftButton)
        settle(page)
        order = page.canvas.ordered
        values = page.blocks.data.lines(mode, order.row_order)[:, order.column_order]
        assert np.allclose(order.cells.values, values, atol=1e-5)
        seen.append(page.canvas.grab().toImage())
    page.set_mode("coverage")
    settle(page)
    assert page.canvas.ordered.cells.map == "tide"
    assert page.canvas.ordered.cells.limits == (0, 1)
    assert len({bytes(image.constBits()) for image in seen}) == 3


def test_levels_of_rows_and_columns_are_taken_off_first(opened, qtbot):
    """With levels the page opens on the data without them, in colours of their own."""
    workbench, run = toy_run()
    n, m = run.results["coverage"].values.shape
    levels = np.linspace(-40.0, 40.0, n), np.linspace(0.0, 30.0, m)
    for side, values in zip(("row", "column"), levels, strict=True):
        run.results[f"{side}_list"] = Table({"Level": values})
    page, _ = opened(workbench, run)
    data = page.blocks.data
    assert data.modes == ["levelled", "data", "fit", "residual", "coverage"]
    order = page.canvas.ordered
    expected = data.values - levels[0][:, None] - levels[1]
    assert np.allclose(order.cells.values, expected[order.row_order][:, order.column_order], atol=1e-4)
    assert order.cells.limits != data.limits
    (segment,) = (
        part for part in page.mode.findChildren(type(page.mode._group.button(0))) if part.text() == "Data"
    )
    qtbot.mouseClick(segment, Qt.MouseButton.LeftButton)
    settle(page)
    order = page.canvas.ordered
    assert order.cells.limits == data.limits
    assert np.allclose(
        order.cells.values, data.values[order.row_order][:, order.column_order], atol=1e-5, equal_nan=True
    )


def test_modes_that_the_run_lacks_are_not_offered(opened):
    workbench, run = toy_run()
    for name in ("fit", "coverage"):
        del run.results[name]
    page, _ = opened(workbench, run)
    assert page._mode_field.isHidden()
    view = View("biclusters", "Blocks", VIEWS[0].source, options={"fit": "additive"})
    page, _ = opened(workbench, run, view)
    assert page.blocks.data.modes == ["data", "fit", "residual"]


def test_roles_may_come_from_a_table_of_blocks(opened):
    from plaidwork.core.contract.model import Table

    workbench, run = toy_run()
    shift = run.results["shift"].values
    run.results["blocks"] = Table(
        {
            "Block": np.array(["a", "b", "c"]),
            "Shift": shift,
            "Low": shift - 1,
            "High": shift + 1,
            "Present": shift * 0 + 0.5,
        },
        units={"Shift": "sd"},
    )
    source = {role: VIEWS[0].source[role] for role in ("matrix", "rows", "cols")} | {"blocks": "blocks"}
    page, panel = opened(workbench, run, View("biclusters", "Blocks", source))
    data = page.blocks.data
    assert np.allclose(data.interval[:, 1], shift + 1)
    assert data.shift_unit == "sd"
    assert "Present" in panel.tables[0].model.columns()


def test_strip_chooser_and_legend(opened, qtbot):
    page, _ = opened(*toy_run())
    assert page._strip_field.choice.currentText() == "class"
    assert {text for _, text in page._strip_field.legend._entries} == {"EWS", "BL", "NB"}
    page._strip_field.choice.setCurrentText("batch")
    assert {text for _, text in page._strip_field.legend._entries} == {"b0", "b1"}
    assert page.canvas.strips[0].title == "batch"
    page._strip_field.choice.setCurrentText("None")
    assert page.canvas.strips == ()
    assert page._strip_field.legend.isHidden()


def test_missing_cells_are_hatched_and_in_the_legend(opened, qtbot):
    page, _ = opened(*toy_run(missing=60))
    assert page._missing._entries == [("missing", "missing")]
    page.canvas.outlined = False
    page.canvas.show_blocks()
    image = page.canvas.grab().toImage()
    row, column = (int(i) for i in np.argwhere(np.isnan(page.blocks.data.values))[0])
    at = page.canvas.point_of(row, column).toPoint()
    colors = {image.pixelColor(at + QPoint(dx, 0)).name() for dx in range(-5, 6)}
    assert colors == {theme().color("border").name(), theme().color("axis").name()}
    told = []
    page.hovered.connect(told.append)
    qtbot.mouseMove(page.canvas, at)
    assert "missing" in told[-1]


def test_search_marks_and_shows_rows(opened, qtbot):
    page, _ = opened(*toy_run(n=200, m=60))
    page.find_in_page()
    qtbot.keyClicks(page.find_row.field, "gene 77")
    qtbot.keyClick(page.find_row.field, Qt.Key.Key_Return)
    assert page.blocks.selection.get("row") == (76,)
    assert page.find_row.found.text() == "gene 77"
    (a, b), _ = page.canvas.visible_range
    place = int(np.flatnonzero(page.canvas.ordered.row_order == 76)[0])
    assert a <= place < b
    qtbot.keyClicks(page.find_row.field, "xyz")
    qtbot.keyClick(page.find_row.field, Qt.Key.Key_Return)
    assert page.find_row.found.text() == "Nothing is called “gene 77xyz”"
    page.close_find()
    assert page.blocks.selection.get("row") == ()


# -- panel --------------------------------------------------------------------------------------
def test_list_shows_size_shift_and_presence(opened):
    page, panel = opened(*toy_run())
    text = panel.tables[0].model.text
    assert list(panel.tables[0].model.columns()) == ["Block", "Size", "Shift", "Present"]
    assert [text(0, 0), text(0, 1), text(0, 3)] == ["Block 1", "12 × 10", "100 %"]
    assert float(text(0, 2)) == pytest.approx(page.blocks.data.shift[0], abs=0.006)
    assert [row[0] for row in facts_of(page).rows] == ["In a block", "In several", "In none"]
    shifts = panel.charts[0].picture
    assert shifts.headline.startswith("Shift of each block")
    assert shifts.panels[0].y.names == ("Block 1", "Block 2", "Block 3")


def facts_of(page) -> Facts:
    """The numbers beside the picture."""
    return next(part for part in page._parts if isinstance(part, Facts))


def test_the_blocks_as_they_are_leave_on_paper(opened, tmp_path):
    workbench, run = toy_run()
    page, _ = opened(workbench, run)
    page.blocks.select(1)
    settle(page)
    text = page.export_picture(tmp_path / "b.svg").read_text()
    assert page._headline.text() in text  # words stay words
    assert page.blocks.name(1) in text
    assert "Membership at least" not in text
    page.canvas.outlined = False
    page.canvas.show_blocks()
    assert page.blocks.name(1) not in "".join(mark.name for mark in page.printed.panels[-1].marks)
    assert len(page.printed.panels[-1].marks) == 1
    page.blocks.selection.set_threshold(1.0)
    settle(page)
    assert page.printed.empty[0] == page.state
    page.blocks.selection.set_threshold(0.5)
    settle(page)


def test_a_name_is_edited_where_it_stands(opened, qtbot):
    workbench, run = toy_run()
    page, panel = opened(workbench, run)
    page.blocks.select(0)
    settle(page)
    assert panel.isVisible()
    page.rename_item()
    editor = panel.tables[0].view.viewport().findChild(QLineEdit)
    assert editor.hasFocus() or editor.isVisible()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert run.item_names == {}
    panel.hide()
    for key, kept in ((Qt.Key.Key_Escape, {}), (Qt.Key.Key_Return, {"block": {"0": "left"}})):
        page.rename_item()
        editor = page.window().findChild(NameEdit)
        assert editor.text() == "Block 1"
        tag = page.canvas.tag_rect(0).toRect()
        there = page.canvas.mapTo(page.window(), tag.center())
        assert editor.geometry().contains(there)  # over its tag in the picture
        editor.setText("left")
        qtbot.keyClick(editor, key)
        qtbot.waitUntil(lambda: page.window().findChild(NameEdit) is None)
        assert run.item_names == kept


def test_choose_in_the_list_rename_and_export(opened, qtbot, tmp_path):
    workbench, run = toy_run()
    page, panel = opened(workbench, run)
    view = panel.tables[0].view
    at = view.visualRect(view.model().index(1, 0)).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: page.blocks.selected == 1)
    settle(page)
    at = view.visualRect(view.model().index(1, 0)).center()  # the list is longer beside what is chosen
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert page._open_after_order is None  # a double click on a name edits it, and opens nothing
    editor = view.viewport().findChild(QLineEdit)
    assert editor.text() == "Block 2"
    editor.setText("NB low")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: run.item_names == {"block": {"1": "NB low"}})
    settle(page)
    assert panel.tables[0].model.text(1, 0) == "NB low"
    assert facts_of(page).title == "NB low"
    assert workbench.dirty
    path = tmp_path / "block.csv"
    page.write_file(page.block_file(1), path)
    settle(page)
    lines = list(csv.reader(path.open()))
    rows, columns = page.blocks.size(1)
    assert (len(lines), len(lines[0])) == (rows + 1, columns + 1)
    data = page.blocks.data
    i, j = data.row_names.index(lines[1][0]), data.column_names.index(lines[0][1])
    assert float(lines[1][1]) == data.values[i, j]
    workbench.name_item(run, "block", 1, "")
    assert page.blocks.name(1) == "Block 2"


def test_members_of_both_sides(opened, qtbot):
    page, panel = opened(*toy_run())
    page.blocks.select(0)
    settle(page)
    rows, columns = page.blocks.size(0)
    assert panel.titles == ["Blocks", f"{rows} genes", f"{columns} samples"]
    assert panel.tables[1].model.rowCount() == rows
    assert panel.tables[2].model.rowCount() == columns
    assert panel.tables[2].model.text(0, 0).startswith("sample")
    panel.tables[2].select_row(0)
    qtbot.waitUntil(lambda: len(page.blocks.selection.get("column")) == 1)
    profile = panel.charts[0].picture
    assert profile.headline == "Mean of its genes, by sample"
    means = profile.panels[0].marks[-1]
    inside = page.blocks.masks[1][0]
    assert means.color.count("neutral") == int((~inside).sum())
    data = page.blocks.data
    expected = data.values[page.blocks.masks[0][0]].mean(axis=0)
    assert np.sort(means.y) == pytest.approx(np.sort(expected))


def test_panel_goes_with_its_page(qtbot):
    workbench, run = toy_run()
    page = make_view(workbench, run, run.spec.views[0])
    panel = page.side_panel()
    settle(page)
    assert page.side_panel() is panel
    page.deleteLater()
    qtbot.waitUntil(lambda: not isValid(panel))
    workbench.selection(run).set("layer", (1,))
    theme().set_mode("dark")


def test_more_than_six_blocks_never_share_a_colour(opened):
    dataset, _, _ = make_dataset(80, 60)
    rows = [np.arange(k * 8, k * 8 + 9 - k // 2) for k in range(9)]
    columns = [np.arange(k * 6, k * 6 + 6) for k in range(9)]
    page, _ = opened(*make_run(dataset, block_results(dataset, rows, columns)))
    swatches = [page.blocks.swatch(block) for block in range(9)]
    assert sorted(s for s in swatches if isinstance(s, int)) == [0, 1, 2, 3, 4]
    assert swatches.count("control") == 4


# -- hard data ----------------------------------------------------------------------------------
@pytest.mark.parametrize(("n", "m"), [(1, 30), (40, 1), (2, 2), (1, 1)])
def test_tiny_matrices(opened, n, m):
    dataset, _, _ = make_dataset(n, m)
    page, _ = opened(*make_run(dataset, block_results(dataset, [np.arange(n)], [np.arange(m)])))
    assert page.state == ""
    page.grab()


def test_no_block_shows_the_matrix(opened):
    dataset, _, _ = make_dataset()
    results = block_results(dataset, [], [])
    del results["headline"]
    page, panel = opened(*make_run(dataset, results))
    assert page._headline.text() == "No block found"
    assert page.canvas.ordered is not None
    panel.grab()


def test_all_missing_and_long_names(opened):
    dataset, rows, columns = make_dataset()
    empty = dataset.with_(
        values=np.full(dataset.shape, np.nan),
        row_names=tuple(f"{i} " + "long name " * 30 for i in range(40)),
    )
    page, _ = opened(*make_run(empty, block_results(dataset, rows, columns)))
    page.blocks.select(0)
    settle(page)
    assert page.state == ""
    page.grab()
    assert page.minimumSizeHint().width() <= 500


def test_narrow_page(opened):
    page, _ = opened(*toy_run(), size=(820, 500))
    assert page.width() < 500
    page.grab()
    assert page._strip_field.choice.isHidden()
    page.window().resize(1700, 700)
    QApplication.processEvents()
    assert not page._strip_field.choice.isHidden()
    assert page._threshold_field.label.text() == "Membership at least"
    assert page._options.height() < 40  # one row


def test_colour_limits():
    rng = np.random.default_rng(1)
    centre, (low, high), _ = colour_limits(rng.normal(0.2, 1, (50, 50)))
    assert (centre, low) == (0, -high)
    centre, (low, high), _ = colour_limits(rng.normal(40, 2, (50, 50)))
    assert 38 < centre < 42
    assert high - centre == pytest.approx(centre - low)
    assert colour_limits(np.full((3, 3), np.nan))[1] == (-1, 1)


def test_theme_switch_equals_a_fresh_start(opened):
    workbench, run = toy_run()
    page, _ = opened(workbench, run)
    window = page.window()
    page.setFocus()
    light = window.grab().toImage()
    theme().set_mode("dark")
    QApplication.processEvents()
    dark = window.grab().toImage()
    theme().set_mode("light")
    QApplication.processEvents()
    assert window.grab().toImage() == light
    assert dark != light
    theme().set_mode("dark")
    fresh, _ = opened(*toy_run())
    fresh.setFocus()
    QApplication.processEvents()
    assert fresh.window().grab().toImage() == dark


@pytest.mark.slow
def test_large_matrix_moves_smoothly(opened, capsys):
    """Times are printed, not asserted: the machine may be busy."""
    dataset, rows, columns = make_dataset(5000, 2000)
    page, _ = opened(*make_run(dataset, block_results(dataset, rows, columns)))
    canvas, image = page.canvas, QImage(page.canvas.size(), QImage.Format.Format_RGB32)
    times = []
    for k in range(12):
        canvas.show_part((100 + 9.3 * k, 3300 + 9.3 * k), (50 + 3 * k, 1500 + 3 * k))
        started = time.process_time()
        canvas.render(image)
        times.append(1000 * (time.process_time() - started))
    with capsys.disabled():
        print(f"[5000 x 2000: {np.median(times):.1f} ms CPU a frame] ", end="")
    whole = page.canvas.ordered.cells.pyramid.sample((0, 5000), (0, 2000), 100, 100).cells
    assert whole.mean() == pytest.approx(page.blocks.data.values.mean(), abs=0.01)  # averaged, not picked
