"""Sizes, variants, focus and parts of the proxy style."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGroupBox,
    QLineEdit,
    QListWidget,
    QMenu,
    QProgressBar,
    QPushButton,
    QScrollBar,
    QSlider,
    QSpinBox,
    QStyle,
    QTabBar,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from plaidwork.gui.style import PlaidStyle, set_variant
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets import button


def colors_of(widget: QWidget) -> set[str]:
    image = widget.grab().toImage()
    return {
        image.pixelColor(x, y).name().upper() for x in range(image.width()) for y in range(image.height())
    }


def test_style_is_installed(qapp):
    assert isinstance(QApplication.style(), PlaidStyle)


@pytest.mark.parametrize("kind", [QPushButton, QLineEdit, QComboBox, QSpinBox, QDoubleSpinBox])
def test_controls_are_32_high(qtbot, kind):
    made = kind()
    qtbot.addWidget(made)
    if isinstance(made, QPushButton):
        made.setText("Start fit")
    assert made.sizeHint().height() == size.CONTROL


def test_primary_is_filled_and_wide_enough_for_bold(qtbot):
    made = button("A rather long label for one button", kind="primary")
    qtbot.addWidget(made)
    made.resize(made.sizeHint())
    bold = theme().font("strong")
    from PySide6.QtGui import QFontMetrics

    assert made.width() >= QFontMetrics(bold).horizontalAdvance(made.text()) + 12
    assert theme().hex("accent") in colors_of(made)
    made.setEnabled(False)
    assert theme().hex("accent") not in colors_of(made)


def test_invalid_field_is_outlined(qtbot):
    made = QLineEdit("1,1")
    qtbot.addWidget(made)
    assert theme().hex("error") not in colors_of(made)
    set_variant(made, "invalid")
    assert theme().hex("error") in colors_of(made)
    set_variant(made, "invalid", False)
    assert theme().hex("error") not in colors_of(made)
    with pytest.raises(ValueError, match="primary"):
        set_variant(made, "huge")


def test_focus_ring_after_tab(qtbot):
    pane = QWidget()
    qtbot.addWidget(pane)
    layout = QVBoxLayout(pane)
    items = [
        QLineEdit(),
        button("Go"),
        QCheckBox("x"),
        QComboBox(),
        QSpinBox(),
        QSlider(Qt.Orientation.Horizontal),
    ]
    for item in items:
        layout.addWidget(item)
    pane.show()
    pane.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is pane)
    for item in items:
        before = item.grab().toImage()
        item.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        assert item.grab().toImage() != before or isinstance(item, QLineEdit), item
        assert theme().hex("accent") in colors_of(item), item


def test_tab_keeps_its_width_when_current(qtbot):
    bar = QTabBar()
    qtbot.addWidget(bar)
    for text in ("Blocks", "Diagnostics"):
        bar.addTab(text)
    bar.setExpanding(False)
    first = bar.tabRect(1).size()
    bar.setCurrentIndex(1)
    assert bar.tabRect(1).height() == size.TAB
    assert bar.tabRect(1).width() == first.width()


def test_spin_box_steps_where_the_arrows_are(qtbot):
    made = QSpinBox()
    qtbot.addWidget(made)
    made.resize(100, 32)
    made.show()
    qtbot.mouseClick(made, Qt.MouseButton.LeftButton, pos=QPoint(87, 9))
    assert made.value() == 1
    qtbot.mouseClick(made, Qt.MouseButton.LeftButton, pos=QPoint(87, 24))
    assert made.value() == 0


def test_slider_follows_a_click(qtbot):
    made = QSlider(Qt.Orientation.Horizontal)
    qtbot.addWidget(made)
    made.setRange(0, 100)
    made.resize(200, 24)
    made.show()
    qtbot.mouseClick(made, Qt.MouseButton.LeftButton, pos=QPoint(150, 12))
    assert 70 <= made.value() <= 82


def test_scroll_bar_is_thin_and_its_handle_inside(qtbot):
    bar = QScrollBar(Qt.Orientation.Vertical)
    qtbot.addWidget(bar)
    bar.setRange(0, 1000)
    bar.setPageStep(100)
    bar.resize(10, 200)
    bar.setValue(1000)
    bar.show()
    assert bar.sizeHint().width() == size.SCROLL_BAR
    assert theme().hex("neutral") in colors_of(bar)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(5, 60))
    assert bar.value() < 1000


def test_progress_bar_is_six_high_without_text(qtbot):
    bar = QProgressBar()
    qtbot.addWidget(bar)
    bar.setTextVisible(False)
    bar.setValue(50)
    assert bar.sizeHint().height() == size.PROGRESS
    assert theme().hex("accent") in colors_of(bar)


def test_every_control_paints_in_both_schemes(qtbot):
    pane = QWidget()
    qtbot.addWidget(pane)
    layout = QVBoxLayout(pane)
    group = QGroupBox("Group")
    group.setCheckable(True)
    tree = QTreeWidget()
    tree.addTopLevelItem(QTreeWidgetItem(["a"]))
    listing = QListWidget()
    listing.addItems(["a", "b"])
    part = QCheckBox("part")
    part.setTristate(True)
    part.setCheckState(Qt.CheckState.PartiallyChecked)
    vertical = QSlider(Qt.Orientation.Vertical)
    busy = QProgressBar()
    busy.setRange(0, 0)
    editable = QComboBox()
    editable.setEditable(True)
    for item in (group, tree, listing, part, vertical, busy, editable, QTabBar()):
        layout.addWidget(item)
    for scheme in ("light", "dark"):
        theme().set_mode(scheme)
        assert not pane.grab().isNull()
    menu = QMenu(pane)
    menu.addAction("Open…").setShortcut("Ctrl+O")
    menu.addSeparator()
    checked = menu.addAction("Grid")
    checked.setCheckable(True)
    checked.setChecked(True)
    assert not menu.grab().isNull()
    metrics = menu.fontMetrics()
    assert menu.sizeHint().width() > metrics.horizontalAdvance("Open…") + metrics.horizontalAdvance("Ctrl+O")


def test_painting_leaks_no_references(qtbot):
    made = button("Go", kind="primary", icon_name="play")
    qtbot.addWidget(made)
    made.resize(100, 32)
    for _ in range(20):
        made.grab()
    before = sys.getrefcount(None)
    for _ in range(300):
        made.grab()
    assert abs(sys.getrefcount(None) - before) < 100


def test_check_box_part_is_square(qtbot):
    made = QCheckBox("Scale rows")
    qtbot.addWidget(made)
    made.resize(made.sizeHint())
    from PySide6.QtWidgets import QStyleOptionButton

    option = QStyleOptionButton()
    option.initFrom(made)
    rect = made.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, made)
    assert rect.size() == QSize(16, 16)
    assert QRect(QPoint(0, 0), made.size()).contains(rect)
