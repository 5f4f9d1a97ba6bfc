"""Title row and graphics area shared by all pictures drawn with pyqtgraph."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.plots.area import PlotArea
from plaidwork.gui.plots.axis import PlotAxis
from plaidwork.gui.plots.export import ask_and_save_picture
from plaidwork.gui.plots.legend import Legend, resolve
from plaidwork.gui.priority import PRIORITY
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import horizontal, vertical, with_margins

pg.setConfigOptions(antialias=True, imageAxisOrder="row-major")


class _Canvas(pg.GraphicsView):
    """Graphics view whose double click and right click belong to the frame."""

    def __init__(self, owner: PlotFrame, area: PlotArea) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.enableMouse(False)
        self.setCentralItem(area)
        self._owner = owner

    def paintEvent(self, event: Any) -> None:
        """Chains under way step aside while this is drawn."""
        PRIORITY.hold()
        super().paintEvent(event)

    def mouseDoubleClickEvent(self, event: Any) -> None:
        """Back to the whole picture."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._owner.reset_zoom()
            event.accept()

    def contextMenuEvent(self, event: Any) -> None:
        """Menu of the frame."""
        self._owner.show_menu(event.globalPos())
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """The read-out ends with the hover."""
        self._owner.hovered.emit("")
        super().leaveEvent(event)


class PlotFrame(QWidget):
    """Title, reading aid and legend above a configured pyqtgraph area.

    Signals
    -------
    hovered : text for the status bar; empty when the pointer leaves
    data_requested : the user chose "Show data"
    """

    hovered = Signal(str)
    data_requested = Signal()
    _ratio = 0.0
    """Device pixels per pixel when the lines were last drawn; events come before there are any."""

    def __init__(
        self,
        title: str = "",
        aid: str = "",
        *,
        whole_x: bool = False,
        whole_y: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.x_axis = PlotAxis("bottom", whole=whole_x)
        self.y_axis = PlotAxis("left", whole=whole_y)
        self._title = Label(title, "strong")
        self._aid = Label(aid, "body", "muted", elide=True)
        self._legend = Legend()
        self._row = horizontal(self._title, (self._aid, 1), self._legend, spacing=space.S)
        self._area = PlotArea({"bottom": self.x_axis, "left": self.y_axis})
        self._canvas = _Canvas(self, self._area)
        self._configure()
        self._body = vertical(self._row, (self._canvas, 1), on=self, spacing=space.XS)
        self.set_title(title, aid)
        self._legend.hide()
        self._moves = pg.SignalProxy(self._canvas.scene().sigMouseMoved, rateLimit=30, slot=self._moved)
        theme().changed.connect(self.restyle)

    def _configure(self) -> None:
        self.view_box.setDefaultPadding(0.03)
        self.view_box.setMouseMode(pg.ViewBox.PanMode)
        with_margins(self._area.grid, (0, space.S, space.S, 0))
        self._canvas.setFrameShape(self._canvas.Shape.NoFrame)
        self._canvas.setMinimumSize(120, 80)
        self._canvas.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    # -- words ----------------------------------------------------------------------------------
    def set_title(self, title: str, aid: str | None = None) -> None:
        """Set the title and, unless None, the muted one-phrase reading aid."""
        self._title.setText(title)
        self._title.setVisible(bool(title))
        if aid is not None:
            self._aid.setText(aid)
        self._canvas.setAccessibleName(tr(title or "Picture"))
        self.setAccessibleName(tr(title))

    def set_labels(self, x: str = "", y: str = "") -> None:
        """Name the axes, in lower case with unit."""
        self.x_axis.set_word(tr(x))
        self.y_axis.set_word(tr(y))

    @property
    def title(self) -> str:
        """The title shown."""
        return self._title.text()

    @property
    def legend(self) -> Legend:
        """The legend at the right of the title row."""
        return self._legend

    # -- picture --------------------------------------------------------------------------------
    @property
    def canvas(self) -> pg.GraphicsView:
        """The pyqtgraph widget."""
        return self._canvas

    @property
    def area(self) -> PlotArea:
        """Axes and marks."""
        return self._area

    @property
    def view_box(self) -> pg.ViewBox:
        """The pyqtgraph view box."""
        return self._area.view_box

    def pen(self, color: int | str | QColor, width: float = 1.4, dashed: bool = False) -> Any:
        """Cosmetic pen in logical pixels; make it anew in `restyle`."""
        pen = pg.mkPen(resolve(color), width=width * self.devicePixelRatioF())
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        if dashed:
            pen.setDashPattern([5.0, 3.5])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        return pen

    def restyle(self) -> None:
        """Take all colours, fonts and line widths anew; subclasses extend it."""
        self._ratio = self.devicePixelRatioF()
        self._canvas.setBackground(theme().color("surface"))
        for axis in (self.x_axis, self.y_axis):
            axis.ratio = self._ratio
            axis.restyle()

    def reset_zoom(self) -> None:
        """Show everything."""
        self.view_box.autoRange()
        self.view_box.enableAutoRange()

    def read_out(self, x: float, y: float) -> str:
        """Text for the status bar at a place of the picture; subclasses override it."""
        return ""

    def _moved(self, args: tuple[Any]) -> None:
        box = self.view_box
        if not box.sceneBoundingRect().contains(args[0]):
            self.hovered.emit("")
            return
        at = box.mapSceneToView(args[0])
        self.hovered.emit(self.read_out(at.x(), at.y()))

    # -- menu -----------------------------------------------------------------------------------
    def menu(self) -> QMenu:
        """Context menu; subclasses may add to it."""
        menu = QMenu(self)
        menu.addAction(icon("export"), tr("Export picture…"), self.export_picture)
        menu.addAction(icon("table"), tr("Show data"), self.data_requested.emit)
        menu.addSeparator()
        menu.addAction(icon("zoom-fit"), tr("Show all"), self.reset_zoom)
        return menu

    def show_menu(self, at: QPoint) -> None:
        """Open the context menu at a global position."""
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    def export_picture(self) -> None:
        """Ask for a file and save the picture with its title row."""
        ask_and_save_picture(self, self.title or "picture")

    def event(self, event: QEvent) -> bool:
        """Redo line widths when the window moves to another screen."""
        ratio_changed = event.type() in (QEvent.Type.DevicePixelRatioChange, QEvent.Type.Show)
        if ratio_changed and self._ratio not in (0.0, self.devicePixelRatioF()):
            self.restyle()
        return super().event(event)
