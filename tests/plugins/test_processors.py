"""Draws under the kernels that OpenBLAS has for other processors: which models do not depend on them.

The slow tests of a model that does not need not be repeated under each kernel; CONTRIBUTING.md says which ones are.
"""

import json
import os
import subprocess
import sys

import pytest

FREE = ("three-blocks", "tumour-genes", "meadow", "town-letters")
"""Examples of the models that add up in kernels of their own: plaid, mixtures, topics."""
BOUND = "three-gaussians"
"""An example of a model that leaves sums to BLAS: shows that the kernels were other ones."""

SCRIPT = """
import hashlib, json, sys
import numpy as np
from threadpoolctl import threadpool_info
from plaidwork.core import fit
from plaidwork.core.data.samples import bundled_samples

def digest(sample):
    run = fit(sample.model, sample.load(), dict(sample.params), seed=1, executor="inline", chains=2, warmup=15, draws=15, thin=1)
    hasher = hashlib.sha256()
    for name in sorted(run.traces):
        for trace in run.traces[name]:
            hasher.update(np.ascontiguousarray(trace).tobytes())
    return hasher.hexdigest()

digests = {sample.id: digest(sample) for sample in bundled_samples() if sample.id in sys.argv[1:]}
kernels = sorted({info["architecture"] for info in threadpool_info() if info["user_api"] == "blas"})
print(json.dumps({"kernels": kernels, "digests": digests}))
"""


def digests(kernel: str, called: str) -> dict[str, str]:
    """SHA-256 of all traces of each example in a process whose BLAS has these kernels; skips where they cannot be had.

    ``called`` is the name by which BLAS itself tells them.
    """
    child = subprocess.run(
        [sys.executable, "-c", SCRIPT, *FREE, BOUND],
        env=os.environ | {"OPENBLAS_CORETYPE": kernel},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(child.stdout.splitlines()[-1])
    if found["kernels"] != [called]:
        pytest.skip(f"BLAS has kernels {found['kernels']} here, not {called}")
    return found["digests"]


@pytest.mark.slow
def test_models_with_sums_of_their_own_draw_the_same_under_every_kernel_of_blas():
    """With OpenBLAS 0.3 ``Zen`` has Haswell's kernels, and all models the same draws with both."""
    old, new = digests("Prescott", "Katmai"), digests("Haswell", "Haswell")
    assert old[BOUND] != new[BOUND]
    assert {name: old[name] for name in FREE} == {name: new[name] for name in FREE}
