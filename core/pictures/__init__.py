"""Pictures as values: what is drawn, what each mark stands for and says, and what may be chosen. No Qt here."""

from plaidwork.core.pictures.cells import Cells, Image, Raster
from plaidwork.core.pictures.choices import ViewChoice, ViewChoices
from plaidwork.core.pictures.describe import describe
from plaidwork.core.pictures.items import Items
from plaidwork.core.pictures.links import Hatch, Links
from plaidwork.core.pictures.marks import (
    Bands,
    Bars,
    Color,
    Intervals,
    Line,
    Mark,
    Outlines,
    Rug,
    Rule,
    Texts,
)
from plaidwork.core.pictures.picture import (
    Column,
    End,
    Facts,
    File,
    Inset,
    Key,
    Listing,
    Matrix,
    Panel,
    Picture,
    Ramp,
)
from plaidwork.core.pictures.points import Points, Swarm
from plaidwork.core.pictures.prose import Prose, Span
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
    "Facts",
    "File",
    "Hatch",
    "Image",
    "Inset",
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
    "Prose",
    "Ramp",
    "Raster",
    "Regions",
    "Rug",
    "Rule",
    "Scaling",
    "Span",
    "Swarm",
    "Texts",
    "Tick",
    "ViewChoice",
    "ViewChoices",
    "describe",
]
