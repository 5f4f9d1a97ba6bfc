"""Pictures of a plugin's own: what ``PictureFactory.load(results, choices)`` makes them of."""

from plaidwork.core.contract.views import PictureFactory
from plaidwork.core.errors import PictureError
from plaidwork.core.pictures import (
    Axis,
    Bands,
    Bars,
    Cells,
    End,
    Intervals,
    Items,
    Key,
    Line,
    Links,
    Outlines,
    Panel,
    Picture,
    Points,
    Ramp,
    Rug,
    Rule,
    Texts,
    ViewChoices,
    describe,
)
from plaidwork.core.pictures.marks import area_categories

__all__ = [
    "Axis",
    "Bands",
    "Bars",
    "Cells",
    "End",
    "Intervals",
    "Items",
    "Key",
    "Line",
    "Links",
    "Outlines",
    "Panel",
    "Picture",
    "PictureError",
    "PictureFactory",
    "Points",
    "Ramp",
    "Rug",
    "Rule",
    "Texts",
    "ViewChoices",
    "area_categories",
    "describe",
]
