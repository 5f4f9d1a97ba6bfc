"""Pictures of a finished run made by numpy, without a window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.hyperparameter import Hyperparameter
from plaidwork.core.contract.model import Model, Result
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Input, ModelSpec, Trace, Variable, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.pictures import Picture
from plaidwork.core.session.session import Session
from plaidwork.core.views.drawing import picture_of
from plaidwork.core.views.sources import Sources


class _Toy(Model):
    """Patients by drugs; never fits."""

    spec = ModelSpec(
        id="toy.drawn",
        version="1.0",
        title="Toy",
        summary="For tests.",
        inputs=(Input("X", dims=("patient", "drug"), missing=True),),
        hyperparameters=(Hyperparameter("ard", "bool", False, label="A length each"),),
        dims={"factor": "factors"},
        variables=(Variable("level"),),
        traces=(Trace("lp", primary=True),),
        schedule=Schedule(chains=1, warmup=1, draws=3),
    )

    def init(self, data: Any, params: Any, rng: Any) -> dict[str, Any]:
        return {}

    def step(self, state: Any, data: Any, params: Any, rng: Any, clock: Any) -> Mapping[str, float]:
        return {"lp": 0.0}

    def draws(self, state: Any, data: Any, params: Any) -> Mapping[str, Any]:
        return {"level": 0.0}

    def summarise(self, kept: Any, data: Any, params: Any) -> Mapping[str, Any]:
        return {}


def sources(view: View, results: Mapping[str, Result], shape: tuple[int, int] = (20, 5)) -> Sources:
    """What a view of a run with these results is drawn from; its data have so many patients and drugs."""
    n, m = shape
    names = tuple(f"patient {i + 1}" for i in range(n)), tuple(f"drug {j + 1}" for j in range(m))
    session = Session(name="Drawn")
    run = session.add_run(
        make_plan(_Toy(), {"X": Dataset("drugs", np.arange(1.0 * n * m).reshape(n, m), *names)})
    )
    run.results, run.results_draws, run.status = dict(results), 3, "done"
    return Sources(session, run, view)


def drawn(
    view: View,
    results: Mapping[str, Result],
    asked: Mapping[str, Any] | None = None,
    shape: tuple[int, int] = (20, 5),
) -> Picture:
    """The picture of a view of a run with these results."""
    return picture_of(sources(view, results, shape), asked)
