"""The event loop stays free while chains run, and PySide6 survives many events (see the pin)."""

import sys
import time
from importlib.metadata import version
from itertools import pairwise

from PySide6.QtCore import QTimer

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests import toys


def test_a_timer_keeps_beating_while_four_chains_of_a_built_in_model_run(qapp, qtbot):
    found = registry().load()
    spec = next(s for s in found.specs() if s.algorithm == "mcmc")
    model = found.model(spec.id)
    model.prepare()
    values = toys.matrix(400, 300)
    from plaidwork.core.data.objects import as_dataset

    plan = make_plan(
        model,
        {spec.inputs[0].name: as_dataset("X", values)},
        schedule=Schedule(chains=4, warmup=10, draws=5000),
    )
    workbench = Workbench(found)
    run = workbench.start(plan)
    qtbot.waitUntil(lambda: run.sweeps_done > 0, timeout=60_000)
    beats: list[float] = []
    timer = QTimer()
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))
    timer.start(10)
    qtbot.waitUntil(lambda: len(beats) > 40, timeout=30_000)
    timer.stop()
    assert run.active
    with qtbot.waitSignal(workbench.results_changed, timeout=30_000):
        workbench.stop(run)
        qtbot.waitUntil(lambda: not workbench.active_runs(), timeout=20_000)
    wait_for_tasks()
    gaps = sorted(b - a for a, b in pairwise(beats))
    # A wall-clock limit on a shared machine needs slack: a held interpreter lock shows as every gap being long.
    assert gaps[len(gaps) // 2] < 0.1


def test_pyside_survives_twenty_thousand_rounds_of_events(qapp):
    for _ in range(20_000):
        qapp.processEvents()


def test_the_pyside_that_breaks_python_311_is_not_installed():
    if sys.version_info < (3, 12):
        major, minor = (int(part) for part in version("PySide6-Essentials").split(".")[:2])
        assert (major, minor) < (6, 12)
