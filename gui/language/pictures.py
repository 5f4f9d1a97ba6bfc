"""A picture in the language of the window: titles, axes and legend; names of items stay."""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.pictures import Axis, Key, Panel, Picture, Ramp, describe
from plaidwork.gui.language.catalogue import language, tr


def told(picture: Picture) -> Picture:
    """The picture as the window shows it; the same one in English."""
    if language() == "en":
        return picture
    return replace(
        picture,
        panels=tuple(map(_panel, picture.panels)),
        legend=tuple(map(_entry, picture.legend)),
    )


def described(picture: Picture) -> str:
    """The picture in words, for a screen reader: its sentences translated, the table behind it as it is."""
    sentences, *table = describe(picture).split("\n")
    return "\n".join([tr(sentences), *table])


def _panel(panel: Panel) -> Panel:
    return replace(
        panel,
        x=_axis(panel.x),
        y=_axis(panel.y),
        title=tr(panel.title),
        values=tuple(map(tr, panel.values)),
        ends_title=tr(panel.ends_title),
        aside=tuple(map(tr, panel.aside)),
        columns=tuple(replace(column, title=tr(column.title)) for column in panel.columns),
    )


def _entry(entry: Key | Ramp) -> Key | Ramp:
    if isinstance(entry, Key):
        return replace(entry, text=tr(entry.text))
    low, middle, high = map(tr, entry.ends)
    return replace(entry, text=tr(entry.text), ends=(low, middle, high))


def _axis(axis: Axis) -> Axis:
    return replace(axis, label=tr(axis.label))
