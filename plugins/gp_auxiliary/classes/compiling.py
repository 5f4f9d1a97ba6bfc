"""Compile the kernels by fits of a few samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.api import Block, Clock, Model, ModelData, passes
from plaidwork.plugins.gp_auxiliary.classes.predict import many_class
from plaidwork.plugins.gp_auxiliary.shared.frame import COVARIANCE_KEYS, covariance_of


def tiny_data(n_classes: int = 2) -> ModelData:
    """Six samples with two inputs, one without a label; two raters who grade all but one."""
    rng = np.random.Generator(np.random.PCG64DXSM(0))
    x = rng.standard_normal((6, 2))
    codes = np.arange(6, dtype=np.int64) % n_classes
    known = np.ones(6, dtype=bool)
    known[5] = False
    names = tuple(f"s{i}" for i in range(6))
    rated = np.ones((6, 2), dtype=bool)
    rated[5] = False
    grades = np.where(rated, codes[:, None] + 1.0, 0.0)
    for array in (x, codes, known, rated, grades):
        array.setflags(write=False)
    return ModelData(
        {
            "X": Block("X", x, np.ones((6, 2), dtype=bool), None, (names, ("a", "b"))),
            "ratings": Block("ratings", grades, rated, None, (names, ("r", "s"))),
            "y": Block("y", codes, known, None, (names,), tuple(f"c{k}" for k in range(n_classes))),
        }
    )


def tiny_fit(model: Model[Any, Any], settings: Mapping[str, Any], n_classes: int = 2) -> None:
    """One sweep at these settings."""
    known = {parameter.name for parameter in model.spec.hyperparameters}
    params = model.spec.check_params({name: value for name, value in settings.items() if name in known})
    data = tiny_data(n_classes)
    rng = np.random.Generator(np.random.PCG64DXSM(0))
    state = model.init(data, params, rng)
    for _ in passes(model, state, data, params, rng, Clock(0, 1)):  # in the warm-up, which learns
        pass
    plain = {**params, "covariance": "rbf"}
    law = covariance_of(tuple((key, plain[key]) for key in COVARIANCE_KEYS), ("a", "b"))
    law.pivoted(data["X"].values, law.prior_mean, 2, 1.0)


def compile_chances() -> None:
    """What probabilities of three or more classes are computed by."""
    many_class(np.zeros((3, 1)), np.zeros(1), 0.0)
