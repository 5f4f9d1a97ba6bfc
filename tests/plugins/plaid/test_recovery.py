"""Default fits of the synthetic sets: from every start the best chain has the true blocks."""

from pathlib import Path

import numpy as np
import plaid_tools as tools
import pytest
from plaid_tools import chains_of

from plaidwork.core.api import ModelData
from plaidwork.plugins.plaid.models import InfinitePlaid

FOLDER = Path(__file__).parents[3] / "resources" / "examples" / "plaid"
AGREEMENT = {1: 0.99, 2: 0.99, 3: 0.95, 4: 0.95}


def load(number):
    with np.load(FOLDER / f"synth{number}.npz") as file:
        arrays = {"X": file["X"], "true_rows": file["Z1"], "true_columns": file["Z2"]}
    return ModelData({name: tools.block(array, name=name) for name, array in arrays.items()})


@pytest.mark.slow
@pytest.mark.parametrize("start", ["empty", "true", 5, 10])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_blocks_are_found(number, start):
    model, data = InfinitePlaid(), load(number)
    n_blocks = data["true_rows"].shape[1]
    settings = {"start": "empty"} if start == "empty" else {
        "start": "prior", "start_blocks": n_blocks if start == "true" else start
    }  # fmt: skip
    schedule = model.spec.schedule
    chains = schedule.chains if start in ("empty", 10) else 2  # the easier starts, to save time
    kept, params = chains_of(model, data, settings, chains, schedule.warmup, schedule.draws)
    results = model.summarise(kept, data, params)
    chains = results["chains"].columns
    best = int(np.argmax(chains["Log joint best"]))
    assert chains["Blocks mode"][best] == n_blocks
    assert chains["NMI"][best] >= AGREEMENT[number]
    used = chains["Used"] == "yes"
    assert chains["Blocks mean"][used].mean() == pytest.approx(n_blocks, abs=0.5)
    assert results["headline"].startswith(f"{n_blocks} blocks cover")
