"""Blocks found on synth1 to synth4 from several starts, beside Table 1 of the seed.

Run: python benchmarks/plaid_recovery.py [chains]. Every chain has the default settings and schedule; "final K" is that of
the last draw, as in the seed; "mean K" is over the draws of the chains that survive the ranking by log joint.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.core.api_blocks import nmi_overlap_ishiguro
from plaidwork.core.api_draws import rank_chains
from plaidwork.plugins.plaid.models import InfinitePlaid

FOLDER = Path(__file__).parents[1] / "resources" / "examples" / "plaid"
SEED_TABLE = {
    1: ("2.86 ± 0.25", "5.23 ± 2.65", "7.45 ± 4.63"),
    2: ("2.87 ± 0.44", "4.16 ± 2.08", "7.56 ± 4.11"),
    3: ("4.32 ± 0.39", "4.22 ± 0.42", "4.53 ± 0.85"),
    4: ("4.00 ± 0.25", "4.77 ± 1.03", "4.96 ± 1.36"),
}


def load(number):
    """(data, true rows, true columns) of one synthetic set."""
    with np.load(FOLDER / f"synth{number}.npz") as file:
        x, rows, columns = file["X"], file["Z1"].T > 0, file["Z2"].T > 0
    names = tuple(tuple(map(str, range(n))) for n in x.shape)
    return ModelData({"X": Block("X", x, np.ones(x.shape, bool), None, names)}), rows, columns


def one_chain(data, start_blocks, seed):
    """(draws, 2): log joint and number of blocks; the best draw; its CPU seconds."""
    model, rng = InfinitePlaid(), np.random.Generator(np.random.PCG64DXSM(seed))
    start = {"start": "prior", "start_blocks": start_blocks} if start_blocks else {"start": "empty"}
    params, schedule = model.spec.check_params(start), model.spec.schedule
    state, out, best, best_joint = model.init(data, params, rng), [], None, -np.inf
    began = time.thread_time()
    for sweep in range(schedule.warmup + schedule.draws):
        traces = None
        while traces is None:
            traces = model.step(state, data, params, rng, Clock(sweep, schedule.warmup))
        if sweep >= schedule.warmup:
            out.append((traces["log_joint"], traces["n_blocks"]))
            if traces["log_joint"] > best_joint:
                best, best_joint = model.draws(state, data, params), traces["log_joint"]
    return np.array(out), best, time.thread_time() - began


def report(number, start_blocks, chains, pool):
    """One line of the table."""
    data, rows, columns = load(number)
    found = list(pool.map(lambda seed: one_chain(data, start_blocks, seed), range(chains)))
    final = np.array([traces[-1, 1] for traces, *_ in found])
    keep, _ = rank_chains([traces[:, 0] for traces, *_ in found])
    mean = np.mean([traces[:, 1].mean() for (traces, *_), used in zip(found, keep, strict=True) if used])
    top = max(found, key=lambda item: item[0][:, 0].max())
    nmi = nmi_overlap_ishiguro(top[1]["Z1"], top[1]["Z2"], rows, columns)
    mode = np.bincount(top[0][:, 1].astype(int)).argmax()
    seconds = np.mean([used for *_, used in found])
    return (
        f"{final.mean():5.2f} ± {final.std(ddof=1):4.2f}  {keep.sum():3d}/{chains}  {mean:6.2f}  "
        f"{mode:4d}  {nmi:5.3f}  {seconds:6.1f}"
    )


def main():
    chains = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    InfinitePlaid().prepare()
    print(f"{chains} chains per line\n")
    print(
        "set  start  seed Table 1   final K      used   mean K  mode  NMI    CPU s/chain   (mode, NMI: best chain)"
    )
    with ThreadPoolExecutor(2) as pool:
        for number in SEED_TABLE:
            true = 3 if number < 3 else 4
            for start, published in zip((true, 5, 10, 0), (*SEED_TABLE[number], "-"), strict=True):
                print(
                    f"{number:3d}  {start:5d}  {published:>12}  {report(number, start, chains, pool)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
