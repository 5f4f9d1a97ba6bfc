"""CPU seconds of one sweep of the infinite plaid model, one thread, one replica, K = 10.

Run: python benchmarks/plaid_speed.py. Beside it the seconds of a calibration loop, and the factor over a plain NumPy
version of the membership scan.
"""

import time

import numpy as np
from machine import REFERENCE_SECONDS, calibrate

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.plugins.plaid.kernels.records import Law
from plaidwork.plugins.plaid.kernels.scan import scan_blocks
from plaidwork.plugins.plaid.models import InfinitePlaid
from plaidwork.plugins.plaid.state import cells_of

CASES = ((100, 100, 0.0015, 300), (1000, 1000, 0.035, 30), (5000, 2000, 0.64, 10))
N_BLOCKS = 10


def make_data(n, m, rng):
    """Ten random blocks of a tenth of the rows and columns, as data and as the start."""
    rows, columns = np.zeros((N_BLOCKS, n)), np.zeros((N_BLOCKS, m))
    for k in range(N_BLOCKS):
        rows[k, rng.permutation(n)[: n // 10]] = 1
        columns[k, rng.permutation(m)[: m // 10]] = 1
    x = (3 * rng.standard_normal(N_BLOCKS) * rows.T) @ columns + rng.standard_normal((n, m))
    blocks = {}
    for name, values in (("X", x), ("start_rows", rows.T.copy()), ("start_columns", columns.T.copy())):
        names = tuple(tuple(map(str, range(size))) for size in values.shape)
        blocks[name] = Block(name, values, np.ones(values.shape, bool), None, names)
    return ModelData(blocks)


def time_sweeps(data, sweeps):
    """CPU seconds per sweep and the longest slice, after two sweeps to warm up."""
    model, rng = InfinitePlaid(), np.random.Generator(np.random.PCG64DXSM(1))
    params = model.spec.check_params({"start": "given"})
    state = model.init(data, params, rng)
    longest, used = 0.0, 0.0
    for sweep in range(sweeps + 2):
        if sweep == 2:
            used, longest = time.process_time(), 0.0
        traces = None
        while traces is None:
            start = time.perf_counter()
            traces = model.step(state, data, params, rng, Clock(sweep, 0))
            longest = max(longest, time.perf_counter() - start)
    return (time.process_time() - used) / sweeps, longest, state


def plain_scan(x, rows, columns, theta, phi, rng, law):
    """The scan of section 2.1 with a residual matrix and one NumPy call per entry, as a script would have it."""
    residual = x - phi - (theta * rows.T) @ columns
    for k in range(len(theta)):
        residual += theta[k] * np.outer(rows[k], columns[k])
        for z, other, r in ((rows[k], columns[k], residual), (columns[k], rows[k], residual.T)):
            size, weight = len(z), other.sum()
            for i in range(size):
                z[i] = False
                m = z.sum()
                if m == 0:
                    z[i] = True
                    continue
                total, n = (r[z] @ other).sum(), m * weight
                with_i, n_i = total + r[i] @ other, n + weight
                out, inside = law.tau + n * law.tau0, law.tau + n_i * law.tau0
                gain = 0.5 * np.log(out / inside) + 0.5 * (law.tau * law.mu + law.tau0 * with_i) ** 2 / inside
                gain -= 0.5 * (law.tau * law.mu + law.tau0 * total) ** 2 / out
                z[i] = rng.random() < 1 / (1 + np.exp(np.clip(-gain - np.log(m / (size - m)), -700, 700)))
        residual -= theta[k] * np.outer(rows[k], columns[k])


def ratio_to_numpy():
    """Seconds of the plain scan over seconds of ours, 100 x 100, ten blocks."""
    rng = np.random.Generator(np.random.PCG64DXSM(1))
    data = make_data(100, 100, rng)
    _, _, state = time_sweeps(data, 1)
    cold = state["replicas"]["0"]
    law = Law(cold["alpha"], cold["mu"], cold["tau"], 0.0, 1.0, cold["tau0"], 0.0, 1.0, 0.0, 1.0, 200)
    rows, columns, theta = cold["rows"].copy(), cold["columns"].copy(), cold["theta"].copy()
    start = time.process_time()
    plain_scan(data["X"].values, rows, columns, theta, cold["phi"], rng, law)
    plain = time.process_time() - start
    cells, order = cells_of(data["X"], state["constants"]), np.arange(len(theta))
    rows, columns = cold["rows"].copy(), cold["columns"].copy()
    start = time.process_time()
    for _ in range(50):
        scan_blocks(rng, cells, rows, columns, theta, cold["phi"] - cells.centre, order, law)
    return plain / ((time.process_time() - start) / 50)


def main():
    seconds = calibrate()
    InfinitePlaid().prepare()
    print(f"calibration loop {seconds:.3f} s (targets are stated for {REFERENCE_SECONDS} s and scaled)\n")
    print(f"{'matrix':>12}  {'s per sweep':>11}  {'target':>8}  {'of target':>9}  {'longest slice':>13}")
    for n, m, target, sweeps in CASES:
        used, longest, _ = time_sweeps(make_data(n, m, np.random.default_rng(0)), sweeps)
        allowed = target * seconds / REFERENCE_SECONDS
        print(f"{f'{n} x {m}':>12}  {used:11.5f}  {allowed:8.4f}  {used / allowed:9.2f}  {longest:11.3f} s")
    print(f"\nscan against plain NumPy, 100 x 100: {ratio_to_numpy():.0f} times faster")


if __name__ == "__main__":
    main()
