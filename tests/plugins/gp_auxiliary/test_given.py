"""Cut-points, widths of the null category and widths of priors as given in the settings."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator

from plaidwork.core.api import Block, Clock, ModelData, passes
from plaidwork.plugins.gp_auxiliary.classes.ordinal import OrderedClasses
from plaidwork.plugins.gp_auxiliary.few_labels.model import SemiClasses
from plaidwork.plugins.gp_auxiliary.raters.model import Rated
from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior
from plaidwork.plugins.gp_auxiliary.shared.given import numbers_of


def data_of(free: int = 0) -> ModelData:
    """Twelve samples of three classes, the last ``free`` without a label; grades by four raters."""
    rng, size = generator(1), 12
    code, known = np.arange(size) % 3, np.arange(size) < size - free
    names = tuple(f"s{i}" for i in range(size))
    grades = 1.0 + (code[:, None] + np.arange(4)) % 3
    x = rng.standard_normal((size, 2))
    return ModelData(
        {
            "X": Block("X", x, np.ones((size, 2), bool), None, (names, ("p", "q"))),
            "y": Block("y", np.where(known, code, 0), known, None, (names,), ("u", "v", "w")),
            "ratings": Block("ratings", grades, np.ones((size, 4), bool), None, (names, tuple("abcd"))),
        }
    )


def swept(model, data, count=4, warmup=4, **settings):
    """The state after some sweeps."""
    params, rng = model.spec.check_params(settings), generator(2)
    state = model.init(data, params, rng)
    for number in range(count):
        for _ in passes(model, state, data, params, rng, Clock(number, warmup)):
            pass
    return state


def errors(model, data, **settings) -> list[str]:
    found = model.validate(data, model.spec.check_params(settings))
    return [problem.message for problem in found if problem.severity == "error"]


def test_numbers_are_read_from_a_text():
    assert numbers_of("-1, 0.5; 2e1") == [-1.0, 0.5, 20.0]
    assert numbers_of("") == []
    assert numbers_of("1, two") is None
    assert numbers_of("1, inf") is None


@pytest.mark.parametrize("model", [OrderedClasses(), Rated()])
def test_given_cut_points_stay(model):
    state = swept(model, data_of(), cut_points="given", given_cuts="-0.2, 0.1")
    assert state["cuts"].tolist() == [-0.2, 0.1]


@pytest.mark.parametrize("model", [OrderedClasses(), Rated()])
@pytest.mark.parametrize("text", ["1", "1, 0", "0, 0", "a, b", ""])
def test_cut_points_that_do_not_fit_are_refused(model, text):
    (message,) = errors(model, data_of(), cut_points="given", given_cuts=text)
    assert message == f"Given cut-points need 2 ascending numbers. Found “{text}”."


def test_given_widths_of_the_copies_stay():
    state = swept(SemiClasses(), data_of(5), count=8, warmup=16, given_widths="0, 0.3, 2")
    assert state["widths"].tolist() == [0.0, 0.3, 2.0]
    assert len(state["rungs"]) == 3


def test_without_given_ones_they_are_spaced_in_the_warm_up():
    state = swept(SemiClasses(), data_of(5), count=64, warmup=80, rungs=3)
    assert state["widths"][1] != 1.0


@pytest.mark.parametrize("text", ["0, 1", "2, 0", "-1, 2", "x"])
def test_widths_that_do_not_fit_are_refused(text):
    (message,) = errors(SemiClasses(), data_of(5), given_widths=text)
    assert message.startswith("The widths of the copies ")


def test_widths_of_priors_are_those_of_the_settings():
    params = OrderedClasses().spec.check_params(
        {"ard": True, "intercept": True, "amplitude_sd": 2.0, "gamma_sd": 3.0}
    )
    law = make_prior(generator(3).standard_normal((5, 2)), params, False).covariance
    assert law.prior_sd.tolist() == [2.0, 2.0, 3.0, 3.0]
