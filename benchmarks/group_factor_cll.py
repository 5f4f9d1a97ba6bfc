"""CLL patients (drug response and mutations): does one factor separate IGHV, does one follow trisomy 12?

    python benchmarks/group_factor_cll.py FOLDER [restarts]

FOLDER holds cll_drugs.csv.gz, cll_mutations.csv.gz and cll_samples.csv.gz. Wanted: AUC of at least 0.87 for IGHV and 0.80
for trisomy 12, which is itself one of the mutations.
"""

from __future__ import annotations

import csv
import gzip
import sys
import time
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.fitting import fit


def read(path: Path) -> tuple[list[str], list[str], list[list[str]]]:
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.reader(file))
    return [row[0] for row in rows[1:]], rows[0][1:], [row[1:] for row in rows[1:]]


def numbers(path: Path, patients: set[str], least: int = 0) -> Dataset:
    names, columns, cells = read(path)
    values = np.array([[float(cell) if cell else np.nan for cell in row] for row in cells])
    keep = [i for i, name in enumerate(names) if name in patients]
    values = values[keep]
    enough = np.nansum(values, axis=0) >= least if least else np.ones(len(columns), bool)
    chosen = tuple(np.array(columns)[enough])
    return Dataset(path.name.split(".")[0], values[:, enough], tuple(names[i] for i in keep), chosen)


def auc(score: np.ndarray, positive: np.ndarray) -> float:
    ranks, m = rankdata(score), positive.sum()
    area = (ranks[positive].sum() - m * (m + 1) / 2) / (m * (len(score) - m))
    return float(max(area, 1 - area))


def main(folder: Path, restarts: int) -> None:
    names, columns, cells = read(folder / "cll_samples.csv.gz")
    about = [dict(zip(columns, row, strict=True)) for row in cells]
    patients = {name for name, row in zip(names, about, strict=True) if row["Diagnosis"] == "CLL"}
    ighv = {name: row["IGHV"] for name, row in zip(names, about, strict=True)}
    drugs = numbers(folder / "cll_drugs.csv.gz", patients)
    mutations = numbers(folder / "cll_mutations.csv.gz", patients, least=3)
    column = mutations.column_names.index("trisomy12")
    trisomy = mutations.values[:, column]
    for k in (10, 15, 25):
        started = time.perf_counter()
        run = fit("group_factor", {"views": [drugs, mutations]}, {"n_factors": k}, chains=restarts, seed=1)
        seconds = time.perf_counter() - started
        z = run.results["scores"].values
        status = np.array([ighv[name] for name in drugs.row_names])
        for title, values, known in (
            ("IGHV", status == "M", np.isin(status, ("M", "U"))),
            ("trisomy 12", trisomy == 1, ~np.isnan(trisomy)),
        ):
            areas = [auc(z[known, f], values[known]) for f in range(z.shape[1])]
            best = int(np.argmax(areas))
            print(f"K {k:2d}: {title:10s} AUC {areas[best]:.3f} by factor {best + 1} of {z.shape[1]}")
        print(f"      {seconds:.1f} s, sweeps {[c.sweep for c in run.chains]}; {run.results['headline']}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2)
