"""Pictures as values: what is drawn, what each mark stands for and says, and what may be chosen. No Qt here."""

from plaidwork.core.pictures.choices import ViewChoice, ViewChoices
from plaidwork.core.pictures.describe import describe
from plaidwork.core.pictures.items import Items
from plaidwork.core.pictures.links import Hatch, Links
from plaidwork.core.pictures.marks import (
    Bands,
    Bars,
    Cells,
    Color,
    Intervals,
    Line,
    Mark,
    Outlines,
    Rug,
    Rule,
    Texts,
)
from plaidwork.core.pictures.picture import Column, End, File, Key, Listing, Matrix, Panel, Picture, Ramp
from plaidwork.core.pictures.points import Points, Swarm
from plaidwork.core.pictures.regions import Regions
from plaidwork.core.pictures.scales import Axis, Scaling, Tick

__all__ = [
    "Axis",
    "Bands",
    "Bars",
    "Cells",
    "Color",
    "Column",
    "End",
    "File",
    "Hatch",
    "Intervals",
    "Items",
    "Key",
    "Line",
    "Links",
    "Listing",
    "Mark",
    "Matrix",
    "Outlines",
    "Panel",
    "Picture",
    "Points",
    "Ramp",
    "Regions",
    "Rug",
    "Rule",
    "Scaling",
    "Swarm",
    "Texts",
    "Tick",
    "ViewChoice",
    "ViewChoices",
    "describe",
]
