"""What a kind of view declares: its roles, and the shapes that each takes."""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[str | int, ...]
"""Lengths of the axes: a number, or a letter that stands for one length within a view."""


@dataclass(frozen=True, slots=True)
class Role:
    """One part of a view's source.

    Attributes
    ----------
    shapes : the shapes an array may have; empty for any.
    fitted : whether the source has to be ``fitted:X``.
    table, text : whether a ``Table``, or an array of texts, is taken instead of numbers.
    columns : titles that a table must have; a table without such titles needs ``min_columns``.
    """

    name: str
    shapes: tuple[Shape, ...] = ()
    doc: str = ""
    required: bool = True
    array: bool = True
    table: bool = False
    text: bool = False
    min_columns: int = 0
    fitted: bool = False


@dataclass(frozen=True, slots=True)
class ViewKind:
    """A kind of view: its roles and the name of its icon."""

    name: str
    icon: str
    doc: str
    roles: tuple[Role, ...]
    any_roles: bool = False
    """Whether the source may have roles of any name."""

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the roles that must be in the source."""
        return tuple(role.name for role in self.roles if role.required)

    def role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)


def optional(name: str, *shapes: Shape, doc: str = "", **more: bool) -> Role:
    """A role that may be left out."""
    return Role(name, shapes, doc, required=False, **more)


ASSESSED = (
    Role("labels", (("n",),), "number of each item's class from 0, below 0 where unknown"),
    Role("probability", (("n", "C"), ("n",)), "of each class, or of the second of two"),
    optional("names", ("C",), doc="names of the classes", table=True, text=True),
    optional("part", ("n",), doc="as test or fitted: parts are judged apart", text=True),
)
"""Roles of all views that hold class probabilities against known classes."""
