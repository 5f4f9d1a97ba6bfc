"""``python tests/resuming.py [MODEL ...] [--cold]``: runs that were stopped, saved, moved and resumed, or extended, against
runs that were not, bit for bit; a table of all built-in models by executor and number of chains.

Chains are long enough (``SECONDS``) that a stop finds them on their way. With ``--cold`` each stopped file is opened and
resumed by a fresh process whose cache of kernels is empty, which takes minutes per model.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from plaidwork.core.checks._bench import Bench, first_difference
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.inference.events import Swept
from plaidwork.core.inference.execution import execute, named_executor
from plaidwork.core.inference.executor import EXECUTORS, Control, InlineExecutor
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import Registry, registry
from plaidwork.core.session.session import Session, open_session

SECONDS = 0.4
WARMUP, DRAWS, MORE = 3, 6, 3
COLD = """
import sys
from pathlib import Path
from resuming import resumed
print("swept", resumed(Path(sys.argv[1]), "inline").sweeps_done)
"""


def plan_of(model_id: str, chains: int) -> FitPlan:
    """A fit of the data that the conformance suite uses, long enough to be stopped on its way."""
    bench = Bench(registry().model(model_id), "quick", 5)
    schedule = Schedule(chains=chains, warmup=WARMUP, draws=DRAWS, max_sweeps=12, tolerance=0.0, window=5)
    short = bench.make(bench.sample, schedule=replace(schedule, chains=1))
    execute(Run.from_plan(short), short, InlineExecutor())  # kernels are there
    started = time.monotonic()
    execute(Run.from_plan(short), short, InlineExecutor())
    factor = max(1, round(SECONDS / (time.monotonic() - started)))
    return bench.make(bench.sample, schedule=schedule.with_(thin=factor, max_sweeps=12 * factor))


def uninterrupted(plan: FitPlan) -> Run:
    run = Run.from_plan(plan)
    execute(run, plan, InlineExecutor())
    return run


def stopped(plan: FitPlan, executor: str, path: Path) -> int:
    """Run, stop on the way, save; the sweeps that were done by then."""
    session, control = Session(), Control()
    kept = {name: [session.add_dataset(data) for data in found] for name, found in plan.inputs.items()}
    plan = replace(plan, inputs={name: tuple(found) for name, found in kept.items()})
    run = session.add_run(plan)

    def progress(run: Run, event: object) -> None:
        if isinstance(event, Swept):
            control.stop()

    execute(run, plan, named_executor(executor, control), progress)
    session.save(path)
    return run.sweeps_done


def resumed(path: Path, executor: str, draws: int = 0) -> Run:
    session = open_session(path)
    (run,) = session.runs.values()
    if draws:
        run.extend(draws)
    execute(run, session.plan_of(run, registry()), named_executor(executor))
    session.save(path)
    return next(iter(open_session(path).runs.values()))


def difference(run: Run, whole: Run) -> str:
    """Where two runs first differ; empty when they are equal bit for bit."""
    if run.status != "done":
        return f"it is {run.status}"
    for one, other in zip(run.chains, whole.chains, strict=True):
        if found := first_difference(run.spec, one, other):
            return f"chain {one.chain + 1}: {found}"
    return ""


def tried(model_id: str, chains: int, folder: Path, cold: bool = False) -> dict[str, tuple[str, str]]:
    """By executor: how it went (``3 of 40 sweeps, equal``) when it was resumed, and when it was extended."""
    plan = plan_of(model_id, chains)
    whole, found = uninterrupted(plan), {}
    sampler = plan.spec.algorithm == "mcmc"
    longer = replace(plan, schedule=plan.schedule.with_(draws=DRAWS + MORE))
    long = uninterrupted(longer) if sampler and not cold else None
    for executor in ("inline",) if cold else EXECUTORS:
        here, there = folder / f"{executor}.plaidwork", folder / "elsewhere" / f"{executor}.plaidwork"
        there.parent.mkdir(exist_ok=True)
        sweeps = stopped(plan, executor, here)
        shutil.move(here, there)
        if cold:
            _in_cold_process(there, folder)
            again = next(iter(open_session(there).runs.values()))
        else:
            again = resumed(there, executor)
        told = f"{sweeps} of {whole.sweeps_done}: {difference(again, whole) or 'equal'}"
        extended = "-" if long is None else difference(resumed(there, executor, MORE), long) or "equal"
        found[executor] = (told, extended)
    return found


def _in_cold_process(path: Path, folder: Path) -> None:
    environment = {**os.environ, "PLAIDWORK_KERNELS": str(folder / "kernels")}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    )
    subprocess.run([sys.executable, "-c", COLD, str(path)], env=environment, check=True, cwd=path.parent)


def main(words: list[str]) -> int:
    cold = "--cold" in words
    built_in = Registry(safe_mode=True).load().plugins
    models = [word for word in words if not word.startswith("--")]
    bad = 0
    print("| Model | Chains | Executor | Stopped after, resumed | Extended |\n|---|---|---|---|---|")
    for model_id in models or [model for info in built_in for model in info.models]:
        for chains in (1,) if cold else (1, 4):
            with tempfile.TemporaryDirectory() as folder:
                for executor, (told, more) in tried(model_id, chains, Path(folder), cold).items():
                    bad += not (told.endswith("equal") and more in ("-", "equal"))
                    print(f"| {model_id} | {chains} | {executor} | {told} | {more} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
