"""Test errors of all variants beside other classifiers fitted in the same run, in one table.

    python benchmarks/rank_factor_errors.py FOLDER [--sets usps mnist srbct leukemia colon] [--sweeps 120] [--chains 6]
        [--only NAME …] [--set NAME=VALUE …]

FOLDER has ``digits`` (``usps_3v5.npz``, ``mnist_3v5_small.npz``: X_train, y_train, X_test, y_test) and ``expression``
(``NAME_x.csv.gz``: genes by samples after two columns of names; ``NAME_samples.csv.gz``: sample, class, split). Of genes the 500
that vary most among the training samples are taken, logarithms where all values are positive (of the leukemia data those from 100
to 16,000, as in Dudoit et al. 2002). Without a split ten folds are made. Peers: ``rank_factor_peers.py``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.fitting import fit

sys.path.insert(0, str(Path(__file__).parent))
from rank_factor_peers import PEERS, peer_errors

GENES, FOLDS = 500, 10
FILES = {
    "usps": "digits/usps_3v5.npz",
    "mnist": "digits/mnist_3v5_small.npz",
    "srbct": "expression/srbct_khan2001",
    "leukemia": "expression/leukemia_golub1999",
    "colon": "expression/colon_alon1999",
}
VARIANTS = {
    f"{short}, {word}": (model, {"likelihood": likelihood, "classifier": classifier})
    for short, likelihood, classifier in (
        ("G-L", "gaussian", "linear"), ("G-NL", "gaussian", "nonlinear"),
        ("R-L", "rank", "linear"), ("R-NL", "rank", "nonlinear"),
    )
    for word, model in (("MCMC", "rank_factor"), ("VB", "rank_factor_vb"))
} | {
    f"{short}-GP, MCMC": ("rank_factor", {"likelihood": likelihood, "classifier": "process"})
    for short, likelihood in (("G", "gaussian"), ("R", "rank"))
}  # fmt: skip
Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Training samples by features, their codes, test samples, their codes."""


def digits(path: Path) -> Iterator[Part]:
    data = np.load(path)
    yield (
        data["X_train"].astype(float), (data["y_train"] > 0).astype(int),
        data["X_test"].astype(float), (data["y_test"] > 0).astype(int),
    )  # fmt: skip


def genes(path: Path) -> Iterator[Part]:
    with gzip.open(f"{path}_x.csv.gz", "rt", encoding="utf-8", newline="") as file:
        x = np.array([row[2:] for row in list(csv.reader(file))[1:]], float).T
    with gzip.open(f"{path}_samples.csv.gz", "rt", encoding="utf-8", newline="") as file:
        table = np.array(list(csv.reader(file))[1:])
    x = np.log(x) if (x > 0).all() else np.log(np.clip(x, 100, 16_000))
    codes, split = np.unique(table[:, 1], return_inverse=True)[1], table[:, 2]
    folds = np.empty(len(x), int)
    if "test" in split:
        folds = np.where(split == "test", 0, -1)
    else:  # classes spread evenly
        order = np.lexsort([np.random.default_rng(0).random(len(x)), codes])
        folds[order] = np.arange(len(x)) % FOLDS
    for f in range(folds.max() + 1):
        train = folds != f
        kept = np.argsort(-x[train].var(axis=0), kind="stable")[:GENES]
        yield x[train][:, kept], codes[train], x[~train][:, kept], codes[~train]


def inputs(part: Part) -> dict[str, Dataset]:
    x, codes, new, truth = part
    rows = tuple(f"s{i}" for i in range(len(x) + len(new)))
    classes = tuple(f"class {c}" for c in range(codes.max() + 1))
    split = np.repeat([0, 1], [len(x), len(new)])
    return {
        "X": Dataset("data", np.vstack([x, new]), rows, tuple(f"f{j}" for j in range(x.shape[1]))),
        "y": Dataset("class", np.append(codes, truth), rows, (), kind="categorical", categories=classes),
        "split": Dataset("half", split, rows, (), kind="categorical", categories=("train", "test")),
    }


def scaled(part: Part, each: bool) -> Part:
    """Centred; divided by the standard deviation of each feature, or of all values."""
    x, codes, new, truth = part
    centre, unit = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-9) if each else x.std()
    return (x - centre) / unit, codes, (new - centre) / unit, truth


def variant_errors(name: str, part: Part, sweeps: int, chains: int, settings: dict[str, Any]) -> int:
    """Wrong test samples; of the sweeps of a chain 60 % are warm-up. The ascent ends by its own rule."""
    model, params = VARIANTS[name]
    warmup = sweeps * 6 // 10
    schedule = {"chains": chains, "warmup": warmup, "draws": max(1, (sweeps - warmup) // 2), "thin": 2}
    run = fit(model, inputs(part), params | settings, seed=1, **(schedule if model == "rank_factor" else {}))
    return int(run.results["metrics"].columns["Wrong"][-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", choices=list(FILES), default=list(FILES))
    parser.add_argument("--sweeps", type=int, default=120, help="of every chain of MCMC")
    parser.add_argument("--chains", type=int, default=6, help="of MCMC")
    parser.add_argument("--only", nargs="+", choices=[*VARIANTS, *PEERS], default=[*VARIANTS, *PEERS])
    parser.add_argument("--set", nargs="*", default=[], help="settings of all variants, such as n_factors=40")
    given = parser.parse_args()
    settings = {name: float(value) for name, value in (item.split("=") for item in given.set)}
    settings = {name: int(value) if value.is_integer() else value for name, value in settings.items()}
    found: dict[str, dict[str, str]] = {name: {} for name in given.only}
    for data in given.sets:
        path = given.folder / FILES[data]
        parts = list(digits(path) if path.suffix == ".npz" else genes(path))
        total = sum(len(part[3]) for part in parts)
        for name in found:
            started = time.process_time()
            if name in PEERS:
                ready = [scaled(part, each=path.suffix != ".npz") for part in parts]
                wrong = sum(peer_errors(name, *part) for part in ready)
            else:
                wrong = sum(
                    variant_errors(name, part, given.sweeps, given.chains, settings) for part in parts
                )
            found[name][data] = f"{wrong}"
            print(
                f"{data:>9} {name:>20}: {wrong} of {total}, {time.process_time() - started:.0f} CPU s",
                flush=True,
            )
        for row in found.values():
            row.setdefault(data, "")
    print(
        f"\nWrong test samples ({given.chains} chains of {given.sweeps} sweeps, {settings or 'default settings'})"
    )
    print(f"{'':>20} " + " ".join(f"{data:>9}" for data in given.sets))
    for name, row in found.items():
        print(f"{name:>20} " + " ".join(f"{row[data]:>9}" for data in given.sets))


if __name__ == "__main__":
    main()
