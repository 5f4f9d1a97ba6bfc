"""A model that does what no model may, in its first chain at its eighth sweep; importable by name in another process."""

from __future__ import annotations

import ctypes
import os
import time

import numpy as np
from toys import Walk

from plaidwork.core.api import Hyperparameter, ModelSpec, chain_of

SLOW = "HOSTILE_STEP_SECONDS"


def crash():
    ctypes.string_at(0)


def endless():
    while True:
        time.sleep(0.01)


def endless_in_compiled_code():
    """Holds the interpreter: no other thread of this process gets on."""
    ctypes.PyDLL(None).sleep(3600)


class Hostile(Walk):
    spec = ModelSpec(
        **{name: getattr(Walk.spec, name) for name in Walk.spec.__dataclass_fields__ if name not in ("id", "hyperparameters")},
        id="toy.hostile",
        hyperparameters=(Hyperparameter("stride", "float", 0.5), Hyperparameter("fail_at", "int", 0),
                         Hyperparameter("deed", "text", "")),
    )  # fmt: skip

    def init(self, data, params, rng):
        return {**super().init(data, params, rng), "chain": chain_of(rng)}

    def step(self, state, data, params, rng, clock):
        traces = super().step(state, data, params, rng, clock)
        time.sleep(float(os.environ.get(SLOW, 0)))
        if state["chain"] == 0 and state["sweep"] == 8:
            deed = {
                "crash": crash,
                "endless": endless,
                "compiled": endless_in_compiled_code,
                "exit": lambda: os._exit(5),
                "write": lambda: self._write(data["X"].values),
                "extra": lambda: traces.update(level2=1.0),
                "shape": lambda: state.update(place=np.zeros(99)),
            }
            deed.get(params["deed"], int)()
        return traces

    def draws(self, state, data, params):
        found = super().draws(state, data, params)
        return found | {"level": np.nan} if params["deed"] == "nan" and state["sweep"] > 8 else found

    @staticmethod
    def _write(values):
        while isinstance(values.base, np.ndarray):
            values = values.base
        values.setflags(write=True)
        values[0, 0] += 1
