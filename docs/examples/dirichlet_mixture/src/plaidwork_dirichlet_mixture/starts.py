"""The state of a chain, and what is wrong with data before there is one."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import POSITION, Block, Params, Problem, State
from plaidwork_dirichlet_mixture.clusters import empty_clusters
from plaidwork_dirichlet_mixture.sweep import FIRST, HIGH, MEMBERS, PHASE, ROW, SECOND, start_position

SLOTS = 4
MOST_FULL_COLUMNS = 100


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only C-ordered view, so that the kernels see one type."""
    out = np.ascontiguousarray(array).view()
    out.flags.writeable = False
    return out


def tiny_block() -> Block:
    """A few cells, to compile the kernels with."""
    values = np.array([[0.0], [1.0], [5.0], [6.0]])
    return Block("X", read_only(values), read_only(np.ones((4, 1), bool)), None, (tuple("abcd"), ("a",)))


def scaling(block: Block, standardise: bool) -> tuple[np.ndarray, np.ndarray]:
    """Centre and scale of every column, by its known cells; a column that never changes keeps the scale 1."""
    d = block.shape[1]
    centre, scale = np.zeros(d), np.ones(d)
    if standardise:
        for j in range(d):
            known = block.values[:, j][block.observed[:, j]]
            if known.size:
                centre[j] = known.mean()
                sd = float(np.sqrt(np.mean((known - centre[j]) ** 2)))
                if sd > 1e-12 * float(np.abs(known).max()):
                    scale[j] = sd
    return centre, scale


def new_state(
    labels: np.ndarray, alpha: float, centre: np.ndarray, scale: np.ndarray, params: Params
) -> State:
    """The state before the first sweep; a label of -1 is an item that has no cluster yet."""
    n, d, full = len(labels), len(centre), params["covariance"] == "full"
    at, sums = start_position()
    slots = SLOTS
    while slots <= labels.max():
        slots *= 2
    return {
        "labels": labels.copy(),
        "alpha": alpha,
        "centre": centre,
        "scale": scale,
        "clusters": empty_clusters(slots, d, full),
        "pair": empty_clusters(3, d, full),
        "members": np.zeros(n, np.int64),
        "side": np.zeros(n, np.int64),
        "at": at,
        "sums": sums,
    }


def wrong_counts(state: State) -> str:
    """What sizes, slots and a move under way say against the labels within a sweep, as a part of a sentence; empty when nothing."""
    position, labels, at = state[POSITION], state["labels"], state["at"]
    size, n = state["clusters"]["size"], len(labels)
    counted = labels[: position["at"]] if position["stage"] == "clusters" else labels
    if not np.array_equal(np.bincount(counted[counted >= 0], minlength=len(size)), size):
        return "“clusters.size” does not count the labels"
    if not labels.max(initial=-1) < at[HIGH] <= len(size):
        return f"“at” says that slots below {at[HIGH]} are in use"
    if max(at[FIRST], at[SECOND], at[MEMBERS] - 1) >= n or at[ROW] > n:
        return "“at” names rows that there are not"
    return ""


def upgraded(state: State) -> State:
    """A state of version 1, where the model itself kept the position of the whole sweep in ``at``.

    Its phases were: clusters added up (0), labels drawn (1), the four of a move (2 to 5), the end of the sweep (6).
    """
    phase, row = int(state["at"][PHASE]), int(state["at"][ROW])
    state["at"][PHASE] = state["at"][ROW] = 0
    if phase == 1 or (phase == 0 and row > 0):
        state[POSITION] = {"stage": "labels" if phase else "clusters", "at": row}
    elif phase in range(2, 6):
        state["at"][PHASE], state["at"][ROW] = phase - 2, row
        state[POSITION] = {"stage": "splits and merges", "at": 1}
    elif phase == 6:
        state[POSITION] = {"stage": "means and alpha", "at": 0}
    return state


def find_problems(block: Block, params: Params) -> list[Problem]:
    """Errors stop the fit; warnings are shown."""
    found = []
    n, d = block.shape
    known = block.observed
    empty = np.flatnonzero(~known.any(axis=1))
    if empty.size:
        names = ", ".join(f"“{block.names[0][i]}”" for i in empty[:3]) + (", …" if empty.size > 3 else "")
        text = f"{empty.size} {'row has' if empty.size == 1 else 'rows have'} no known cell: {names}."
        return [Problem(text, "Remove these rows: nothing says to which cluster they belong.", "X")]
    missing = int((~known).sum())
    full = params["covariance"] == "full"
    if full and missing:
        found.append(
            Problem(
                f"{missing} {'cell is' if missing == 1 else 'cells are'} missing; the full form needs every cell.",
                "Choose “Diagonal” as shape of a cluster, or remove rows or columns with gaps.",
                "covariance",
            )
        )
    for j in range(d):
        column = block.values[:, j][known[:, j]]
        if n > 1 and column.size and column.min() == column.max():
            text = f"All known cells of column “{block.names[1][j]}” are equal."
            found.append(Problem(text, "It says nothing about clusters.", "X", "warning"))
    if n == 1:
        found.append(Problem("The matrix has one row.", "It is one cluster.", "X", "warning"))
    if full and d > MOST_FULL_COLUMNS:
        text = f"Full covariances of {d} columns are slow and need many more rows than columns."
        found.append(Problem(text, "Choose “Diagonal”, or fewer columns.", "covariance", "warning"))
    return found
