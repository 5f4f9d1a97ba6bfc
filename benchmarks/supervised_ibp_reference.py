"""The supervised Indian buffet process beside the R package texteffect 0.3 on its BioSample data.

Run: python benchmarks/supervised_ibp_reference.py PATH/biosample.csv.gz. With the setting "As the R package texteffect" split and start
are those of R after set.seed(1) (K = 2, alpha = 4, noise 0.8). From the same start, and from the solution of the package, the exact
updates go on.
"""

import csv
import gzip
import sys

import numpy as np

from plaidwork.core.analysing import run_analysis
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.supervised_ibp.like_r import LikeR
from plaidwork.plugins.supervised_ibp.texteffect import drawn_topics

SETTINGS = {
    "n_topics": 2, "alpha": 4.0, "noise": 0.8, "weight_variance": 5.0, "variances": "numbers", "transform": "count",
    "scale": "standardise", "background": False, "show": "exclusivity",
}  # fmt: skip
K = SETTINGS["n_topics"]


def main():
    with gzip.open(sys.argv[1], "rt", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    table = np.array(rows, float)
    names = tuple(f"row {i + 1}." for i in range(len(table)))
    data = {
        "X": Dataset("X", table[:, 1:], names, tuple(head[1:]), kind="count"),
        "y": Dataset("y", table[:, 0], names),
    }
    like_r = fit("supervised_ibp", data, {**SETTINGS, "texteffect": True}, chains=1)
    theirs = like_r.results["assignments"].values
    tell("as the package", like_r, theirs, "R: 3.286722")
    for method, note in (("texteffect", "R: 63.6815, printed as 1.2855"), ("exact", "all states")):
        tell_effects(like_r, data, method, note)
    train = LikeR(1).sample(len(table), len(table) // 2)
    order = np.sort(train)
    for title, start in (
        (
            "exact, from R's start",
            drawn_topics(LikeR(1), len(train), K, SETTINGS["alpha"])[np.argsort(train)],
        ),
        ("exact, from the package's solution", theirs),
    ):
        split, given = np.ones(len(table)), np.full((len(table), K), 0.5)
        split[order], given[order] = 0.0, start
        more = {
            "split": Dataset("split", split, names, kind="binary"),
            "start": Dataset("start", given, names, tuple(f"t{k}" for k in range(K))),
        }
        run = fit("supervised_ibp", data | more, {**SETTINGS, "start": "given", "together": False}, chains=1)
        tell(title, run, theirs)


def tell(title, run, theirs, note=""):
    own = run.results["assignments"].values
    print(
        f"{title}: {run.chains[0].sweep} sweeps, bound {run.chains[0].trace.rows()[-1, 0]:.4f}, exclusivity "
        f"{float(run.results['exclusivity'].values):.6f}{note and f' ({note})'}; against the package the largest difference of a "
        f"probability is {np.abs(own - theirs).max():.2g}, {int(((own > 0.5) != (theirs > 0.5)).sum())} of {own.size} calls differ"
    )


def tell_effects(run, data, method, note):
    """Effects in the test half with the topics of one method, classical errors as the package has them."""
    settings = {"method": method, "errors": "classical"}
    found = run_analysis(run, "supervised_ibp.effects", unlock=True, params=settings, datasets=data).results
    table = found["effect_table"].columns
    print(
        f"  effects, {note}: mean without topics {table['Effect'][0]:.4f} ({table['Note'][0]}), effects "
        f"{table['Effect'][1:].round(4)}, errors {table['Standard error'][1:].round(4)}"
    )


if __name__ == "__main__":
    main()
