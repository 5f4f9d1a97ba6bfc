"""What Start gives: every bundled example, or sets in a folder, at plain defaults, from several seeds.

Run: python benchmarks/defaults.py [--seeds 8 | 3-8] [--only ID,ID] [--json FILE] [--executor threads] [--budget S] [--data FOLDER]

The schedule is always that of the model, the settings those of the example. Printed for each fit: settled by its own verdict
or not, wall and processor seconds, what its objective reached (mean over the kept draws of the best chain; the bound of the best
restart) beside the best of all seeds, and the number that matters for the example. A first fit of a few
sweeps warms the kernels up and is not counted.

With ``--json`` each fit is written when it ends, and those that the file has are not made again. The budget of a sampler is
in seconds by the clock: on a machine with other work ``--budget`` makes it longer, and what counts is the processor's time.
``--data`` fits the sets of ``defaults_sets.json``, whose files lie in that folder, in place of the bundled examples.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core import fit
from plaidwork.core.contract.model import Table
from plaidwork.core.data.samples import Sample, bundled_samples
from plaidwork.core.inference.run import Run

SHORT = {"chains": 1, "warmup": 2, "draws": 4, "thin": 1, "max_sweeps": 4}
WITHIN = 120.0
"""Processor seconds of a minute on two cores."""
REACHED = 8.0
"""Nats below the best of all seeds within which a fit counts as having reached it."""


# -- the number that matters --------------------------------------------------------------------
def blocks(run: Run) -> str:
    """Mean number of blocks, and agreement with the planted ones where they are known."""
    found = [f"K {kept(run, 'n_blocks'):.2f}"]
    nmi = kept(run, "nmi")
    if np.isfinite(nmi):
        found.append(f"NMI {nmi:.3f}")
    return ", ".join(found)


def kept(run: Run, trace: str) -> float:
    """Mean of a trace over the kept draws of all chains."""
    return float(np.mean(np.concatenate([chain.kept_trace(trace) for chain in run.kept().chains])))


def scores(run: Run) -> str:
    """The rows of the table of scores: what was wrong of classes, the distance of numbers."""
    table = run.results.get("measures") or run.results.get("metrics")
    if not isinstance(table, Table):
        return "no table of scores"
    rows = zip(*(table.columns[name] for name in table.columns), strict=True)
    names = list(table.columns)
    said = []
    for row in rows:
        cells = dict(zip(names, row, strict=True))
        if "Wrong" in cells:
            told = f"{cells['Wrong']} of {cells['Number']} wrong, log loss {float(cells['Log loss']):.3f}"
        else:
            told = f"RMSE {float(cells['RMSE']):.3g}, NLPD {float(cells['NLPD']):.3f}"
        parts = [str(cells[name]) for name in ("Output", "Samples") if name in cells] or [str(row[0])]
        said.append(f"{', '.join(parts)}: {told}")
    return "; ".join(said)


def leukaemia(run: Run) -> str:
    """Area under the curve of the best factor for trisomy 12 and IGHV."""
    values = run.results["scores"].values
    annotations = next(iter(run.session.datasets.values())).row_table
    said = []
    for title, column in annotations.items():
        if not any(word in title.lower() for word in ("trisomy", "ighv")):
            continue
        labels = np.array([str(value).strip().lower() for value in column])
        known = ~np.isin(labels, ("", "nan", "none", "na"))
        kinds = sorted(set(labels[known]))
        if len(kinds) == 2:
            positive = labels[known] == kinds[1]
            best = max(_auc(values[known, k], positive) for k in range(values.shape[1]))
            said.append(f"{title} AUC {best:.3f}")
    return ", ".join(said) or "no annotation"


def _auc(score: np.ndarray, positive: np.ndarray) -> float:
    from scipy.stats import rankdata

    n1 = int(positive.sum())
    value = (rankdata(score)[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * (len(positive) - n1))
    return float(max(value, 1 - value))


def topics(run: Run) -> str:
    """Topics that enough of the test documents are expected to have, and to lack, for an effect."""
    told = [text for text in run.results["topics"].columns["For an effect"] if text]
    return f"{told.count('enough')} of {len(told)} topics in enough test documents, as expected before they are opened"


def raters(run: Run) -> str:
    """Median scatter of the raters."""
    return "scatter " + " ".join(f"{value:.2f}" for value in run.results["scatter"].values)


WHAT_MATTERS: dict[str, Callable[[Run], str]] = {
    "bayesian_plaid": blocks,
    "infinite_plaid": blocks,
    "plaid_counts": blocks,
    "group_factor": leukaemia,
    "supervised_ibp": topics,
    "gp_raters": raters,
}


# -- one fit -------------------------------------------------------------------------------------
def objective(run: Run) -> float:
    """The primary trace: mean over the kept draws of the best chain, or the end of the best restart."""
    name = next((trace.name for trace in run.spec.traces if trace.primary), run.spec.traces[0].name)
    if run.spec.algorithm == "mcmc":
        return float(max(chain.kept_trace(name).mean() for chain in run.kept().chains))
    return float(max(chain.trace(name)[-1] for chain in run.kept().chains))


def processor_seconds() -> float:
    """Of this process and of those it started that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def one(
    sample: Sample, data: dict[str, Any], seed: int, executor: str, budget: float | None
) -> dict[str, Any]:
    """A fit at plain defaults, and what is printed of it."""
    began, cpu = time.perf_counter(), processor_seconds()
    run = fit(sample.model, data, dict(sample.params), seed=seed, executor=executor, budget=budget)
    seconds, used = time.perf_counter() - began, processor_seconds() - cpu
    verdict = run.diagnosis().verdict
    matters = WHAT_MATTERS.get(sample.model, scores)
    return {
        "example": sample.id,
        "seed": seed,
        "settled": verdict.settled,
        "verdict": verdict.title,
        "seconds": seconds,
        "cpu": used,
        "draws": run.n_draws,
        "objective": objective(run),
        "matters": matters(run),
    }


def all_fits(
    samples: list[Sample], given: argparse.Namespace, done: set[tuple[str, int]]
) -> Iterator[dict[str, Any]]:
    """Fits one after the other but those done, each example warmed up before its first."""
    for sample in samples:
        seeds = [seed for seed in given.seeds if (sample.id, seed) not in done]
        if not seeds:
            continue
        data = sample.load()
        fit(sample.model, data, dict(sample.params), seed=1, executor="inline", **SHORT)
        for seed in seeds:
            yield one(sample, data, seed, given.executor, given.budget)


def sets(folder: Path) -> list[Sample]:
    """The sets that are not bundled, as examples at plain defaults; their files lie in the folder."""
    records = json.loads(Path(__file__).with_name("defaults_sets.json").read_text(encoding="utf-8"))
    return [Sample(folder=folder, title=record["id"], line="", size="", **record) for record in records]


# -- the table -----------------------------------------------------------------------------------
def line(row: dict[str, Any]) -> str:
    """One fit, on one line."""
    return (
        f"{row['example']:16} {row['seed']:3}  {'settled' if row['settled'] else 'NOT    '} {row['seconds']:6.1f} s"
        f" {row['cpu']:6.1f} CPU s {row['draws']:6} draws  {row['objective']:12.1f}  {row['matters']}"
        f"{'' if row['settled'] else '  | ' + row['verdict']}"
    )


def summary(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Per example and in all: how many settled, how many reached the best value, seconds."""
    reached = 0
    for name in dict.fromkeys(row["example"] for row in rows):
        mine = [row for row in rows if row["example"] == name]
        best = max(row["objective"] for row in mine)
        there = sum(best - row["objective"] <= REACHED for row in mine)
        reached += there
        yield (
            f"{name:16} settled {sum(row['settled'] for row in mine)} of {len(mine)}, within {REACHED:g} nats of the best"
            f" {there} of {len(mine)}, most short {best - min(row['objective'] for row in mine):.1f} nats,"
            f" {max(row['cpu'] for row in mine):.0f} CPU s at most"
        )
    settled = [row for row in rows if row["settled"]]
    quick = sum(row["cpu"] <= WITHIN for row in settled)
    yield (
        f"all: settled {len(settled) / len(rows):.0%}, within {WITHIN:g} CPU s {quick / len(rows):.0%},"
        f" best reached {reached / len(rows):.0%} of {len(rows)} fits"
    )


def seeds(text: str) -> range:
    """``8`` is 1 to 8, ``3-5`` is 3 to 5."""
    first, _, last = text.rpartition("-")
    return range(int(first or 1), int(last) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=seeds, default="8")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--executor", default="threads")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    found = sets(given.data) if given.data else bundled_samples()
    samples = [sample for sample in found if not wanted or sample.id in wanted]
    rows = json.loads(given.json.read_text()) if given.json and given.json.exists() else []
    for row in all_fits(samples, given, {(row["example"], row["seed"]) for row in rows}):
        rows.append(row)
        print(line(row), flush=True)
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1))
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
