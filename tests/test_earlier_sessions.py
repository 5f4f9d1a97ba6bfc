"""Sessions of earlier versions open, and their runs are repeated to the bit by today's program."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from plaidwork.core.cli.verifying import difference
from plaidwork.core.registry import registry
from plaidwork.core.session import open_session

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("version_*/*.plaidwork.xz"))


@pytest.fixture
def opened(request, tmp_path):
    path = tmp_path / request.param.stem
    path.write_bytes(lzma.decompress(request.param.read_bytes()))
    return open_session(path)


@pytest.mark.parametrize("opened", FIXTURES, indirect=True, ids=lambda path: path.name.split(".")[0])
def test_an_earlier_run_is_repeated(opened):
    (run,) = opened.runs.values()
    plan = opened.plan_of(run, registry())
    assert difference(run, plan, 20) == ""


@pytest.mark.parametrize("opened", FIXTURES, indirect=True, ids=lambda path: path.name.split(".")[0])
def test_an_earlier_run_goes_on(opened):
    from plaidwork.core.fitting import resume

    (run,) = opened.runs.values()
    before = [record.trace.count for record in run.chains]
    resume(opened, run, draws=2 if run.spec.algorithm == "mcmc" else 0)
    assert run.status == "done"
    extra = 2 * run.schedule.thin if run.spec.algorithm == "mcmc" else 0
    assert [record.trace.count for record in run.chains] == [count + extra for count in before]
    assert np.isfinite(run.traces[run.spec.primary_trace.name]).all()
