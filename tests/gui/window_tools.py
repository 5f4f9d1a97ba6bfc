"""A registry with toy models, datasets and a window on them, for tests of the window."""

from __future__ import annotations

import time
from contextlib import contextmanager

from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import FitPlan, make_plan
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.session import Session
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from tests import toys
from tests.registries import registry_of


class SlowWalk(toys.Walk):
    """A walk of which each step takes two milliseconds without holding the interpreter."""

    from dataclasses import replace

    spec = replace(toys.Walk.spec, id="toy.slow_walk", title="Slow walk")

    def step(self, state, data, params, rng, clock):
        time.sleep(0.002)
        return super().step(state, data, params, rng, clock)


def toy_registry() -> Registry:
    """A registry that knows the toy models only."""
    return registry_of(toys.Walk, toys.Climb, SlowWalk)


def dataset(name: str = "numbers", rows: int = 8, columns: int = 4) -> Dataset:
    """A small matrix with names."""
    return Dataset(
        name,
        toys.matrix(rows, columns),
        tuple(f"gene {i + 1}" for i in range(rows)),
        tuple(f"sample {i + 1}" for i in range(columns)),
        row_label="genes",
        column_label="samples",
    )


def plan(model: type = toys.Walk, draws: int = 50, chains: int = 2, **params: object) -> FitPlan:
    """A checked plan of a toy model."""
    schedule = Schedule(chains=chains, warmup=5, draws=draws, thin=1)
    return make_plan(model(), {"X": dataset()}, params, schedule=schedule, seed=3)


def settled_picture(window, qtbot):
    """The picture of a window once it no longer changes."""
    last = window.grab().toImage()
    for _ in range(50):
        qtbot.wait(200)
        if (now := window.grab().toImage()) == last:
            return now
        last = now
    raise AssertionError("the window goes on changing")


@contextmanager
def window_on(workbench, folder):
    """A shown window of 1280 x 800 with settings of its own, closed and cleared away at the end."""
    made = MainWindow(workbench, Settings(folder / "config"))
    made.resize(1280, 800)
    made.show()
    try:
        yield made
    finally:
        for run in made.workbench.active_runs():
            made.workbench.stop(run)
        made.workbench.wait(20_000)
        wait_for_tasks()
        QApplication.processEvents()
        made.workbench.set_session(Session())
        made.close()
        made.deleteLater()
