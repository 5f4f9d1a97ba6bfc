"""A picture: panels with axes and marks, legend, headline, caption, notes, and the table behind it. Immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_limits, tidy
from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.choices import ViewChoice
from plaidwork.core.pictures.marks import Color, Items, Mark
from plaidwork.core.pictures.scales import Axis, Scaling

READINGS, SIGNS = (
    ("near", "across", "inside", "over", "row", "whole"),
    ("square", "line", "dashed", "point", "missing"),
)


@dataclass(frozen=True)
class Key:
    """An entry of the legend; ``shape`` of a point, as marks have it."""

    text: str
    color: Color
    sign: str = "square"
    shape: int = 0

    def __post_init__(self) -> None:
        if self.sign not in SIGNS:
            raise PictureError(f"The sign of a legend is one of {', '.join(SIGNS)}. Found “{self.sign}”.")


@dataclass(frozen=True)
class Ramp:
    """A colour map in the legend: what it shows, and what its low end, its middle and its high end stand for.

    ``limits`` are the values at the ends where the texts say them as they are: pictures side by side then share them.
    """

    text: str
    map: str = "tide"
    ends: tuple[str, str, str] = ("", "", "")
    clipped: tuple[bool, bool] = (False, False)
    """Whether there are values below the low and above the high end."""
    limits: tuple[float, float] | None = None

    @classmethod
    def between(
        cls,
        text: str,
        name: str,
        limits: tuple[float, float],
        clipped: tuple[bool, bool] = (False, False),
    ) -> Ramp:
        """The map ``name`` between two values, which are its ends; those on both sides of 0 get their signs."""
        low, high = limits
        mid = (low + high) / 2
        signed = name == "loom" and abs(mid) < 1e-12
        ends = [
            tidy(f"{value:+.4g}") if signed and value else told
            for value, told in zip((low, mid, high), format_limits((low, mid, high), 4), strict=True)
        ]
        return cls(text, name, (ends[0], ends[1], ends[2]), clipped, (low, high))


@dataclass(frozen=True)
class End:
    """A name at the right end of what is drawn, at the height ``at``; names that would meet move apart.

    With a ``share`` from 0 to 1 a short bar of it stands before the name, in the colour.
    """

    at: float
    text: str
    color: Color
    share: float | None = None


@dataclass(frozen=True)
class Column:
    """Texts at the right of a panel, at the heights ``at``, under a title; numbers, so they end on one line."""

    title: str
    at: Sequence[float]
    texts: tuple[str, ...]
    color: Color | tuple[Color, ...] = "text"

    def __post_init__(self) -> None:
        if len(self.at) != len(self.texts):
            raise PictureError(
                f"The column “{self.title}” has {counted(len(self.texts), 'text')} at {counted(len(self.at), 'place')}."
            )
        object.__setattr__(self, "at", tuple(map(float, self.at)))


@dataclass(frozen=True)
class Panel:
    """Marks on a pair of axes; later marks lie over earlier ones.

    Attributes
    ----------
    title : above the panel. values : the same number at its right, the longest words first: those that fit are shown. ends : names at its right edge, ``ends_title`` above them. aside : lines beside it where there is room, the first strong.
    columns : of numbers beside rows, those for which there is room: the first give way.
    height : lines of text that the panel is high; 0 shares what is left with the other such panels.
    equal : one unit of x is as long as one of y: one axis is made shorter, or with ``fills`` reaches further. widest : width to height at most; 0 is any.
    most : pixels of a unit of x, as of a category, at most; 0 is any. highest : the same of a unit of y.
    reads : what the pointer reads: the piece "near" it, the one nearest "across", the one it is "inside" of, the one
        nearest in height, as in a "row" with a name, or the first one wherever the pointer is in the "whole" panel; "over"
        areas the point it is on comes first.
    own : its axis across is its own, though it stands below others of a stack.
    beside : its axis across where the one panel below it stands beside it, as it does where an equal panel becomes larger
        by that; None stays above.
    zoom : axes along which it can be zoomed: "xy", "x", "y" or "".
    lines : whether faint lines mark the ticks of y.
    """

    marks: tuple[Mark, ...]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    title: str = ""
    values: tuple[str, ...] = ()
    ends: tuple[End, ...] = ()
    ends_title: str = ""
    aside: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    height: float = 0.0
    equal: bool = False
    fills: bool = False
    widest: float = 0.0
    most: float = 0.0
    highest: float = 0.0
    reads: str = "near"
    zoom: str = "xy"
    lines: bool = True
    own: bool = False
    beside: Axis | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "marks", tuple(self.marks))
        object.__setattr__(self, "ends", tuple(self.ends))
        for mark in self.marks:
            if not isinstance(mark, Mark):
                raise PictureError(f"A panel holds marks. Found {type(mark).__name__}.")
        if self.reads not in READINGS:
            raise PictureError(f"A panel is read {', '.join(READINGS)}. Found “{self.reads}”.")
        if self.zoom not in ("xy", "x", "y", ""):
            raise PictureError(f"A panel is zoomed along xy, x, y or not at all. Found “{self.zoom}”.")

    @property
    def strip(self) -> bool:
        """Whether it is one of the low panels without texts below that belong to the one under them."""
        return self.height > 0 and self.x.scale == "category" and not self.x.ticks

    def scaling(self, axis: str) -> Scaling:
        """The scale of "x" or "y" that holds all marks."""
        values = [mark.extent(axis) for mark in self.marks if mark.held]
        if axis == "y":
            values.append(np.array([end.at for end in self.ends], dtype=float))
        held: Axis = getattr(self, axis)
        return held.scaling(np.concatenate(values) if values else np.zeros(0))


@dataclass(frozen=True)
class Matrix:
    """The table behind a heat map: (n, m) ``values`` in the order shown, the names of its rows and columns, and what a row
    is."""

    values: np.ndarray
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    corner: str = ""

    def __post_init__(self) -> None:
        values = np.asarray(self.values).view()
        if values.shape != (len(self.rows), len(self.columns)):
            told = f"{len(self.rows)} x {len(self.columns)} names for the shape {values.shape}"
            raise PictureError(f"A matrix has a name for every row and column. Found {told}.")
        values.setflags(write=False)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True)
class Listing:
    """A table beside the picture: what its rows stand for is selected by them, and chosen where ``choice`` is the id of a
    choice and the value of it that each row is. ``formats`` write the values of columns, by title;
    ``swatch`` is a colour before each row, or nothing."""

    title: str
    columns: Mapping[str, Any]
    of: Items | None = None
    choice: tuple[str, tuple[str, ...]] | None = None
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    swatch: tuple[Color, ...] = ()

    def __post_init__(self) -> None:
        columns = {str(title): _column(values) for title, values in self.columns.items()}
        object.__setattr__(self, "columns", MappingProxyType(columns))
        lengths = {len(values) for values in columns.values()}
        parts = (self.choice and self.choice[1], self.swatch or None)
        lengths |= {len(part) for part in parts if part is not None}
        if len(lengths) > 1 or (self.of is not None and lengths != {self.of.reach}):
            raise PictureError(f"The columns, items and values of the list “{self.title}” differ in length.")


@dataclass(frozen=True)
class Facts:
    """A few numbers beside the picture: a label, the value and a note of each; the note may be empty."""

    rows: tuple[tuple[str, str, str], ...]
    title: str = ""


@dataclass(frozen=True)
class File:
    """What else may be written of a picture: the menu's words, the ending of the file, what writes it and tells how many
    ``counted`` it has written, and what it is called. ``write`` may take long and may raise ``OSError``."""

    title: str
    suffix: str
    write: Callable[[Path], int]
    counted: str = "bytes"
    name: str = ""


@dataclass(frozen=True)
class Picture:
    """What a view shows.

    ``panels`` stand below each other on one axis across: the first says its ends, and all are equally wide. With a
    ``grid`` (least width and height in pixels) each has axes of its own, and as many stand in a row as there is room for; with a
    ``stack`` it is so many of them each, below each other, that share an axis across. A picture
    without panels says in ``empty`` (title and sentence) why there is nothing to see. ``table`` holds columns by title, whose values
    ``formats`` write, or
    ``matrix`` the numbers of a heat map; ``notes`` stand below. ``layers`` is the dim of its "layer" items, the factors,
    blocks or topics that can be given names. The host puts in ``choices``: what the view has asked for, with the values in
    force; and, where the picture leaves the program, ``doubt``: why the run behind it is not to be trusted yet, and
    ``origin``: what it was made from. ``beside`` it stand lists, numbers and small pictures, ``files`` are written from the menu, ``kept`` is what the
    session keeps of it for the next time (JSON), from :class:`ViewChoices`.
    ``more`` are the id of a choice of a number, and names of items with the number from which on each is shown: a search
    chooses it. A double click on what stands for items selects them and chooses ``twice``, the id of a choice and a value;
    elsewhere, and without it, all is shown again.
    """

    headline: str
    caption: str = ""
    panels: tuple[Panel, ...] = ()
    notes: str = ""
    legend: tuple[Key | Ramp, ...] = ()
    table: Mapping[str, Any] = field(default_factory=dict)
    matrix: Matrix | None = None
    empty: tuple[str, str] = ("", "")
    choices: tuple[ViewChoice, ...] = ()
    doubt: str = ""
    origin: str = ""
    grid: tuple[float, float] | None = None
    stack: int = 1
    layers: str = ""
    more: tuple[str, Mapping[str, int]] = ("", MappingProxyType({}))
    twice: tuple[str, str] | None = None
    beside: tuple[Listing | Facts | Inset, ...] = ()
    files: tuple[File, ...] = ()
    kept: Mapping[str, Any] = field(default_factory=dict)
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "panels", tuple(self.panels))
        object.__setattr__(self, "legend", tuple(self.legend))
        for panel in self.panels:
            if not isinstance(panel, Panel):
                raise PictureError(f"A picture holds panels. Found {type(panel).__name__}.")
        if not self.panels and not self.empty[0]:
            raise PictureError("A picture needs a panel, or words that say why there is none.")
        if self.stack < 1 or len(self.panels) % self.stack:
            raise PictureError(f"{len(self.panels)} panels are no stacks of {self.stack}.")
        if not isinstance(self.headline, str) or not isinstance(self.caption, str):
            raise PictureError("Headline and caption of a picture are texts.")
        columns = {str(title): _column(values) for title, values in self.table.items()}
        lengths = {title: len(values) for title, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise PictureError(f"The columns of the table differ in length: {lengths}.")
        object.__setattr__(self, "table", MappingProxyType(columns))


@dataclass(frozen=True)
class Inset:
    """A small picture beside the picture, so many pixels high, under its headline; what its marks stand for is selected by it."""

    picture: Picture
    height: float


def _column(values: object) -> np.ndarray:
    column = np.array(values)
    if column.ndim != 1:
        raise PictureError(f"A column of the table is a list. Found the shape {column.shape}.")
    column.setflags(write=False)
    return column
