"""Built-in models, resumed and extended: equal bit for bit to runs that were not interrupted (the whole table: ``tests/resuming.py``)."""

import pytest
from resuming import tried

from plaidwork.core.plugins.registry import Registry

MODELS = [model for info in Registry(safe_mode=True).load().plugins for model in info.models]


@pytest.mark.slow
@pytest.mark.parametrize("chains", [1, 4])
@pytest.mark.parametrize("model", MODELS)
def test_resumed_and_extended_in_every_executor(model, chains, tmp_path):
    for executor, (resumed, extended) in tried(model, chains, tmp_path).items():
        assert resumed.endswith("equal"), executor
        assert extended in ("-", "equal"), executor
