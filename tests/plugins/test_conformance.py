"""Every built-in model passes the conformance suite that guests have to pass: the short checks here, all in full slowly."""

import pytest

from plaidwork.core.checks import checks_for
from plaidwork.core.plugins.registry import Registry

BUILT_IN = [info for info in Registry(safe_mode=True).load().plugins if info.source == "built-in"]
MODELS = [model for info in BUILT_IN for model in info.models]
LONG = ["mid_sweep", "setting_bounds", "degenerate_data", "calibration", "geweke"]
"""Two thirds of the time. They repeat whole fits for each step, setting or data set, and run among the slow tests."""


def _checks(**words):
    return [
        pytest.param(check, id=f"{model}-{check}") for model in MODELS for check in checks_for(model, **words)
    ]


@pytest.mark.parametrize("check", _checks(skip=LONG))
def test_conforms(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize("check", _checks(level="full"))
def test_conforms_in_full(check):
    check()
