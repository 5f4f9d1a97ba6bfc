"""What Start gives of data made anew: sets with a planted answer, of which the choice of the defaults has seen none.

Run: python benchmarks/planted.py [--only NAME,NAME] [--data 1-3] [--budget S] [--executor auto] [--params JSON] [--json FILE]

``--data`` names the random numbers from which a set is made: others make another set of the same kind. Every set is fitted once at the plain
defaults of its model, seed 1, but for ``--params``; printed is what ``defaults.py`` prints, of blocks how they agree with the planted ones.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from defaults import SHORT, line, objective, processor_seconds, scores, seeds
from defaults import blocks as of_blocks

from plaidwork.core import fit
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.run import Run

BLOCKS = ("infinite_plaid", "bayesian_plaid", "plaid_counts")
Made = tuple[str, dict[str, Any]]
"""Id of a model, and its inputs."""


# -- blocks --------------------------------------------------------------------------------------
def planted(
    rng: np.random.Generator, shape: tuple[int, int], count: int, share: float = 0.15
) -> tuple[np.ndarray, np.ndarray]:
    """Members (K, N1) and (K, N2) of blocks that may overlap."""
    rows, columns = (rng.random((count, n)) < share for n in shape)
    return rows, columns


def blocks(
    rng: np.random.Generator,
    shape: tuple[int, int],
    count: int,
    noise: Callable[..., np.ndarray],
    levels: float = 0.0,
    shift: float = 2.5,
    share: float = 0.15,
) -> Made:
    """Shifts of either sign in noise, with levels of whole rows and columns of this sd."""
    rows, columns = planted(rng, shape, count, share)
    shifts = shift * rng.choice([-1.0, 1.0], count) * rng.uniform(0.8, 1.3, count)
    x = np.einsum("k,ki,kj->ij", shifts, rows, columns) + noise(size=shape)
    x += levels * (rng.standard_normal((shape[0], 1)) + rng.standard_normal(shape[1]))
    return "infinite_plaid", {"X": x, "true_rows": rows.T * 1.0, "true_columns": columns.T * 1.0}


def counts(rng: np.random.Generator, shape: tuple[int, int], count: int, links: bool = False) -> Made:
    """Counts (or links) that are more frequent in blocks, rows and columns of unlike degree."""
    rows, columns = planted(rng, shape, count)
    rate = 0.15 * np.outer(rng.gamma(3, 1 / 3, shape[0]), rng.gamma(3, 1 / 3, shape[1]))
    rate *= np.exp(1.6 * np.einsum("ki,kj->ij", rows, columns))
    x = rng.poisson(rate)
    x = np.minimum(x, 1) if links else x
    return "plaid_counts", {"X": x, "true_rows": rows.T * 1.0, "true_columns": columns.T * 1.0}


# -- samples with an outcome ---------------------------------------------------------------------
def with_classes(model: str, x: np.ndarray, code: np.ndarray, rng: np.random.Generator) -> Made:
    """A third of the samples is the test part."""
    split = np.where(rng.random(len(code)) < 1 / 3, "test", "train")
    return model, {"X": x, "y": [f"c{c}" for c in code], "split": split.tolist()}


def ranks(rng: np.random.Generator, shape: tuple[int, int], classes: int, factors: int = 6) -> Made:
    """Classes that differ in factors of which every measurement is a monotone function of its own."""
    code = rng.integers(0, classes, shape[0])
    score = rng.standard_normal((shape[0], factors)) + 2.0 * rng.standard_normal((classes, factors))[code]
    x = score @ (rng.standard_normal((factors, shape[1])) * (rng.random((factors, shape[1])) < 0.4))
    x = np.exp(0.4 * (x + 0.7 * rng.standard_normal(shape)))
    return with_classes("rank_factor", x, code, rng)


def clouds(
    rng: np.random.Generator, n: int, classes: int, inputs: int, apart: float
) -> tuple[np.ndarray, np.ndarray]:
    """Normal classes around centres."""
    code = rng.integers(0, classes, n)
    return apart * rng.standard_normal((classes, inputs))[code] + rng.standard_normal((n, inputs)), code


def xor(rng: np.random.Generator, n: int) -> Made:
    x = rng.uniform(-1, 1, (n, 2))
    return with_classes(
        "gp_classes", x, (x[:, 0] * x[:, 1] + 0.05 * rng.standard_normal(n) > 0).astype(int), rng
    )


def ordered(rng: np.random.Generator, n: int) -> Made:
    x = rng.standard_normal((n, 4))
    f = x[:, 0] + np.sin(2 * x[:, 1]) + 0.4 * rng.standard_normal(n)
    model, inputs = with_classes("gp_ordered_classes", x, np.digitize(f, [-1.2, 0.0, 1.2]), rng)
    words = {f"c{c}": c for c in range(4)}
    return model, inputs | {"y": [words[word] for word in inputs["y"]]}


def few_labels(rng: np.random.Generator, x: np.ndarray, code: np.ndarray, labelled: int) -> Made:
    """So many samples of each class keep their label."""
    keep = np.concatenate([rng.permutation(np.flatnonzero(code == c))[:labelled] for c in np.unique(code)])
    words = [f"c{c}" for c in code]
    known = [word if n in keep else "" for n, word in enumerate(words)]
    return "gp_semi_classes", {"X": x, "y": known, "truth": words}


def spirals(rng: np.random.Generator) -> Made:
    code = np.arange(200) % 2
    turn = rng.uniform(0.6, 3.2, 200)
    x = np.stack([turn * np.cos(2 * turn + np.pi * code), turn * np.sin(2 * turn + np.pi * code)], axis=1)
    return few_labels(rng, x + 0.08 * rng.standard_normal(x.shape), code, 6)


# -- numbers, raters, binary, mixtures, topics ---------------------------------------------------
def course(rng: np.random.Generator, kind: str) -> Made:
    if kind == "many":
        x = rng.standard_normal((250, 8))
        y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * x[:, 3]
    else:
        x = np.sort(rng.uniform(0, 10, 160))[:, None]
        y = np.where(x[:, 0] > 4, 2.0, 0.0) if kind == "step" else np.sin(2 * np.pi * x[:, 0]) + 0.3 * x[:, 0]
    y = y + 0.2 * rng.standard_normal(len(y))
    split = np.where(rng.random(len(y)) < 0.25, "test", "train").tolist()
    return "gp_regression", {"X": x, "y": y, "split": split}


def raters(rng: np.random.Generator, count: int) -> Made:
    x = rng.standard_normal((120, 3))
    truth = x[:, 0] + 0.8 * np.sin(2 * x[:, 1])
    seen = (
        truth[:, None]
        + rng.uniform(0.2, 0.9, count) * rng.standard_normal((120, count))
        + rng.normal(0, 0.4, count)
    )
    given = np.digitize(seen, [-1.5, -0.5, 0.5, 1.5]) + 1.0
    given[rng.random(given.shape) < 0.3] = np.nan
    return "gp_raters", {"X": x, "ratings": given}


def answers(rng: np.random.Generator, shape: tuple[int, int]) -> Made:
    f = 1.5 * rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1])) + rng.standard_normal(
        shape[1]
    )
    return "binary_pca", {"Y": (f + rng.logistic(size=shape) > 0) * 1.0}


def mixture(rng: np.random.Generator, kind: str) -> Made:
    count = {"corr": 3, "eight": 8, "noise": 4}[kind]
    code = rng.integers(0, count, 300)
    x = 3.5 * rng.standard_normal((count, 5))[code]
    root = (
        np.tril(rng.standard_normal((count, 5, 5)) * 0.6) + np.eye(5)
        if kind == "corr"
        else np.tile(np.eye(5), (count, 1, 1))
    )
    x = x + np.einsum("nij,nj->ni", root[code], rng.standard_normal((300, 5)))
    if kind == "noise":
        x = np.hstack([x, rng.standard_normal((300, 5))])
    return "dp_mixture", {"views": x}


def topics(rng: np.random.Generator, count: int) -> Made:
    words = rng.dirichlet(np.full(300, 0.05), count)
    share = rng.dirichlet(np.full(count, 0.2), 250)
    return "hdp_topics", {"X": np.stack([rng.multinomial(90, row @ words) for row in share])}


def views(rng: np.random.Generator, gaps: float) -> Made:
    score = rng.standard_normal((150, 5))
    on = np.array([[1, 1, 1, 0, 0], [1, 0, 1, 1, 0], [0, 1, 1, 0, 1]])
    made = {}
    for name, uses, size in zip("abc", on, (80, 120, 50), strict=True):
        weight = rng.standard_normal((5, size)) * (rng.random((5, size)) < 0.3) * uses[:, None]
        x = score @ weight + 0.7 * rng.standard_normal((150, size))
        x[rng.random(150) < gaps] = np.nan
        made[name] = Dataset(
            name, x, tuple(f"s{i}" for i in range(150)), tuple(f"{name}{j}" for j in range(size))
        )
    return "group_factor", {"views": list(made.values())}


# -- the sets ------------------------------------------------------------------------------------
def normal(rng: np.random.Generator) -> Callable[..., np.ndarray]:
    return rng.standard_normal


def heavy(rng: np.random.Generator) -> Callable[..., np.ndarray]:
    """Student's t of three degrees of freedom, whose middle is that of a standard normal law."""
    return lambda size: rng.standard_t(3, size)


SETS: dict[str, Callable[[np.random.Generator], Made]] = {
    "blocks-4": lambda g: blocks(g, (200, 100), 4, normal(g)),
    "blocks-8-long": lambda g: blocks(g, (500, 60), 8, normal(g)),
    "blocks-3-wide": lambda g: blocks(g, (100, 900), 3, normal(g)),
    "blocks-faint": lambda g: blocks(g, (200, 100), 3, normal(g), shift=1.0),
    "blocks-levels": lambda g: blocks(g, (150, 120), 3, normal(g), levels=0.7),
    "blocks-heavy": lambda g: blocks(g, (200, 100), 4, heavy(g)),
    "counts": lambda g: counts(g, (300, 120), 4),
    "counts-large": lambda g: counts(g, (800, 300), 5),
    "links": lambda g: counts(g, (200, 150), 4, links=True),
    "views": lambda g: views(g, 0.0),
    "views-gaps": lambda g: views(g, 0.2),
    "ranks-5": lambda g: ranks(g, (300, 80), 5),
    "ranks-few": lambda g: ranks(g, (120, 200), 3),
    "clouds-6": lambda g: with_classes("gp_classes", *clouds(g, 300, 6, 3, 2.5), g),
    "clouds-rare": lambda g: with_classes("gp_classes", *clouds(g, 250, 3, 4, 1.5), g),
    "xor": lambda g: xor(g, 250),
    "ordered": lambda g: ordered(g, 250),
    "few-4": lambda g: few_labels(g, *clouds(g, 240, 4, 2, 4.0), 3),
    "few-10-inputs": lambda g: few_labels(g, *clouds(g, 200, 2, 10, 0.8), 4),
    "few-spirals": spirals,
    "raters-6": lambda g: raters(g, 6),
    "season": lambda g: course(g, "season"),
    "many-inputs": lambda g: course(g, "many"),
    "step": lambda g: course(g, "step"),
    "answers-500": lambda g: answers(g, (500, 20)),
    "answers-80": lambda g: answers(g, (80, 40)),
    "mixture-corr": lambda g: mixture(g, "corr"),
    "mixture-eight": lambda g: mixture(g, "eight"),
    "mixture-noise": lambda g: mixture(g, "noise"),
    "topics-15": lambda g: topics(g, 15),
}


# -- fits ----------------------------------------------------------------------------------------
def matters(run: Run) -> str:
    """As ``defaults.py`` has it, or else the first headline of the results."""
    if run.spec.id in BLOCKS:
        return of_blocks(run)
    told = scores(run)
    if told == "no table of scores":
        heads = [view.headline for view in run.spec.views if view.headline and view.headline in run.results]
        told = "; ".join(str(run.results[head]) for head in dict.fromkeys(heads[:2]))
    return told


def one(name: str, data: int, given: argparse.Namespace) -> dict[str, Any]:
    model, inputs = SETS[name](np.random.default_rng([data, *name.encode()]))
    fit(model, inputs, seed=1, executor="inline", **SHORT)
    began, cpu = time.perf_counter(), processor_seconds()
    run = fit(model, inputs, json.loads(given.params), seed=1, executor=given.executor, budget=given.budget)
    verdict = run.diagnosis().verdict
    return {
        "example": name,
        "seed": data,
        "settled": verdict.settled,
        "verdict": verdict.title,
        "seconds": time.perf_counter() - began,
        "cpu": processor_seconds() - cpu,
        "draws": run.n_draws,
        "objective": objective(run),
        "matters": matters(run),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--data", type=seeds, default="1")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--executor", default="auto")
    parser.add_argument("--params", default="{}")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = json.loads(given.json.read_text()) if given.json and given.json.exists() else []
    done = {(row["example"], row["seed"]) for row in rows}
    for name in given.only.split(","):
        for data in given.data:
            if (name, data) in done:
                continue
            rows.append(one(name, data, given))
            print(line(rows[-1]), flush=True)
            if given.json:
                given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
