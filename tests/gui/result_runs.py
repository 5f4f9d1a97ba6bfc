"""Finished runs made by numpy, for tests of the result pages: no model is fitted, none is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Model, Result, Results, Table
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input, ModelSpec, Trace, Variable, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session
from plaidwork.gui.workbench import Workbench

BLOCK_SOURCE = {
    "matrix": "data:X",
    "rows": "row_probability",
    "cols": "column_probability",
    "shift": "shift",
    "interval": "shift_interval",
    "present": "present",
    "fit": "fit",
    "coverage": "coverage",
    "row_list": "row_list",
    "column_list": "column_list",
}
VIEWS = (
    View("biclusters", "Blocks", BLOCK_SOURCE, headline="headline", caption="caption"),
    View("table", "List of blocks", {"values": "block_table"}),
    View("heatmap", "Together", {"values": "together"}),
    View("bars", "Number of blocks", {"values": "block_counts"}),
)


class ToyModel(Model):
    """Declares views; never fits."""

    spec = ModelSpec(
        id="toy.blocks",
        version="1.0",
        title="Toy blocks",
        summary="For tests.",
        inputs=(Input("X", dims=("row", "column"), missing=True),),
        dims={"block": "blocks"},
        variables=(Variable("level"),),
        traces=(Trace("lp", primary=True),),
        views=VIEWS,
        schedule=Schedule(chains=1, warmup=1, draws=3),
    )

    def init(self, data: Any, params: Any, rng: Any) -> dict[str, Any]:
        return {}

    def step(self, state: Any, data: Any, params: Any, rng: Any, clock: Any) -> Mapping[str, float]:
        return {"lp": 0.0}

    def draws(self, state: Any, data: Any, params: Any) -> Mapping[str, Any]:
        return {"level": 0.0}

    def summarise(self, kept: Any, data: Any, params: Any) -> Results:
        return {}


def memberships(sets: list[np.ndarray], length: int, rng: np.random.Generator) -> np.ndarray:
    """(L, length) probabilities: high for members, low and mostly 0 for the others."""
    out = np.zeros((len(sets), length))
    for k, items in enumerate(sets):
        near = rng.choice(length, max(1, length // 20), replace=False)
        out[k, near] = rng.uniform(0.05, 0.45, len(near))
        out[k, items] = np.round(rng.uniform(0.62, 1.0, len(items)), 2)
        out[k, items[: max(1, len(items) // 2)]] = 1.0
    return out


def make_dataset(
    n: int = 40, m: int = 30, missing: int = 0, seed: int = 3
) -> tuple[Dataset, list[np.ndarray], list[np.ndarray]]:
    """Three overlapping blocks in noise: dataset, rows and columns of the blocks."""
    rng = np.random.default_rng(seed)
    row_order, column_order = rng.permutation(n), rng.permutation(m)
    cuts = ((0.0, 0.3, 0.0, 0.35), (0.25, 0.5, 0.3, 0.6), (0.6, 0.85, 0.5, 0.9))
    rows = [row_order[int(a * n) : int(b * n)] for a, b, _, _ in cuts]
    columns = [column_order[int(c * m) : int(d * m)] for _, _, c, d in cuts]
    values = rng.normal(0, 0.6, (n, m))
    for shift, r, c in zip((2.0, -1.6, 1.2), rows, columns):
        values[np.ix_(r, c)] += shift
    if missing:
        values.ravel()[rng.choice(n * m, missing, replace=False)] = np.nan
    kinds = np.array(["EWS", "BL", "NB"], dtype=object)[rng.integers(0, 3, m)]
    dataset = Dataset(
        "toy",
        values,
        tuple(f"gene {i + 1}" for i in range(n)),
        tuple(f"sample {j + 1}" for j in range(m)),
        column_table={"class": kinds, "batch": np.array([f"b{j % 2}" for j in range(m)], dtype=object)},
        row_label="genes",
        column_label="samples",
        unit="log intensity",
    )
    return dataset, rows, columns


def block_results(
    dataset: Dataset, rows: list[np.ndarray], columns: list[np.ndarray], seed: int = 5
) -> Results:
    """Results of a block model that has found these blocks."""
    rng = np.random.default_rng(seed)
    n, m = dataset.shape
    count = len(rows)
    p_rows, p_columns = memberships(rows, n, rng), memberships(columns, m, rng)
    shift = np.array([np.nanmean(dataset.values[np.ix_(r, c)]) for r, c in zip(rows, columns)]).reshape(count)
    fit = np.einsum("l,ln,lm->nm", shift, p_rows, p_columns) if count else np.zeros((n, m))
    covered = np.clip(np.einsum("ln,lm->nm", p_rows, p_columns), 0, 1) if count else np.zeros((n, m))
    sizes = np.array([len(r) * len(c) for r, c in zip(rows, columns)], dtype=np.int64)
    some = np.arange(min(n, 24))
    together = np.clip(p_rows[:, some].T @ p_rows[:, some], 0, 1) if count else np.eye(len(some))
    return {
        "row_probability": Result(p_rows, ("block", "row")),
        "column_probability": Result(p_columns, ("block", "column")),
        "shift": Result(shift, ("block",), unit="sd"),
        "shift_interval": Result(np.stack([shift - 0.12, shift + 0.12], axis=1), ("block", "bound")),
        "present": Result(np.linspace(1.0, 0.9, count), ("block",)),
        "fit": Result(fit, ("row", "column")),
        "coverage": Result(covered, ("row", "column")),
        "headline": f"{count} blocks cover {(covered > 0.5).mean() * 100:.0f} % of the matrix",
        "caption": "Found by numpy, for a test.",
        "together": Result(together, ("row", "row"), label="probability of sharing a block"),
        "block_counts": Table(
            {"Number of blocks": np.array([2, 3, 4, 5]), "Probability": np.array([0.08, 0.71, 0.18, 0.03])},
            label="Number of blocks in the draws",
        ),
        "block_table": Table(
            {
                "Block": np.array([f"Block {k + 1}" for k in range(count)], dtype=object),
                "Cells": sizes,
                "Shift": shift,
            },
            units={"Shift": "sd"},
            label="Blocks, largest first",
        ),
    }


def make_run(
    dataset: Dataset, results: Results, views: tuple[View, ...] = VIEWS, status: str = "done"
) -> tuple[Workbench, Run]:
    """A workbench whose session holds a finished run with these results."""
    session = Session(name="Toy session")
    run: Run = session.add_run(make_plan(ToyModel(), {"X": dataset}))
    run.results, run.results_draws, run.status = results, 300, status
    workbench = Workbench()
    workbench.set_session(session)
    return workbench, run


def toy_run(**options: Any) -> tuple[Workbench, Run]:
    """Workbench and run of the standard toy."""
    dataset, rows, columns = make_dataset(**options)
    return make_run(dataset, block_results(dataset, rows, columns))
