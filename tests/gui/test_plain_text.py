"""Text of a file is shown as text: no tool tip, box or axis takes a name for markup."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QToolTip, QWidget

from plaidwork.core.pictures import Prose
from plaidwork.gui.pictures.prose import document_of
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.plots.axis import PlotAxis
from plaidwork.gui.widgets import Label

NAME = '<img src="file:///nowhere.png"><b>bold</b>'


def _shown_tip():
    return next(w for w in QApplication.topLevelWidgets() if w.metaObject().className() == "QTipLabel")


def test_tool_tips_are_plain(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    QToolTip.showText(QPoint(5, 5), NAME, widget)
    assert _shown_tip().textFormat() == Qt.TextFormat.PlainText
    assert _shown_tip().text() == NAME
    QToolTip.hideText()


@pytest.mark.parametrize("make", [QLabel, Label])
def test_labels_are_plain_once_shown(qtbot, make):
    label = make(NAME)
    qtbot.addWidget(label)
    label.show()
    assert label.textFormat() == Qt.TextFormat.PlainText


def test_boxes_are_plain(qtbot):
    box = QMessageBox(QMessageBox.Icon.Warning, NAME, NAME)
    qtbot.addWidget(box)
    box.setInformativeText(NAME)
    box.show()
    assert {label.textFormat() for label in box.findChildren(QLabel)} == {Qt.TextFormat.PlainText}


def test_words_of_axes_are_plain(qtbot):
    axis = PlotAxis("bottom")
    axis.set_word(NAME)
    assert axis.label.toPlainText().strip() == NAME
    assert axis.word == NAME


def test_texts_that_are_read_are_plain(qapp):
    found = document_of(Prose(NAME), 400.0, Style("light"))
    assert found.toPlainText() == NAME
