"""A finished run with a network between genes, made by numpy: as a matrix, as a list of links, and with its factors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session
from plaidwork.gui.workbench import Workbench
from tests.gui.result_runs import ToyModel

LISTED = View(
    "network",
    "Gene network",
    {
        "values": "link_weight",
        "edges": "links",
        "confidence": "link_share",
        "names": "gene",
        "strength": "gene_strength",
        "group": "gene_factor",
    },
)
MATRIX = View("network", "Similarity", {"values": "similarity", "names": "gene"})
TWO_KINDS = View("network", "Loadings", {"values": "loadings", "names": "gene"})


class NetworkModel(ToyModel):
    """Samples by genes; never fits."""

    spec = replace(
        ToyModel.spec,
        id="toy.network",
        inputs=(Input("X", dims=("sample", "all_genes"), missing=True),),
        dims={"factor": "factors"},
        views=(LISTED, MATRIX, TWO_KINDS),
    )


def gene_dataset(n: int = 40, groups: int = 4, each: int = 8) -> Dataset:
    """Genes in groups that follow a factor each, every second with the other sign; the last gene follows none."""
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(n, groups))
    sign = np.where(np.arange(groups * each) % 2, -1.0, 1.0)
    values = np.repeat(factors, each, axis=1) * sign + rng.normal(0, 0.5, (n, groups * each))
    values = np.column_stack([values, rng.normal(size=n)])
    names = tuple(f"gene {j + 1}" for j in range(values.shape[1]))
    return Dataset("genes", values, tuple(f"s{i}" for i in range(n)), names, column_label="genes")


def network_run(
    dataset: Dataset | None = None, least: float = 0.5, factors: int = 4
) -> tuple[Workbench, Run]:
    """Correlations between the genes of a data set as network."""
    dataset = gene_dataset() if dataset is None else dataset
    session = Session(name="Genes")
    run: Run = session.add_run(make_plan(NetworkModel(), {"X": dataset}))
    values = np.asarray(dataset.values)
    together = np.corrcoef(values.T)
    centred = values - values.mean(axis=0)
    _, size, v = np.linalg.svd(centred / centred.std(axis=0), full_matrices=False)
    loadings = v[:factors] * size[:factors, None] / np.sqrt(len(values))
    a, b = np.nonzero(np.triu(np.abs(together) >= least, 1))
    rng = np.random.default_rng(1)
    run.results = {
        "similarity": Result(
            np.where(np.eye(len(together)) > 0, 0.0, together), ("gene", "gene"), label="Correlation"
        ),
        "links": Result(np.column_stack([a, b]), ("link", "side")),
        "link_weight": Result(together[a, b], ("link",), label="Correlation"),
        "link_share": Result(rng.uniform(0.2, 1.0, len(a)), ("link",), label="Share of draws"),
        "gene": Result(np.array(dataset.column_names), ("gene",), label="Gene"),
        "gene_strength": Result(np.abs(loadings).max(axis=0), ("gene",), label="Loading"),
        "gene_factor": Result(
            np.array([f"factor {k + 1}" for k in np.abs(loadings).argmax(axis=0)]), ("gene",), label="Factor"
        ),
        "loadings": Result(loadings, ("factor", "gene"), label="Loading"),
        "factor": Result(np.array([f"Factor {k + 1}" for k in range(factors)]), ("factor",)),
    }
    run.results_draws, run.status = 300, "done"
    workbench = Workbench()
    workbench.set_session(session)
    return workbench, run
