"""A toy model and helpers for the tests of forms and pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.contract.model import Cost, Model, Problem
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input, ModelSpec, Trace, Variable
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import SessionError

SPEC = ModelSpec(
    id="toy.blocks",
    version="1.0",
    title="Toy blocks",
    summary="Finds **toys**.",
    tags=("toys",),
    inputs=(
        Input("X", "matrix", "real", label="Matrix", doc="Numbers on one scale.", holdout="cells"),
        Input("classes", "labels", "categorical", ("row",), label="Classes", required=False),
    ),
    hyperparameters=(
        Hyperparameter("blocks", "int", 5, label="Blocks", minimum=1, maximum=200, group="Blocks", doc="A guess."),
        Hyperparameter("spread", "float", 10.0, label="Spread", minimum=0, open_minimum=True, unit="variance", log=True),
        Hyperparameter("share", "float", 0.1, label="Share", minimum=0, maximum=0.5, group="Blocks"),
        Hyperparameter(
            "start", "choice", "empty", label="Start from",
            choices=(Choice(value="empty", label="Nothing"), Choice(value="random", label="Chance", doc="by dice")),
        ),
        Hyperparameter("start_blocks", "int", 3, label="Start blocks", minimum=0, when={"start": "random"}),
        Hyperparameter("learn", "bool", True, label="Learn the noise", advanced=True),
        Hyperparameter("noise", "float", 1.0, label="Noise", minimum=0, advanced=True, when={"learn": False}),
        Hyperparameter("grid", "array", (1.0, 2.0), label="Grid", advanced=True),
        Hyperparameter("note", "text", "", label="Note", advanced=True),
    ),
    variables=(Variable("level"),),
    traces=(Trace("level"),),
    schedule=Schedule(chains=2, warmup=10, draws=20),
)  # fmt: skip

LABELS = ModelSpec(
    id="toy.labels",
    version="1.0",
    title="Toy classifier",
    summary="Needs labels.",
    algorithm="variational",
    inputs=(
        Input("X", "matrix", "real", label="Features"),
        Input("y", "labels", "categorical", ("row",), label="Labels"),
    ),
)


class ToyBlocks(Model):
    spec = SPEC

    def init(self, data: Any, params: Any, rng: np.random.Generator) -> dict[str, Any]:
        return {"level": 0.0}

    def step(self, state: Any, data: Any, params: Any, rng: Any, clock: Any) -> dict[str, float]:
        state["level"] = float(rng.normal())
        return {"level": state["level"]}

    def draws(self, state: Any, data: Any, params: Any) -> dict[str, Any]:
        return {"level": state["level"]}

    def summarise(self, kept: Any, data: Any, params: Any) -> dict[str, Any]:
        return {}

    def validate(self, data: Any, params: Any) -> list[Problem]:
        if params["blocks"] > 100:
            return [Problem("Too many blocks for “Matrix”.", "Take fewer.", "X")]
        if params["blocks"] == 40:
            return [Problem("Rows differ in level.", "", "X", "warning", "standardise", {"axis": "rows"})]
        if params["blocks"] == 30 and params["start"] == "empty":
            settings = {"start_blocks": 7, "start": "random"}
            return [
                Problem("Thirty blocks begin better by chance.", "", "start", "warning", settings=settings)
            ]
        if params["blocks"] > 50:
            return [Problem("Many blocks take long.", severity="warning")]
        return []

    def estimate(self, data: Any, params: Any) -> Cost:
        return Cost(15e6, 10.0)


class ToyLabels(ToyBlocks):
    spec = LABELS


class ToyRegistry:
    """The two models and nothing else."""

    readers: tuple[Any, ...] = ()
    samples: tuple[Any, ...] = ()
    plugins: tuple[Any, ...] = ()
    _models = {SPEC.id: ToyBlocks, LABELS.id: ToyLabels}

    settled = True

    def load(self) -> ToyRegistry:
        return self

    ready = load

    def subscribe(self, told: Any) -> Any:
        return lambda: None

    def specs(self) -> tuple[ModelSpec, ...]:
        return SPEC, LABELS

    def has(self, model_id: str) -> bool:
        return model_id in self._models

    def model(self, model_id: str) -> Model:
        if model_id not in self._models:
            raise SessionError(f"The model “{model_id}” is not installed.")
        return self._models[model_id]()


def matrix(name: str = "genes", rows: int = 30, columns: int = 8, missing: int = 0) -> Dataset:
    """A small real matrix."""
    values = np.random.default_rng(1).normal(size=(rows, columns))
    values.ravel()[:missing] = np.nan
    return Dataset(
        name,
        values,
        tuple(f"g{i}" for i in range(rows)),
        tuple(f"s{i}" for i in range(columns)),
        row_label="genes",
        column_label="samples",
    )


def labels(name: str = "classes", rows: int = 30) -> Dataset:
    """Labels for the rows of `matrix`."""
    names = tuple(f"g{i}" for i in range(rows))
    return Dataset(name, np.arange(rows) % 2, names, kind="categorical", categories=("a", "b"))


def settle() -> None:
    """Wait for tasks and deliver what they say."""
    from PySide6.QtWidgets import QApplication

    from plaidwork.gui.tasks import wait_for_tasks

    wait_for_tasks()
    QApplication.processEvents()
