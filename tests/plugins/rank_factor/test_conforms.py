"""The conformance suite for the sorts of fit that the defaults do not reach."""

import pytest
import rank_factor_tools as tools
from sparing import every

from plaidwork.core.checks import check_model, checks_for

QUICK = ["traces", "draws", "results", "views", "predicts"]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", every([name for name in tools.MODELS if "mixture" in name or "process" in name], 2)
)
def test_in_short(name):
    for check in checks_for(tools.MODELS[name], only=QUICK):
        check()


@pytest.mark.slow
@pytest.mark.parametrize("name", tools.MODELS)
def test_in_whole(name):
    report = check_model(tools.MODELS[name])
    assert report.ok, report.text()
