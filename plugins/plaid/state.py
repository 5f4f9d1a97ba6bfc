"""The state of a chain: constants of the data, replicas, held-out cells; and its start."""

from __future__ import annotations

from copy import deepcopy
from typing import get_args

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError
from plaidwork.plugins.plaid.fields import Constants, Fields, MoveName, Replica, Scalars, Settings
from plaidwork.plugins.plaid.held_out import no_draws_yet
from plaidwork.plugins.plaid.kernels.birth_death import harmonic
from plaidwork.plugins.plaid.kernels.records import Cells

ALL_MOVES: tuple[MoveName, ...] = get_args(MoveName)


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only C-ordered view, so that every kernel sees one type."""
    out = np.ascontiguousarray(array).view()
    out.flags.writeable = False
    return out


def measure(block: Block, params: Settings) -> Constants:
    """Constants of the data that every sweep needs: computed once per chain, kept in the state."""
    known = block.values[block.observed]
    if known.size == 0:
        raise ModelError("The matrix has no observed cell.", "Choose another matrix or hold out fewer cells.")
    centre = float(np.median(known))
    shifted = known - centre
    sd = float(shifted.std())
    at = params["background_at"]
    where = (
        float(params["background_mean"])
        if at == "value"
        else (float(known.mean()) if at == "mean" else centre)
    )
    n_rows, n_columns = block.shape
    return {
        "full": bool(block.observed.all()),
        "centre": centre,
        "n_observed": float(known.size),
        "total": float(shifted.sum()),
        "sum_squares": float((shifted**2).sum()),
        "unit": sd if params["scale"] and sd > 0.0 else 1.0,
        "background": where,
        "harmonics": float(harmonic(n_rows) * harmonic(n_columns)),
    }


def cells_of(block: Block, constants: Constants) -> Cells:
    """The matrix as the kernels take it; no copy."""
    return Cells(
        read_only(block.values),
        read_only(block.observed),
        read_only(block.values),
        constants["full"],
        constants["centre"],
        constants["n_observed"],
        constants["total"],
        constants["sum_squares"],
    )


def given_blocks(data: ModelData) -> tuple[np.ndarray, np.ndarray]:
    """Start memberships from the optional inputs: (L, N1) and (L, N2) bool."""
    if "start_rows" not in data or "start_columns" not in data:
        raise ModelError(
            "Given blocks need both inputs.", "Choose “Start rows” and “Start columns”, or another start."
        )
    rows, columns = (data[name].values.T > 0.5 for name in ("start_rows", "start_columns"))
    return rows.copy(), columns.copy()


def true_blocks(data: ModelData) -> tuple[np.ndarray, np.ndarray] | None:
    """The true memberships, when they were given: (L, N1) and (L, N2) bool."""
    if "true_rows" not in data or "true_columns" not in data:
        return None
    return data["true_rows"].values.T > 0.5, data["true_columns"].values.T > 0.5


def new_replica(rows: np.ndarray, columns: np.ndarray, scalars: Scalars) -> Replica:
    """One copy of the unknowns; shifts and background are drawn before they are used."""
    size = len(rows)
    return {
        "rows": np.ascontiguousarray(rows, dtype=np.bool_),
        "columns": np.ascontiguousarray(columns, dtype=np.bool_),
        "theta": np.zeros(size),
        "counts": np.zeros((size + 1, size + 1)),
        "sums": np.zeros(size + 1),
        "squares": 0.0,
        **scalars,
    }


def copy_replica(state: Fields, source: str, copies: int) -> None:
    """Go on with copies of one replica, all others left behind."""
    replica = state["replicas"][source]
    state["replicas"] = {str(r): deepcopy(replica) for r in range(copies)}


def new_state(block: Block, constants: Constants, replica: Replica) -> Fields:
    """The state before the first sweep; the copies are made when the first sweep begins."""
    return {
        "constants": constants,
        "replicas": {"0": replica},
        "warm": False,
        "swapped": 0.0,
        "order": np.empty(0, np.int64),
        "accepted": dict.fromkeys(ALL_MOVES, 0),
        "held_out": no_draws_yet(block),
    }
