"""Chooses the annotation strip of a heat map, with its legend beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox, QMenu, QWidget

from plaidwork.core.views.strips import Strip
from plaidwork.gui.language import tr
from plaidwork.gui.results.option_row import Legend
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets.layouts import horizontal

_NO_STRIP = "None"


class StripField(QWidget):
    """Names of strips and "None"; the legend follows.

    Signals
    -------
    chosen : title of the strip chosen by the user
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._strips: dict[str, Strip] = {}
        self.choice = QComboBox()
        self.choice.currentTextChanged.connect(self._choose)
        self.choice.setAccessibleName(tr("Annotation strip"))
        self.choice.setToolTip(tr("Annotation shown as the strip above the picture"))
        self.legend = Legend()
        horizontal(self.choice, self.legend, on=self, spacing=space.M)

    def set_strips(self, strips: Mapping[str, Strip], chosen: str | None) -> None:
        """Offer these strips, silently; the first one is shown when none was chosen."""
        self._strips = dict(strips)
        names = [_NO_STRIP, *strips]
        wanted = chosen if chosen is not None else next(iter(strips), _NO_STRIP)
        blocked = self.choice.blockSignals(True)
        self.choice.clear()
        self.choice.addItems(names)
        self.choice.setCurrentText(wanted if wanted in names else names[-1])
        self.choice.blockSignals(blocked)
        self.setVisible(bool(strips))
        self._show_legend()

    @property
    def strips(self) -> tuple[Strip, ...]:
        """The strip chosen, or nothing."""
        chosen = self.choice.currentText()
        return (self._strips[chosen],) if chosen in self._strips else ()

    def _choose(self, title: str) -> None:
        self._show_legend()
        self.chosen.emit(title)

    def _show_legend(self) -> None:
        self.legend.set_entries([entry for strip in self.strips for entry in legend_of(strip)])

    def fill_menu(self, menu: QMenu) -> None:
        """The same choice as a menu, where there is one."""
        if self.choice.count() <= 2:
            return
        inside = menu.addMenu(tr("Strip"))
        for number in range(self.choice.count()):
            text = self.choice.itemText(number)
            action = inside.addAction(tr(text), partial(self.choice.setCurrentText, text))
            action.setCheckable(True)
            action.setChecked(text == self.choice.currentText())


def legend_of(strip: Strip) -> list[tuple[Callable[[], QColor], str]]:
    """Colours, as functions that follow the scheme, and what they mean."""
    return [(partial(theme().grey_step, shade), text) for shade, text in strip.legend]
