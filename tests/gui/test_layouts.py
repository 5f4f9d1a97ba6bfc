"""Layouts as expressions: what each part becomes."""

import pytest
from PySide6.QtCore import QMargins, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget
from source_tree import files, name_of, text_of

from plaidwork.gui.widgets.layouts import STRETCH, add, grid_layout, horizontal, vertical, with_margins


@pytest.fixture
def widget(qtbot):
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize(("make", "kind"), [(vertical, QVBoxLayout), (horizontal, QHBoxLayout)])
def test_every_kind_of_part(widget, make, kind):
    plain, wide, right, inner = QLabel("a"), QLabel("b"), QLabel("c"), QHBoxLayout()
    layout = make(plain, (wide, 2), 7, STRETCH, (right, 0, Qt.AlignmentFlag.AlignRight), on=widget)
    add(layout, (inner, 3))
    assert type(layout) is kind
    assert widget.layout() is layout
    assert [layout.stretch(i) for i in range(layout.count())] == [0, 2, 0, 1, 0, 3]
    assert [layout.itemAt(i).widget() for i in range(layout.count())] == [
        plain,
        wide,
        None,
        None,
        right,
        None,
    ]
    space = layout.itemAt(2).spacerItem().sizeHint()
    assert (space.height() if kind is QVBoxLayout else space.width()) == 7
    assert layout.itemAt(4).alignment() == Qt.AlignmentFlag.AlignRight
    assert layout.itemAt(5).layout() is inner


def test_margins_and_spacing(widget):
    usual = QVBoxLayout(QWidget(widget))
    bare = vertical(on=QWidget(widget), margins=None)
    assert (bare.contentsMargins(), bare.spacing()) == (usual.contentsMargins(), usual.spacing())
    assert vertical(on=QWidget(widget)).contentsMargins() == QMargins(0, 0, 0, 0)
    assert horizontal(on=widget, margins=4, spacing=9).contentsMargins() == QMargins(4, 4, 4, 4)
    assert widget.layout().spacing() == 9
    label = with_margins(QLabel("a", widget), (1, 2, 3, 4))
    assert label.contentsMargins() == QMargins(1, 2, 3, 4)


def test_grids(widget):
    usual = grid_layout(on=QWidget(widget), margins=None)
    grid = grid_layout(on=widget, spacing=(5, None), margins=(1, 2, 3, 4))
    assert widget.layout() is grid
    assert grid.horizontalSpacing() == 5
    assert grid.verticalSpacing() == usual.verticalSpacing()
    assert grid.contentsMargins() == QMargins(1, 2, 3, 4)
    both = grid_layout(spacing=6)
    assert (both.horizontalSpacing(), both.verticalSpacing()) == (6, 6)


def test_the_window_is_laid_out_by_these_alone():
    words = ("setContentsMargins(", "QVBoxLayout(", "QHBoxLayout(", "QGridLayout(", ".setLayout(")
    own = "gui/widgets/layouts.py"
    assert not [
        f"{name_of(path)} has {word})"
        for path in files("gui")
        for word in words
        if name_of(path) != own and word in text_of(path)
    ]
