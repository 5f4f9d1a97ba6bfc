"""Sessions of earlier versions open, and their runs are repeated to the bit by today's program."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from plaidwork.core.linear_algebra import arithmetic
from plaidwork.core.registry import registry
from plaidwork.core.repeating import repeat
from plaidwork.core.session import open_session

MADE_ON = Path(__file__).parent / "fixtures" / "version_0_1" / "made_on.json"
SIGNS = ("group_factor", "supervised_ibp")
"""Their starts take singular vectors, whose signs another BLAS may choose otherwise."""
FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("version_*/*.plaidwork.xz"))


@pytest.fixture
def opened(request, tmp_path):
    path = tmp_path / request.param.stem
    path.write_bytes(lzma.decompress(request.param.read_bytes()))
    return open_session(path)


@pytest.mark.parametrize("opened", FIXTURES, indirect=True, ids=lambda path: path.name.split(".")[0])
def test_an_earlier_run_is_repeated(opened):
    """To the bit on the kind of processor on which it was made; elsewhere its first sweeps agree but for rounding."""
    (run,) = opened.runs.values()
    found = repeat(run, opened.plan_of(run, registry()), 20)
    if json.loads(MADE_ON.read_text(encoding="utf-8")) == arithmetic():
        assert found.verdict == "equal", found.place
    elif run.spec.id not in SIGNS:
        assert found.verdict != "different", found.place


@pytest.mark.parametrize("opened", FIXTURES, indirect=True, ids=lambda path: path.name.split(".")[0])
def test_an_earlier_run_goes_on(opened):
    from plaidwork.core.one_call import resume

    (run,) = opened.runs.values()
    before = [record.trace.count for record in run.chains]
    resume(opened, run, draws=2 if run.spec.algorithm == "mcmc" else 0)
    assert run.status == "done"
    extra = 2 * run.schedule.thin if run.spec.algorithm == "mcmc" else 0
    assert [record.trace.count for record in run.chains] == [count + extra for count in before]
    assert np.isfinite(run.traces[run.spec.primary_trace.name]).all()
