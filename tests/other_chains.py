"""Plugin for ``pytest -p other_chains``: every chain draws other random numbers, so that thresholds show what they rest on.

``PLAIDWORK_OTHER_CHAINS`` (a whole number, 0 for the usual ones) says which. A test that holds for any run of a right
sampler passes with each; with another BLAS kernel (``OPENBLAS_CORETYPE``: SkylakeX, Haswell, Zen, Prescott) the same.
"""

import os

import numpy as np

from plaidwork.core.draws import chain

_other = int(os.environ.get("PLAIDWORK_OTHER_CHAINS", "0"))


def _rng(seed, number):
    entropy = np.random.SeedSequence([seed, _other], spawn_key=(number,))
    return np.random.Generator(np.random.PCG64DXSM(entropy))


def pytest_configure(config):
    if _other:
        chain.chain_rng = _rng
