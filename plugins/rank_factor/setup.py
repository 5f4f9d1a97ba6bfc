"""What a fit knows of its data and settings: made once, shared by all chains, never changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, refuse_errors
from plaidwork.plugins.rank_factor.checks import class_names, find_problems, split_of, varying_rows
from plaidwork.plugins.rank_factor.comparisons import Levels, Pairs, Placed, make_levels, make_pairs, place
from plaidwork.plugins.rank_factor.state import Settings

USED = ("likelihood", "scheme", "n_levels", "classes", "test_name", "test_share", "image_shape")
"""Settings that decide the setup."""


@dataclass(frozen=True)
class Setup:
    """Data in the form of the kernels: d varying rows (features), N training samples, G label columns.

    Attributes
    ----------
    rows, train, test : places of the rows among the features, of the samples among all samples.
    likelihood : "gaussian", "levels" or "pairs".
    x : (d, N) standardised values, 0 where missing; empty unless Gaussian. known : (d, N) bool; complete : all known.
    centre, unit : (d,) what a Gaussian row was centred with and divided by.
    levels, pairs : of the rank likelihood.
    classes : names; codes (all samples,) index of the class, -1 unlabelled.
    y : (N, G) -1, 1, 0; G is 1 for two classes, else their number.
    """

    rows: np.ndarray
    train: np.ndarray
    test: np.ndarray
    likelihood: str
    x: np.ndarray
    known: np.ndarray
    complete: bool
    centre: np.ndarray
    unit: np.ndarray
    levels: Levels | None
    pairs: Pairs | None
    classes: tuple[str, ...]
    codes: np.ndarray
    y: np.ndarray
    test_cells: NewCells | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """(d, N, G)"""
        return len(self.rows), len(self.train), self.y.shape[1]

    @property
    def ranks(self) -> Levels:
        """The levels, where the likelihood is one of ranks."""
        if self.levels is None:
            raise ModelError("The gaussian likelihood has no levels.")
        return self.levels

    @property
    def n_thresholds(self) -> int:
        return self.levels.edges.shape[1] if self.levels is not None else 0


@dataclass(frozen=True)
class NewCells:
    """Cells of M new samples: standardised values (Gaussian) or places among the fitted ones."""

    x: np.ndarray
    known: np.ndarray
    placed: Placed | None

    @property
    def size(self) -> int:
        return int(self.x.shape[1])


def setup_of(data: ModelData, params: Settings) -> Setup:
    """The setup of these data and settings, made once while the data live."""
    return data.prepared(_make, params, USED)


def label_columns(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """(N, G) of -1, 1 and 0 from class numbers; two classes share one column, in which the second is 1."""
    if n_classes == 2:
        return np.where(codes < 0, 0.0, 2.0 * codes - 1.0)[:, None]
    columns = np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)
    columns[codes < 0] = 0.0
    return columns


def _make(data: ModelData, params: Settings) -> Setup:
    refuse_errors(find_problems(data, params))
    block: Block = data["X"]
    train, test = split_of(data, params)
    rows = varying_rows(block, train)
    classes, codes = class_names(data, params)
    x, known = _cells(block, train, rows)
    likelihood = params["scheme"] if params["likelihood"] == "rank" else "gaussian"
    centre, unit = np.zeros(len(rows)), np.ones(len(rows))
    levels: Levels | None = None
    if likelihood == "gaussian":
        count = known.sum(axis=1)
        centre = x.sum(axis=1) / count
        rest = (x - centre[:, None]) * known
        unit = np.maximum(np.abs(rest).max(axis=1), 1e-300)
        unit = unit * np.sqrt(((rest / unit[:, None]) ** 2).sum(axis=1) / count)
        x = rest / unit[:, None]
    else:
        levels = make_levels(x, known, params["n_levels"])
    setup = Setup(
        rows,
        train,
        test,
        likelihood,
        x if levels is None else np.empty((0, 0)),
        known,
        bool(known.all()),
        centre,
        unit,
        levels,
        make_pairs(levels) if levels is not None and likelihood == "pairs" else None,
        classes,
        codes,
        label_columns(codes[train], len(classes)),
    )
    if len(test):
        setup = replace(setup, test_cells=new_cells(setup, *_cells(block, test, rows)))
    return setup


def _cells(block: Block, samples: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(d, n) values and whether they are known."""
    known = np.ascontiguousarray(block.observed[np.ix_(samples, rows)].T)
    return np.ascontiguousarray(block.values[np.ix_(samples, rows)].T) * known, known


def new_cells(setup: Setup, x: np.ndarray, known: np.ndarray) -> NewCells:
    """New samples, (d, M) values of the fitted rows, as the fit would have seen them."""
    if setup.levels is None:
        return NewCells((x - setup.centre[:, None]) / setup.unit[:, None] * known, known, None)
    return NewCells(x, known, place(setup.levels, x, known, setup.likelihood))
