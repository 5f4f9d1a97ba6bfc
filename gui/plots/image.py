"""Matrices as images: theme colours, area-averaged when large, missing cells hatched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QWidget

from plaidwork.gui.numbers import format_number
from plaidwork.gui.plots.frame import PlotFrame
from plaidwork.gui.theme import theme
from plaidwork.gui.widgets.layouts import with_margins

MAX_SIDE = 2000
_CELLS = 1 << 18
"""Cells that are averaged at a time."""
_LEVELS = (1, 2, 4, 8, 16)
"""Cells whose means are kept ready, down and across."""
DIVERGING = ("loom", "soft_loom")


def area_average(values: NDArray[Any], max_side: int = MAX_SIDE) -> tuple[NDArray[np.float64], int, int]:
    """Shrink a matrix by whole factors with means of the present cells.

    Returns the smaller matrix and the factors of rows and columns; NaN where all are missing.
    """
    rows, columns = values.shape
    by_row, by_column = -(-rows // max_side), -(-columns // max_side)
    small = np.asarray(values, dtype=float)
    for axis, factor in ((0, by_row), (1, by_column)):
        if factor > 1:
            small = _shrink(small, factor, axis)
    return small, max(by_row, 1), max(by_column, 1)


def _shrink(values: NDArray[np.float64], factor: int, axis: int) -> NDArray[np.float64]:
    """Means over so many rows or columns, some rows at a time: what is between stays in the cache of the processor."""
    rows, columns = values.shape
    step = max(1, _CELLS // max(columns, 1))
    step = max(factor, step - step % factor) if axis == 0 else step
    parts = [_means(values[start : start + step], factor, axis) for start in range(0, max(rows, 1), step)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _means(values: NDArray[np.float64], factor: int, axis: int) -> NDArray[np.float64]:
    starts = np.arange(0, values.shape[axis], factor)
    present = np.isfinite(values)
    if present.all():
        sizes = np.diff(starts, append=values.shape[axis])
        found: NDArray[np.float64] = np.add.reduceat(values, starts, axis=axis)
        return found / (sizes[:, None] if axis == 0 else sizes)
    total = np.add.reduceat(np.where(present, values, 0.0), starts, axis=axis)
    count = np.add.reduceat(present, starts, axis=axis, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)


@dataclass(frozen=True)
class Shrunk:
    """A matrix with all that is needed to show any part of it; :func:`shrink` makes it, which takes a moment for a large one.

    Attributes
    ----------
    values : the matrix itself, two axes.
    levels : means over 2, 4, ... cells down and across of what is left at most ``MAX_SIDE`` a side; ``(1, 1)`` is that itself.
    missing : whether cells are missing.
    """

    values: NDArray[Any]
    levels: Mapping[tuple[int, int], NDArray[np.float64]]
    missing: bool


def shrink(values: Any) -> Shrunk:
    """Prepare a matrix for `MatrixImage`, in any thread. Raises ``ValueError`` for another number of axes."""
    values = np.asarray(values)
    if values.ndim != 2:
        raise ValueError(f"matrix must have two dimensions, got {values.ndim}")
    missing = bool((~np.isfinite(values)).any()) if values.size else False
    levels = {(1, 1): area_average(values)[0]}
    for down in _LEVELS:
        if down > 1:
            levels[down, 1] = _shrink(levels[down // 2, 1], 2, 0) if values.size else levels[1, 1]
        for across in _LEVELS[1:]:
            levels[down, across] = _shrink(levels[down, across // 2], 2, 1) if values.size else levels[1, 1]
    return Shrunk(values, levels, missing)


def color_limits(values: NDArray[Any], diverging: bool) -> tuple[float, float]:
    """Limits of the colours: symmetric at the 99th percentile, 2 digits; or low to high."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return (-1.0, 1.0) if diverging else (0.0, 1.0)
    if finite.size > 200_000:
        finite = finite.ravel()[:: finite.size // 200_000]
    if diverging:
        top = float(np.percentile(np.abs(finite), 99)) or float(np.abs(finite).max()) or 1.0
        top = float(f"{top:.2g}")
        return -top, top
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def to_rgba(values: NDArray[Any], table: NDArray[np.uint8], low: float, high: float) -> NDArray[np.uint8]:
    """Colour a matrix with a (256, 4) table; missing cells become transparent. Where all is alike it is the first colour."""
    missing = ~np.isfinite(values)
    scale = 255.0 / (high - low) if high > low else 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        step = np.multiply(values, scale, dtype=np.float32, casting="unsafe")
        step += np.float32(0.5 - low * scale)
        index = np.clip(step, 0, 255, out=step).astype(np.uint8)
    packed = np.ascontiguousarray(table, dtype=np.uint8).view(np.uint32).ravel()[index]
    packed[missing] = 0
    return packed.view(np.uint8).reshape(*index.shape, 4)


class MatrixImage(PlotFrame):
    """Matrix with row 0 at the top, cells one unit wide and high.

    Parameters
    ----------
    map_name : "loom" (diverging, default), "soft_loom" or "tide"
    square : cells keep their aspect; a heat map that fills its pane passes False

    Signals
    -------
    hovered : names, indices and value under the pointer
    cell_clicked : row and column
    """

    cell_clicked = Signal(int, int)

    def __init__(
        self,
        title: str = "",
        aid: str = "",
        *,
        map_name: str = "loom",
        square: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, aid, parent=parent)
        self._map = map_name
        self._values: NDArray[Any] = np.zeros((0, 0))
        self._shrunk = shrink(self._values)
        self._level = (1, 1)
        self._missing = False
        self._limits = (-1.0, 1.0)
        self._rows: Sequence[str] = ()
        self._columns: Sequence[str] = ()
        self.unit = ""
        self._hatch = pg.QtWidgets.QGraphicsRectItem()
        self._hatch.setPen(pg.mkPen(None))
        self._image = pg.ImageItem(axisOrder="row-major")
        self._ground = pg.QtWidgets.QGraphicsRectItem()
        self._ground.setPen(pg.mkPen(None))
        for depth, item in ((-3, self._ground), (-2, self._hatch), (-1, self._image)):
            item.setZValue(depth)
            self.view_box.addItem(item, ignoreBounds=item is not self._image)
        self.view_box.setDefaultPadding(0)
        self.view_box.invertY(True)
        self.view_box.setAspectLocked(square)
        self.area.hide_axis("left")
        self.area.hide_axis("bottom")
        with_margins(self.area.grid, 0)
        self._canvas.scene().sigMouseClicked.connect(self._clicked)
        self.view_box.sigRangeChanged.connect(self._view_changed)
        self.view_box.sigResized.connect(self._view_changed)
        self.restyle()

    # -- content --------------------------------------------------------------------------------
    def set_matrix(
        self,
        values: Any,
        row_names: Sequence[str] = (),
        column_names: Sequence[str] = (),
        *,
        limits: tuple[float, float] | None = None,
        map_name: str = "",
    ) -> None:
        """Show a matrix; NaN and infinite cells count as missing.

        `limits` None takes them from the data. Large matrices are averaged to at most 2 000
        cells a side: 0.5 s for 5 000 by 2 000, for which `shrink` is called in another thread first.
        """
        self._shrunk = values if isinstance(values, Shrunk) else shrink(values)
        self._values, self._rows, self._columns = self._shrunk.values, row_names, column_names
        self._map = map_name or self._map
        self._missing = self._shrunk.missing
        self._limits = limits or color_limits(self._values, self._map in DIVERGING)
        self._draw()
        self.reset_zoom()

    def set_limits(self, low: float, high: float) -> None:
        """Change the limits of the colours."""
        self._limits = (low, high)
        self._draw()

    @property
    def limits(self) -> tuple[float, float]:
        """Limits of the colours."""
        return self._limits

    @property
    def map_name(self) -> str:
        """Name of the colour map, as `ColorBar` takes it."""
        return self._map

    @property
    def clipped(self) -> tuple[bool, bool]:
        """Whether values lie below or above the limits."""
        finite = self._values[np.isfinite(self._values)] if self._values.size else self._values
        if finite.size == 0:
            return False, False
        return bool(finite.min() < self._limits[0]), bool(finite.max() > self._limits[1])

    @property
    def has_missing(self) -> bool:
        """True when cells are missing; then show a legend entry "missing"."""
        return self._missing

    # -- look -----------------------------------------------------------------------------------
    def restyle(self) -> None:
        """Take all colours anew."""
        super().restyle()
        ink: QColor = theme().color("neutral")
        brush = QBrush(ink, Qt.BrushStyle.BDiagPattern)
        self._hatch.setBrush(brush)
        self._ground.setBrush(theme().color("border"))
        self._draw()

    def _draw(self) -> None:
        rows, columns = self._values.shape
        full = QRectF(0, 0, columns, rows)
        for item in (self._ground, self._hatch):
            item.setVisible(self._missing)
        if not self._values.size:
            self._image.clear()
            return
        self._level = self._level_of_view()
        picture = to_rgba(self._shrunk.levels[self._level], theme().lut(self._map), *self._limits)
        self._image.setImage(picture, levels=(0, 255), autoLevels=False)
        self._image.setRect(full)
        for item in (self._ground, self._hatch):
            item.setRect(full)
        self._scale_hatch()

    def _level_of_view(self) -> tuple[int, int]:
        """Cells per device pixel, down and across, as powers of two: what to average."""
        small = self._shrunk.levels[1, 1]
        if not small.size:
            return 1, 1
        factors = []
        for axis, pixel in zip((0, 1), reversed(self.view_box.viewPixelSize())):
            cells = small.shape[axis] / self._values.shape[axis] * abs(pixel)
            cells /= self.devicePixelRatioF()
            factors.append(min(2 ** max(0, int(np.log2(cells) + 0.5)), _LEVELS[-1]) if cells > 1 else 1)
        return factors[0], factors[1]

    def _view_changed(self, *_: Any) -> None:
        if self._values.size:
            if self._level_of_view() != self._level:
                self._draw()
            else:
                self._scale_hatch()

    def _scale_hatch(self) -> None:
        """Keep the hatch at a pixel size, whatever the zoom."""
        from PySide6.QtGui import QTransform

        dx, dy = self.view_box.viewPixelSize()
        ratio = self.devicePixelRatioF()
        brush = self._hatch.brush()
        brush.setTransform(QTransform.fromScale(dx * ratio, dy * ratio))
        self._hatch.setBrush(brush)

    def reset_zoom(self) -> None:
        """Show the whole matrix."""
        rows, columns = self._values.shape
        if rows and columns:
            self.view_box.setRange(QRectF(0, 0, columns, rows), padding=0)
        self._scale_hatch()

    # -- hover ----------------------------------------------------------------------------------
    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Row and column at a place of the picture."""
        row, column = int(np.floor(y)), int(np.floor(x))
        inside = 0 <= row < self._values.shape[0] and 0 <= column < self._values.shape[1]
        return (row, column) if inside else None

    def read_out(self, x: float, y: float) -> str:
        """Names and value of the cell."""
        cell = self.cell_at(x, y)
        if cell is None:
            return ""
        row, column = cell
        value = float(self._values[row, column])
        shown = format_number(value, 4) if np.isfinite(value) else "missing"
        unit = f" {self.unit}" if self.unit and np.isfinite(value) else ""
        return f"{_name(self._rows, row, 'Row')}, {_name(self._columns, column, 'column')}: {shown}{unit}"

    def _clicked(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton or event.double():
            return
        at = self.view_box.mapSceneToView(event.scenePos())
        cell = self.cell_at(at.x(), at.y())
        if cell is not None:
            self.cell_clicked.emit(*cell)


def _name(names: Sequence[str], index: int, kind: str) -> str:
    return str(names[index]) if index < len(names) else f"{kind} {index + 1}"
