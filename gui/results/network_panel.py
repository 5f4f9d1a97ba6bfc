"""Right dock of a network: search, the chosen node with its neighbours, all nodes."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QWidget

from plaidwork.core.pictures.words import capital, plural
from plaidwork.gui.numbers import format_count, format_fixed, format_number, format_probability
from plaidwork.gui.results.network import Shown
from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, DataTable, KeyFigure, Label
from plaidwork.gui.widgets.layouts import horizontal, vertical

NOTHING = "Find a name"


class NetworkPanel(QWidget):
    """Tables beside the picture.

    Signals
    -------
    chosen : number of the node that was chosen
    left : Esc was pressed
    """

    chosen = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.setAccessibleName("Chosen node")
        self._shown: Shown | None = None
        self._listed = {"near": np.zeros(0, dtype=np.intp), "all": np.zeros(0, dtype=np.intp)}
        self.picker = SearchPicker()
        self.picker.setMaximumWidth(16_777_215)
        self.picker.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.picker.setAccessibleName("Find a name")
        self.picker.chosen.connect(self._find)
        self.title = Label("", "title", elide=True)
        self.figures = [KeyFigure("Links", role="strong") for _ in range(3)]
        self.near, self.all = self._table("Neighbours"), self._table("All nodes")
        self.near.row_selected.connect(lambda row: self._choose("near", row))
        self.all.row_selected.connect(lambda row: self._choose("all", row))
        self._near_card, all_card = _card(self.near), _card(self.all)
        self._all_title = Label("", "strong", elide=True)
        figures = horizontal(*((figure, 1) for figure in self.figures), spacing=space.L)
        vertical(
            self.picker,
            space.XS,
            self.title,
            figures,
            (self._near_card, 1),
            space.XS,
            self._all_title,
            (all_card, 1),
            on=self,
            spacing=space.S,
            margins=(space.DOCK_EDGE, space.S, space.DOCK_EDGE, space.M),
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(280, 240)

    def _table(self, name: str) -> DataTable:
        table = DataTable(dense=True)
        table.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.view.setAccessibleName(name)
        return table

    def set_shown(self, shown: Shown, focus: int) -> None:
        """Show the nodes of a network, and a chosen one (-1: none)."""
        names = shown.network.names
        if self._shown is None or self._shown.network.names != names:
            self.picker.set_sections({"": names}, NOTHING)
        self._shown = shown
        self.picker.set_current(names[focus] if focus >= 0 else NOTHING)
        self._fill_near(shown, focus)
        self._fill_all(shown)

    def _fill_near(self, shown: Shown, focus: int) -> None:
        network = shown.network
        for widget in (self.title, self._near_card, *self.figures):
            widget.setVisible(focus >= 0)
        if focus < 0:
            return
        links = shown.links_of(focus)
        others = shown.other(links, focus)
        self._listed["near"] = others
        self.title.setText(network.names[focus])
        self.figures[0].set_value(format_count(len(links)))
        self.figures[1].setVisible(network.strength is not None)
        if network.strength is not None:
            self.figures[1].set_label(capital(network.strength_label))
            self.figures[1].set_value(format_number(float(network.strength[focus]), 3))
        group = network.colours.texts[focus] if network.colours.title else ""
        self.figures[2].setVisible(bool(group))
        self.figures[2].set_label("Group")
        self.figures[2].set_value(group)
        columns: dict[str, object] = {
            "Linked to": np.array([network.names[i] for i in others], dtype=object),
            capital(network.label): network.weights[links],
        }
        formats = {capital(network.label): lambda value: format_fixed(value, 2, sign=True)}
        if network.confidence is not None:
            columns["Conf."] = network.confidence[links]
            formats["Conf."] = format_probability
        self.near.set_columns(columns, formats=formats)

    def _fill_all(self, shown: Shown) -> None:
        network = shown.network
        nodes = shown.nodes[np.argsort(-shown.degree[shown.nodes], kind="stable")]
        self._listed["all"] = nodes
        self._all_title.setText(f"All {format_count(len(nodes))} linked {plural(network.word)}")
        columns: dict[str, object] = {
            capital(network.word): np.array([network.names[i] for i in nodes], dtype=object),
            "Links": shown.degree[nodes],
        }
        formats = {}
        if network.strength is not None:
            title = capital(network.strength_label)
            columns[title] = network.strength[nodes]
            formats[title] = lambda value: format_number(value, 3)
        self.all.set_columns(columns, formats=formats)

    def _choose(self, table: str, row: int) -> None:
        if row < len(self._listed[table]):
            self.chosen.emit(int(self._listed[table][row]))

    def _find(self, name: str) -> None:
        if self._shown is not None and name in self._shown.network.names:
            self.chosen.emit(self._shown.network.names.index(name))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc shows all."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


def _card(table: QWidget) -> Card:
    card = Card()
    vertical(table, on=card, margins=1)
    return card
