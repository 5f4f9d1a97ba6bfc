"""Sessions of earlier versions open, and their runs are repeated to the bit by today's program."""

import lzma
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from plaidwork.core.inference.repeating import repeat
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load

OTHERS = ("lapack_signs", "one_step", "every_merge", "density_of_values")
"""In the name of sessions that open and go on, but are not repeated: their starts had the signs that LAPACK gave to singular
vectors, cut-points took one step a sweep (version 1.0 of ordered classes), every merge had its way back worked out before it was
refused (version 0.1 of clusters by Dirichlet processes), or the trace of the log density was that of other coordinates (version 0.1
of the rank factor classifier)."""
FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("version_*/*.plaidwork.xz"))


REPEATED = [path for path in FIXTURES if not any(one in path.name for one in OTHERS)]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    """Opens a fixture once. That another process reads strangers' files first is a matter of ``test_gate.py``."""
    folder = tmp_path_factory.mktemp("earlier")

    @cache
    def session(packed):
        path = folder / packed.stem
        path.write_bytes(lzma.decompress(packed.read_bytes()))
        return load(path, Session, probed=True)

    return session


@pytest.fixture
def opened(request, sessions):
    """A session; only its end may be changed."""
    return sessions(request.param)


@pytest.mark.long
@pytest.mark.parametrize("opened", REPEATED, indirect=True, ids=lambda path: path.name.split(".")[0])
def test_an_earlier_run_is_repeated(opened):
    """But for rounding: on another processor, and since the order in which kernels were compiled decided last bits then."""
    (run,) = opened.runs.values()
    found = repeat(run, opened.plan_of(run, registry()), 20)
    assert found.verdict != "different", found.location


@pytest.mark.parametrize(
    "opened", FIXTURES, indirect=True, ids=lambda path: path.name.removesuffix(".plaidwork.xz")
)
def test_an_earlier_run_goes_on(opened):
    from plaidwork.core.session.fitting import resume

    (run,) = opened.runs.values()
    before = [record.trace.count for record in run.chains]
    resume(opened, run, draws=2 if run.spec.algorithm == "mcmc" else 0)
    assert run.status == "done"
    extra = 2 * run.schedule.thin if run.spec.algorithm == "mcmc" else 0
    assert [record.trace.count for record in run.chains] == [count + extra for count in before]
    assert np.isfinite(run.traces[run.spec.primary_trace.name]).all()
