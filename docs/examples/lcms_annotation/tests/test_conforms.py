"""The conformance suite of Plaidwork, Geweke's test and calibration among it."""

from __future__ import annotations

import pytest

from plaidwork.core.checks import checks_for
from plaidwork_lcms_annotation.model import LcmsAnnotation

SLOW = ("prior", "mid_sweep")
"""What takes more than a second or two."""


@pytest.mark.parametrize("check", checks_for(LcmsAnnotation, skip=SLOW), ids=str)
def test_conforms(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize("check", checks_for(LcmsAnnotation, only=SLOW), ids=str)
def test_conforms_in_repeats_and_on_larger_data(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize("check", checks_for(LcmsAnnotation, only=("prior",), level="full"), ids=str)
def test_conforms_to_its_prior_with_many_draws(check):
    check()
