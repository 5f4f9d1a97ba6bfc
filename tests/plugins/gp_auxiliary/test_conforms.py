"""Every Gaussian process model passes the conformance suite."""

import pytest

from plaidwork.core.checks import checks_for
from plaidwork.plugins.gp_auxiliary.classify import Classes
from plaidwork.plugins.gp_auxiliary.ordinal import OrderedClasses
from plaidwork.plugins.gp_auxiliary.variational import QuickClasses

MODELS = (Classes, OrderedClasses, QuickClasses)


@pytest.mark.parametrize("check", [check for model in MODELS for check in checks_for(model)], ids=str)
def test_conforms(check):
    check()
