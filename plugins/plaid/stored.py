"""What stored states may hold: blocks of any number, in every copy, and an order that names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plaidwork.core.api import POSITION, Layout, Part

NUMBER = Part(())
FLAG = "bool"


def _blocks(where: str, shape: tuple[int, int]) -> dict[str, Part]:
    return {
        f"{where}.rows": Part(("K", shape[0]), FLAG),
        f"{where}.columns": Part(("K", shape[1]), FLAG),
        f"{where}.theta": Part(("K",)),
    }


def _replicas(where: str, shape: tuple[int, int], profiles: bool) -> dict[str, Part]:
    size = (
        "C" if profiles else "K+1"
    )  # blocks with profiles have no statistics, which stay those of the start
    return {
        **_blocks(where, shape),
        f"{where}.counts": Part((size, size), missing=profiles),
        f"{where}.sums": Part((size,), missing=profiles),
        f"{where}.weights": Part(shape, low=0.0),
        f"{where}.layers.profiles": Part(("K", shape[1])),
        f"{where}.layers.row_weights": Part((shape[0],)),
        f"{where}.layers.row_effects": Part((shape[0],)),
        f"{where}.layers.column_effects": Part((shape[1],)),
        f"{where}.layers.*": NUMBER,
        f"{where}.effects.row_effects": Part((shape[0],)),
        f"{where}.effects.column_effects": Part((shape[1],)),
        f"{where}.effects.*": NUMBER,
        f"{where}.*": NUMBER,
    }


def _common() -> dict[str, Part]:
    return {
        "order": Part(("O",), low=0),
        "accepted.*": Part((), "int64", low=0, missing=True),
        "held_out.rows": Part(same=True),
        "held_out.columns": Part(same=True),
        "held_out.log_density": Part(unset=True),
    }


def layout_of_plaid(shape: tuple[int, int], profiles: bool) -> Layout:
    """The places of a state of both models of a matrix."""
    return {
        **_replicas("replicas.*", shape, profiles),
        **_replicas("parents.*", shape, profiles),
        **_common(),
    }


def layout_of_counts(shape: tuple[int, int]) -> Layout:
    """The places of a state of the model of counts and links."""
    degrees = {
        "copies.*.row_degrees": Part((shape[0],), low=0.0),
        "copies.*.column_degrees": Part((shape[1],), low=0.0),
    }
    return {**_blocks("copies.*", shape), **degrees, "copies.*.*": NUMBER, **_common()}


def wrong_copies(state: Mapping[str, Any], copies: str) -> str:
    """What copies and order say against each other, as a part of a sentence; empty when nothing."""
    names = {str(number) for number in range(len(state[copies]))}
    if not names or set(state[copies]) != names:
        return f"“{copies}” are not numbered from 0 on"
    position = state.get(POSITION)
    if position is None or not 0 < position["at"] < len(state["order"]):
        return ""  # the order is made anew, or has been gone through
    if str(position["stage"]).startswith("noise"):
        return ""  # rows of cells, whose order is made after it
    number = str(position["stage"]).rsplit(" ", 1)[-1]
    copy = state[copies].get(str(int(number) - 1)) if number.isdecimal() else None
    if copy is not None and not state["order"].max() < len(copy["rows"]):
        return f"“order” names block {state['order'].max() + 1} of {len(copy['rows'])}"
    return ""
