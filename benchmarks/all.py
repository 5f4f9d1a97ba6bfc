"""One table of all models' speed as ratios: a sweep over its limit on this machine, over another checkout, and peers over it.

    python benchmarks/all.py [--full] [--against CHECKOUT] [--peer-python PYTHON]

Quick sizes by default (a quarter of the rows). Peers are no dependencies: mofapy2 where ``--peer-python`` (by default this one) has it,
scikit-learn where it is installed here; what is missing is left out. CPU seconds of one thread, the least of several. The limits are those of
``roofline.py``; single stages, and what the limits count, are told there.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import REFERENCE_SECONDS, calibrate
from roofline import FULL, QUICK, SWEEP, of_machine, table
from roofline_work import CASES

PEER_SECONDS = 20.0
"""CPU seconds after which mofapy2 is stopped."""


def mofa(dtype: str, python: str, share: float) -> float | None:
    """CPU seconds of a sweep of mofapy2."""
    from group_factor_speed import make_views, run_peer

    views, z = make_views(int(1000 * share), 2000)
    found = run_peer(python, views, z, dtype, PEER_SECONDS)
    return None if found is None else float(found["sweep"])


def mixture(share: float) -> float | None:
    """CPU seconds of a step of scikit-learn's variational mixture with 30 components."""
    if importlib.util.find_spec("sklearn") is None:
        return None
    import warnings

    from dp_mixture import sweep_data
    from sklearn.mixture import BayesianGaussianMixture

    values, steps = sweep_data(int(2000 * share), 30, 30)["views"][0].values, 20
    model = BayesianGaussianMixture(30, covariance_type="diag", max_iter=steps, tol=0.0, init_params="random")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        model.fit(values)
    return (time.process_time() - started) / steps


def dense(share: float) -> float:
    """CPU seconds of a sweep of the supervised Indian buffet process by the formulas as printed, dense, without a bound."""
    from supervised_ibp_speed import time_dense, word_counts

    rng, n = np.random.default_rng(0), int(10_000 * share)
    return time_dense(word_counts(n, 5000, int(775_000 * share), rng), rng.standard_normal(n), 20, 1)


def plain(ranks: bool, share: float) -> float | None:
    """CPU seconds of a sweep of the rank factor model in plain NumPy."""
    from rank_factor_speed import make_data, plain_sweep

    if share != FULL:
        return None  # it is written for one size
    data = make_data(np.random.default_rng(0))
    return plain_sweep(data["X"].values, 2.0 * data["y"].values - 1, np.random.default_rng(1), ranks)


def peers(python: str, share: float) -> dict[str, tuple[str, Callable[[], float | None]]]:
    """By case: name of the peer, and what tells its seconds."""
    return {
        "group factors, float64": ("mofapy2", lambda: mofa("float64", python, share)),
        "group factors, float32": ("mofapy2", lambda: mofa("float32", python, share)),
        "supervised IBP": ("dense NumPy", lambda: dense(share)),
        "rank factors, thresholds": ("NumPy", lambda: plain(True, share)),
        "rank factors, values": ("NumPy", lambda: plain(False, share)),
        "Dirichlet process mixture": ("scikit-learn", lambda: mixture(share)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--full", action="store_true", help="the sizes of roofline.py")
    parser.add_argument("--against", type=Path, help="another checkout with a .venv of its own")
    parser.add_argument("--peer-python", default=sys.executable)
    given = parser.parse_args()
    share = FULL if given.full else QUICK
    loop = min(calibrate() for _ in range(3))
    print(
        f"calibration loop {loop:.3f} s: {loop / REFERENCE_SECONDS:.2f} of that for which older targets were stated"
    )
    lines, speed = table([case.name for case in CASES], share, given.against, 2)
    print(of_machine(speed))
    known = peers(given.peer_python, share)
    head = [
        "model",
        "ms a sweep",
        "calibration loops",
        "times the limit",
        "before / now",
        "peer",
        "peer / ours",
    ]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for line in lines:
        if line.stage != SWEEP:
            continue
        name, ask = known.get(line.case, ("", lambda: None))
        seconds = ask()
        row = [
            line.case,
            f"{1e3 * line.seconds:.2f}",
            f"{line.seconds / loop:.4f}",
            f"{line.seconds / line.limit:.2f}",
        ]
        row.append(f"{line.other / line.seconds:.2f}" if line.other == line.other else "")
        row += (
            [name, f"{seconds / line.seconds:.1f}"]
            if seconds is not None and seconds == seconds
            else ["", ""]
        )
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
