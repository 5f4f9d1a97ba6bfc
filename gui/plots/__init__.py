"""Pictures on pyqtgraph; import this package only when a picture is shown (it is slow to load)."""

from plaidwork.gui.plots.axis import PlotAxis
from plaidwork.gui.plots.export import ask_and_save_picture, save_picture
from plaidwork.gui.plots.frame import PlotFrame
from plaidwork.gui.plots.image import MatrixImage, Shrunk, area_average, color_limits, shrink, to_rgba
from plaidwork.gui.plots.legend import Legend, LegendEntry
from plaidwork.gui.plots.plot import Line, Plot, halo

__all__ = [
    "Legend",
    "LegendEntry",
    "Line",
    "MatrixImage",
    "Plot",
    "PlotAxis",
    "PlotFrame",
    "Shrunk",
    "area_average",
    "ask_and_save_picture",
    "color_limits",
    "halo",
    "save_picture",
    "shrink",
    "to_rgba",
]
