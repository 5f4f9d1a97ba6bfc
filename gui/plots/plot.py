"""Line plots: named lines, warm-up shading, limits, hover read-out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from plaidwork.gui import tokens
from plaidwork.gui.numbers import format_number
from plaidwork.gui.plots.frame import PlotFrame
from plaidwork.gui.plots.legend import LegendEntry
from plaidwork.gui.plots.thin import thin
from plaidwork.gui.theme import theme

PATH_POINTS = 200
"""Lines of more points are drawn one device pixel wide: 3 ms for four of 2,000 noisy points, where 1.4 pixels take 25 ms in
pieces and 600 ms as a path (`benchmarks/window.py` shows what that does to the window)."""


@dataclass
class Line:
    """One line of a `Plot`; change it with `set_data`."""

    name: str
    color: int | str
    width: float
    dashed: bool
    curve: Any
    owner: Plot
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    y: np.ndarray = field(default_factory=lambda: np.zeros(0))
    dense: bool = False

    def set_data(self, x: Any, y: Any) -> None:
        """Replace the points; NaN breaks the line."""
        self.x, self.y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        if self.x.shape != self.y.shape:
            raise ValueError(f"line {self.name!r} needs x and y alike, got {self.x.shape} and {self.y.shape}")
        self.draw()

    def draw(self) -> None:
        """Hand as many points to the curve as the picture can show."""
        box = self.owner.view_box
        columns = max(round(box.width() * self.owner.devicePixelRatioF()), 200)
        auto = bool(box.state["autoRange"][0])
        x, y = thin(self.x, self.owner.on_axis(self.y), columns, None if auto else tuple(box.viewRange()[0]))
        dense = len(x) > PATH_POINTS and not self.dashed
        if dense != self.dense:
            self.dense = dense
            self.curve.curve.setSegmentedLineMode("on" if dense else "auto")
            self.restyle()
        self.curve.setData(x, y, connect="finite")

    def restyle(self) -> None:
        """Take colour and width anew."""
        width = 1.0 / self.owner.devicePixelRatioF() if self.dense else self.width
        self.curve.setPen(self.owner.pen(self.color, width, self.dashed))


class _Grid(pg.GraphicsObject):
    """Faint horizontal lines at the ticks of the left axis."""

    def __init__(self, owner: Plot) -> None:
        super().__init__()
        self._owner = owner
        self.setZValue(-100)

    def boundingRect(self) -> QRectF:
        """All that is visible."""
        return self.viewRect()

    def viewRangeChanged(self) -> None:
        """New ticks."""
        self.prepareGeometryChange()
        self.update()

    def paint(self, painter: QPainter, *_: Any) -> None:
        """Draw the lines."""
        box = self._owner.view_box
        (left, right), (low, high) = box.viewRange()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self._owner.pen("grid", 1))
        for _step, ticks in self._owner.y_axis.tickValues(low, high, box.height()):
            for tick in ticks:
                painter.drawLine(pg.Point(left, tick), pg.Point(right, tick))


class Plot(PlotFrame):
    """Plot of lines by the chart rules of the look.

    Parameters
    ----------
    title, aid : strong title and muted one-phrase reading aid
    whole_x, whole_y : ticks at whole numbers only
    log_y : logarithmic axis of y; lines have gaps where y is not above 0
    grid : faint horizontal lines
    """

    def __init__(
        self,
        title: str = "",
        aid: str = "",
        *,
        whole_x: bool = False,
        whole_y: bool = False,
        log_y: bool = False,
        grid: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, aid, whole_x=whole_x, whole_y=whole_y, parent=parent)
        self.y_axis.setLogMode(y=log_y)
        self._lines: list[Line] = []
        self._shade: tuple[pg.LinearRegionItem, pg.TextItem] | None = None
        self._limits: list[tuple[Any, str]] = []
        self._grid = _Grid(self) if grid else None
        if self._grid is not None:
            self.area.add(self._grid, ignore_bounds=True)
        self.view_box.sigXRangeChanged.connect(self._zoomed)
        self.view_box.sigResized.connect(self._draw_lines)
        self.restyle()

    # -- content --------------------------------------------------------------------------------
    def on_axis(self, y: np.ndarray) -> np.ndarray:
        """Values as places on the axis of y: their logarithms to base 10 where it is logarithmic."""
        if not self.y_axis.logMode:
            return y
        return np.log10(y, out=np.full(len(y), np.nan), where=y > 0)

    def add_line(
        self,
        name: str,
        category: int | str = 0,
        x: Any = (),
        y: Any = (),
        *,
        width: float = 1.4,
        dashed: bool = False,
        legend: bool = True,
    ) -> Line:
        """Add a line in the colour of a category (or of a token); it joins the legend."""
        curve = pg.PlotDataItem(pen=self.pen(category, width, dashed))
        self.area.add(curve)
        if isinstance(category, int) and category >= len(tokens.THREADS):
            curve.setZValue(-1)  # the grey of all further groups must not cover the others
        line = Line(name, category, width, dashed, curve, self)
        line.set_data(x, y)
        self._lines.append(line)
        if legend:
            entries = [*self._legend.entries, LegendEntry(name, category, "dash" if dashed else "line")]
            self.set_legend(entries)
        return line

    def set_legend(self, entries: list[LegendEntry]) -> None:
        """Replace the legend; a single line needs none."""
        self._legend.set_entries(entries)
        self._legend.setVisible(len(entries) > 1)

    @property
    def lines(self) -> list[Line]:
        """All lines in the order of adding."""
        return list(self._lines)

    def clear(self) -> None:
        """Remove lines, shading and limits."""
        for line in self._lines:
            self.area.remove(line.curve)
        for item, _ in self._limits:
            self.area.remove(item)
        self._lines.clear()
        self._limits.clear()
        self.set_legend([])
        self.set_shading(None)

    def set_shading(self, region: tuple[float, float] | None, label: str = "warm-up") -> None:
        """Shade a stretch of x and label it; None removes it."""
        if region is None:
            if self._shade is not None:
                for item in self._shade:
                    self.area.remove(item)
                self._shade = None
            return
        if self._shade is None:
            area = pg.LinearRegionItem(movable=False)
            area.setZValue(-200)
            word = pg.TextItem(anchor=(1, 1))
            word.setZValue(100)
            self.area.add(area, ignore_bounds=True)
            self.area.add(word, ignore_bounds=True)
            self._shade = (area, word)
            self.view_box.sigRangeChanged.connect(self._place_word)
        self._shade[0].setRegion(region)
        self._shade[1].setPlainText(label)
        self._restyle_shade()
        self._place_word()

    def add_limit(self, value: float, color: str = "warn", *, vertical: bool = False) -> None:
        """Draw a dashed line at a value, such as the limit of R-hat."""
        item = pg.InfiniteLine(value, angle=90 if vertical else 0, movable=False)
        item.setPen(self.pen(color, 1.2, dashed=True))
        self.area.add(item, ignore_bounds=True)
        self._limits.append((item, color))

    # -- zoom -----------------------------------------------------------------------------------
    def reset_zoom(self) -> None:
        """Show everything, with points for the whole range again."""
        self.view_box.enableAutoRange()
        self._draw_lines()
        super().reset_zoom()

    def _zoomed(self, *_: Any) -> None:
        if not self.view_box.state["autoRange"][0]:
            self._draw_lines()

    def _draw_lines(self, *_: Any) -> None:
        for line in self._lines:
            line.draw()

    # -- look -----------------------------------------------------------------------------------
    def restyle(self) -> None:
        """Take all colours and widths anew."""
        super().restyle()
        for line in self._lines:
            line.restyle()
        for item, color in self._limits:
            item.setPen(self.pen(color, 1.2, dashed=True))
        self._restyle_shade()
        if self._grid is not None:
            self._grid.update()

    def _restyle_shade(self) -> None:
        if self._shade is None:
            return
        area, word = self._shade
        area.setBrush(theme().color("hover"))
        for edge in area.lines:
            edge.setPen(pg.mkPen(None))
        word.setColor(theme().color("muted"))
        word.fill = pg.mkBrush(theme().color("hover"))  # so that it can be read where lines run behind it
        word.setFont(theme().font("caption"))

    def _place_word(self, *_: Any) -> None:
        if self._shade is None:
            return
        area, word = self._shade
        (left, right), (bottom, _top) = self.view_box.viewRange()
        low, end = area.getRegion()
        edge = min(end, right)
        needed = word.boundingRect().width() * self.view_box.viewPixelSize()[0]
        word.setVisible(edge - max(low, left) > needed)
        word.setPos(edge, bottom)  # where the lines of an objective that rises have left

    # -- hover ----------------------------------------------------------------------------------
    def read_out(self, x: float, y: float) -> str:
        """Value of the line nearest to the pointer."""
        best: tuple[float, str] | None = None
        scale = self.view_box.viewPixelSize()
        for line in self._lines:
            if len(line.x) == 0:
                continue
            near = int(np.argmin(np.abs(line.x - x)))
            height = self.on_axis(line.y[near : near + 1])[0]
            if not np.isfinite(height):
                continue
            away = float(np.hypot((line.x[near] - x) / scale[0], (height - y) / scale[1]))
            if best is None or away < best[0]:
                at = f"{self.x_axis.word or 'x'} {format_number(line.x[near], 6)}"
                best = (away, f"{line.name}, {at}: {format_number(line.y[near], 6)}")
        return best[1] if best else ""

    def data(self) -> dict[str, np.ndarray]:
        """Columns for "Show data": line name, x and y."""
        if not self._lines:
            return {}
        names = np.concatenate([np.full(len(line.x), line.name, dtype=object) for line in self._lines])
        return {
            "line": names,
            self.x_axis.word or "x": np.concatenate([line.x for line in self._lines]),
            self.y_axis.word or "y": np.concatenate([line.y for line in self._lines]),
        }


def halo(owner: PlotFrame, width: float) -> Any:
    """Pen of the surface-coloured halo under an outline of `width` pixels."""
    color: QColor = theme().color("surface")
    pen = owner.pen(color, 2 * width)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    return pen
