"""Every built-in model passes the conformance suite that guests have to pass."""

import pytest

from plaidwork.core.checks import check_model, checks_for
from plaidwork.core.registry import Registry

BUILT_IN = [info for info in Registry(safe_mode=True).load().plugins if info.source == "built-in"]
MODELS = [model for info in BUILT_IN for model in info.models]
CHECKS = [pytest.param(check, id=f"{model}-{check}") for model in MODELS for check in checks_for(model)]


@pytest.mark.parametrize("check", CHECKS)
def test_conforms(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_conforms_in_full(model):
    report = check_model(model, level="full")
    assert report.ok, report.text()
