"""Small widgets that every pane is made of; see each class for its arguments."""

from plaidwork.gui.widgets.button import button, tool_button
from plaidwork.gui.widgets.card import Card
from plaidwork.gui.widgets.chip import Chip
from plaidwork.gui.widgets.color_bar import ColorBar
from plaidwork.gui.widgets.data_table import DataTable
from plaidwork.gui.widgets.dock_header import DockHeader
from plaidwork.gui.widgets.flow_layout import FlowLayout
from plaidwork.gui.widgets.key_figure import KeyFigure
from plaidwork.gui.widgets.label import Label
from plaidwork.gui.widgets.message_bar import Message, MessageBar
from plaidwork.gui.widgets.scrolled import scrolled
from plaidwork.gui.widgets.segmented import SegmentedControl
from plaidwork.gui.widgets.slider_field import SliderField
from plaidwork.gui.widgets.state_pane import Skeleton, StatePane
from plaidwork.gui.widgets.table_model import ColumnModel

__all__ = [
    "Card",
    "Chip",
    "ColorBar",
    "ColumnModel",
    "DataTable",
    "DockHeader",
    "FlowLayout",
    "KeyFigure",
    "Label",
    "Message",
    "MessageBar",
    "SegmentedControl",
    "Skeleton",
    "SliderField",
    "StatePane",
    "button",
    "scrolled",
    "tool_button",
]
